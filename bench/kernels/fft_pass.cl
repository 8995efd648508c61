// One pass of Stockham's algorithm with radix 2 over transforms of `count` complex numbers, which lie one after the
// other: transforms of `length` become half as many of twice the length. A work-item computes one pair of numbers.
kernel void fft_pass(global const float2* restrict in, global float2* restrict out, int count, int length) {
  const int half_count = count / 2;
  const size_t begin = get_global_id(0) / half_count * count;
  const int j = get_global_id(0) % half_count, k = j % length;
  float cosine;
  const float sine = sincos(-M_PI_F * k / length, &cosine);
  const float2 even = in[begin + j], odd = in[begin + j + half_count];
  const float2 turned = (float2)(odd.x * cosine - odd.y * sine, odd.x * sine + odd.y * cosine);
  out[begin + 2 * (j - k) + k] = even + turned;
  out[begin + 2 * (j - k) + k + length] = even - turned;
}
