// Forward transforms of 4096 complex numbers, one per work-group of 256: Stockham's algorithm with radix 4, six passes
// through local memory.
#define COUNT 4096
#define QUARTER (COUNT / 4)
#define ITEMS 256

float2 product(float2 a, float2 b) { return (float2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

/// a transform of four, in place
void butterfly(float2* v) {
  const float2 even_sum = v[0] + v[2], even_difference = v[0] - v[2];
  const float2 odd_sum = v[1] + v[3], odd_difference = v[1] - v[3];
  const float2 turned = (float2)(odd_difference.y, -odd_difference.x);
  v[0] = even_sum + odd_sum;
  v[1] = even_difference + turned;
  v[2] = even_sum - odd_sum;
  v[3] = even_difference - turned;
}

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void fft(global const float2* restrict in,
                                                                     global float2* restrict out) {
  local float2 data[COUNT];
  const int me = get_local_id(0);
  in += get_group_id(0) * COUNT;
  out += get_group_id(0) * COUNT;
  for (int i = me; i < COUNT; i += ITEMS) data[i] = in[i];
  for (int length = 1; length < COUNT; length *= 4) {
    float2 v[QUARTER / ITEMS][4];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int n = 0; n < QUARTER / ITEMS; ++n) {
      const int j = n * ITEMS + me;
      const float angle = -6.283185307179586f * (j % length) / (length * 4);
      for (int r = 0; r < 4; ++r) {
        float cosine;
        const float sine = sincos(r * angle, &cosine);
        v[n][r] = product(data[j + r * QUARTER], (float2)(cosine, sine));
      }
      butterfly(v[n]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int n = 0; n < QUARTER / ITEMS; ++n) {
      const int j = n * ITEMS + me;
      const int begin = j / length * length * 4 + j % length;
      for (int r = 0; r < 4; ++r) data[begin + r * length] = v[n][r];
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = me; i < COUNT; i += ITEMS) out[i] = data[i];
}
