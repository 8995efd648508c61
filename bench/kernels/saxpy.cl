// y = a x + y, which is limited by memory bandwidth.
kernel void saxpy(global const float* restrict x, global float* restrict y, float a, uint count) {
  const size_t i = get_global_id(0);
  if (i < count) y[i] = a * x[i] + y[i];
}
