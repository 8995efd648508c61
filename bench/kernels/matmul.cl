// C = A B for square row-major matrices, as a first program computes it: each work-item one element.
kernel void matmul(global const float* restrict a, global const float* restrict b, global float* restrict c, int size) {
  const int column = get_global_id(0), row = get_global_id(1);
  float sum = 0.0f;
  for (int k = 0; k < size; ++k) sum += a[row * size + k] * b[k * size + column];
  c[row * size + column] = sum;
}
