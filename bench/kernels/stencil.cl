// One step of heat conduction on a square grid. The border does not change.
kernel void stencil(global const float* restrict in, global float* restrict out, int size, float rate) {
  const int x = get_global_id(0), y = get_global_id(1), i = y * size + x;
  const float own = in[i];
  float result = own;
  if (x > 0 && y > 0 && x < size - 1 && y < size - 1)
    result += rate * (in[i - 1] + in[i + 1] + in[i - size] + in[i + size] - 4.0f * own);
  out[i] = result;
}
