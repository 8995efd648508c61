__kernel void small(__global int* x) {
  __local int a[256], b;
  __local long16 c[2];
  a[get_local_id(0)] = x[get_global_id(0)];
  if (get_local_id(0) == 0) b = 1, c[1] = (long16)(2);
  barrier(CLK_LOCAL_MEM_FENCE);
  x[get_global_id(0)] = a[b] + c[1].sf;
}

// More than PTX allows in .shared variables.
__kernel void large(__global int* x, __local int* y) {
  __local int a[10000], b[8000];
  a[get_local_id(0)] = b[get_local_id(0)] = y[get_local_id(0)] = x[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  x[get_global_id(0)] = a[x[0]] + b[x[1]] + y[x[2]];
}

__kernel void calls_large(__global int* x, __local int* y) { large(x, y); }

__kernel void arguments(__local char* a, __local short* b, __local double4* c, __global int* x) {
  a[get_local_id(0)] = 1;
  b[get_local_id(0)] = 2;
  c[get_local_id(0)] = 3;
  barrier(CLK_LOCAL_MEM_FENCE);
  *x = a[0] + b[1] + (int)c[2].x;
}
