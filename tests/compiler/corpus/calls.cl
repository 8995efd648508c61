// options: -cl-std=CL1.2
// options: -cl-std=CL3.0 -g
inline float declared_inline(float x) { return x * 2; }
static inline float declared_static(float x) { return x + 1; }
__attribute__((noinline)) float4 apart(float4 x, int n) {
  for (int i = 0; i < n; ++i) x = x * x + 1;
  return x;
}
__attribute__((always_inline)) void through(float* a, __local float* b, __global float* c) {
  *a += *b;
  *c = *a;
}
float __attribute__((overloadable)) twice(float x) { return 2 * x; }
int __attribute__((overloadable)) twice(int x) { return 2 * x; }
__attribute__((noinline)) size_t where(void) { return get_global_id(0) + get_group_id(1) * get_num_groups(0); }

__kernel void inner(__global float* x, __local float* y) {
  __local float shared[32];
  float mine = declared_inline(x[where()]) + declared_static(twice(2.0f)) + twice(3);
  shared[get_local_id(0) & 31] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  through(&mine, y + get_local_id(0), x + where());
  x[where()] += shared[5] + apart((float4)(mine), 3).x;
}

__kernel void outer(__global float* x, __local float* y, int n) {
  for (int i = 0; i < n; ++i) inner(x + i, y);
}

__kernel void outermost(__global float* x, __local float* y) {
  inner(x, y);
  outer(x, y, 2);
}
