// SHA-256 (FIPS 180-4) of one padded block of 16 words per work-item.
constant uint round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint turned(uint x, uint right) { return rotate(x, 32 - right); }

kernel void sha256(global const uint* restrict blocks, global uint* restrict digests) {
  const size_t item = get_global_id(0);
  uint words[16];
  for (int i = 0; i < 16; ++i) words[i] = blocks[item * 16 + i];
  uint a = 0x6a09e667, b = 0xbb67ae85, c = 0x3c6ef372, d = 0xa54ff53a;
  uint e = 0x510e527f, f = 0x9b05688c, g = 0x1f83d9ab, h = 0x5be0cd19;
  __attribute__((opencl_unroll_hint))
  for (int i = 0; i < 64; ++i) {
    if (i >= 16) {
      const uint x = words[(i + 1) & 15], y = words[(i + 14) & 15];
      words[i & 15] += (turned(x, 7) ^ turned(x, 18) ^ (x >> 3)) + words[(i + 9) & 15] +
                       (turned(y, 17) ^ turned(y, 19) ^ (y >> 10));
    }
    const uint first = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + round_constants[i] +
                       words[i & 15];
    const uint second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  global uint* out = digests + item * 8;
  out[0] = a + 0x6a09e667;
  out[1] = b + 0xbb67ae85;
  out[2] = c + 0x3c6ef372;
  out[3] = d + 0xa54ff53a;
  out[4] = e + 0x510e527f;
  out[5] = f + 0x9b05688c;
  out[6] = g + 0x1f83d9ab;
  out[7] = h + 0x5be0cd19;
}
