// options: -cl-std=CL1.2
// options: -cl-std=CL2.0
// options: -cl-std=CL3.0
__constant int powers[8] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
__constant float2 corners[2][2] = {{(float2)(0, 0), (float2)(0, 1)}, {(float2)(1, 0), (float2)(1, 1)}};
__constant char text[] = "constant text";
constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;

int sum_of_local(__local const int* values, int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += values[i];
  return sum;
}

int constant_at(__constant const int* values, int index) { return values[index]; }

__kernel void spaces(__global int* x, __constant int* table, __local int* scratch) {
  __local int own[64];
  __private int mine[16];
  const int lane = get_local_id(0);
  for (int i = 0; i < 16; ++i) mine[i] = x[i + lane];
  own[lane & 63] = mine[lane & 15];
  scratch[lane] = text[lane & 7];
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  x[lane] = sum_of_local(own, 64) + sum_of_local(scratch, lane) + constant_at(table, lane) +
            constant_at(powers, lane & 7) + (int)corners[lane & 1][1].x;
}

// The address of the table leaves the function, so that the table must be in ordinary memory.
__constant const int* choose(int which, __constant int* other) { return which ? powers : other; }

__kernel void chosen(__global int* x, __constant int* table, int which) {
  x[get_global_id(0)] = choose(which, table)[get_global_id(0) & 7];
}

#if __OPENCL_C_VERSION__ >= 200
global int counter = 5;
global float4 weights[4] = {(float4)(1), (float4)(2), (float4)(3), (float4)(4)};
global int* global pointer = &counter;

float total(const float* values, int count) {
  float sum = 0;
  for (int i = 0; i < count; ++i) sum += values[i];
  return sum;
}

kernel void generic_pointers(global float* x, local float* y, int which) {
  static global int calls = 0;
  float mine[4] = {1, 2, 3, x[0]};
  y[get_local_id(0)] = x[get_global_id(0)];
  work_group_barrier(CLK_LOCAL_MEM_FENCE);
  float* any = which == 0 ? (float*)x : which == 1 ? (float*)y : mine;
  x[0] = total(any, 4) + total(x, 4) + total(y, 4) + total(mine, 4) + weights[which].x + *pointer;
  if (to_local(any)) atomic_fetch_add((volatile global atomic_int*)&calls, 1);
  counter = calls;
}
#endif
