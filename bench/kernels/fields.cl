// One step of electromagnetic fields in two dimensions, on a square grid: the kernels change ey, ex and hz in turn.
kernel void fields_ey(global float* restrict ey, global const float* restrict hz, int size, float source) {
  const int x = get_global_id(0), y = get_global_id(1), i = y * size + x;
  ey[i] = y == 0 ? source : ey[i] - 0.5f * (hz[i] - hz[i - size]);
}

kernel void fields_ex(global float* restrict ex, global const float* restrict hz, int size) {
  const int x = get_global_id(0), y = get_global_id(1), i = y * size + x;
  if (x > 0) ex[i] -= 0.5f * (hz[i] - hz[i - 1]);
}

kernel void fields_hz(global const float* restrict ex, global const float* restrict ey, global float* restrict hz,
                      int size) {
  const int x = get_global_id(0), y = get_global_id(1), i = y * size + x;
  if (x < size - 1 && y < size - 1) hz[i] -= 0.7f * (ex[i + 1] - ex[i] + ey[i + size] - ey[i]);
}
