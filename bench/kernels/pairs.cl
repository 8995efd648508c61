// A chain of dependent multiplications and additions on vectors of two 16-bit numbers.
#ifdef HALF
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef half Number;
typedef half2 Pair;
#define MULTIPLY_ADD(a, b, c) fma(a, b, c)
#else
typedef short Number;
typedef short2 Pair;
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#endif

kernel void pairs(global const Pair* in, global Pair* out) {
  const size_t i = get_global_id(0);
  Pair x = in[i];
  Pair y = x.yx;
  for (int step = 0; step < 512; ++step) {
    x = MULTIPLY_ADD(y, x, y);
    y = MULTIPLY_ADD(x, y, x);
  }
  out[i] = x + y;
}
