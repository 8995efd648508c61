#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__kernel void halves(__global half* x, __global half4* y, half a, __global float* f) {
  const int i = get_global_id(0);
  x[i] = a * x[i] + (half)1.5f;
  y[i] = fma(y[i], (half4)(a), y[i + 1]) / y[i + 2];
  f[i] = vload_half(i, x) + convert_float(a);
  vstore_half_rtz(f[i], i, x);
  vstore_half4(vload_half4(i, x), i, x);
  x[i + 1] = sqrt(x[i]) > a ? max(x[i], a) : -fabs(x[i]);
  y[i].xy = convert_half2(convert_int2_rte(y[i].zw));
}
