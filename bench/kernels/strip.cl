// Heat conduction on a grid that is divided into strips of rows. The border of the grid does not change. Sums are
// written so that a compiler cannot contract them: every division into strips, and the host, give the same bits.

// The initial value of element `i` of the grid.
float at_first(ulong i) {
  uint bits = (uint)i * 2654435761u;
  bits ^= bits >> 15;
  bits *= 2246822519u;
  return (float)(bits >> 16) * (1.0f / 65536);
}

float conduct(float own, float left, float right, float above, float below, float rate) {
  return fma(rate, fma(-4.0f, own, (left + right) + (above + below)), own);
}

// Fills a strip whose first row is row `first` of the grid.
kernel void strip_fill(global float* out, ulong first) {
  const size_t width = get_global_size(0), i = get_global_id(1) * width + get_global_id(0);
  out[i] = at_first(first * width + i);
}

// One step for all rows of a strip except the first and the last one.
kernel void strip_interior(global const float* restrict in, global float* restrict out, ulong rows, float rate) {
  const size_t width = get_global_size(0), x = get_global_id(0), y = get_global_id(1) + 1, i = y * width + x;
  if (x > 0 && x < width - 1 && y < rows - 1)
    out[i] = conduct(in[i], in[i - 1], in[i + 1], in[i - width], in[i + width], rate);
}

// One step for the row `row`, whose neighbours are the row `inside` of the same strip and `received` of another strip.
// Also writes the row to `sent`.
kernel void strip_edge(global const float* restrict in, global const float* restrict received,
                       global float* restrict out, global float* restrict sent, ulong row, ulong inside, float rate) {
  const size_t width = get_global_size(0), x = get_global_id(0), i = row * width + x;
  float result = in[i];
  if (x > 0 && x < width - 1)
    result = conduct(result, in[i - 1], in[i + 1], in[inside * width + x], received[x], rate);
  out[i] = result;
  sent[x] = result;
}

// Checksums of the columns of a strip of `rows` rows that begins at row `first` of the grid. They depend on all bits
// and positions.
kernel void strip_sum(global const uint* restrict in, ulong first, ulong rows, global ulong* restrict sums) {
  const size_t width = get_global_size(0), x = get_global_id(0);
  ulong sum = 0;
  for (size_t y = 0; y < rows; ++y) sum += in[y * width + x] * (2 * ((first + y) * width + x) + 1);
  sums[x] = sum;
}
