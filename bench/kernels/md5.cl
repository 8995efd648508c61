// Search for the message of one block of which the MD5 digest (RFC 1321) of the MD5 digest is given. Like those of
// password crackers, the kernels share one large function that gets the message in a private array.
#define ROUND_1(x, y, z) (z ^ (x & (y ^ z)))
#define ROUND_2(x, y, z) (y ^ (z & (x ^ y)))
#define ROUND_3(x, y, z) (x ^ y ^ z)
#define ROUND_4(x, y, z) (y ^ (x | ~z))
#define STEP(round, a, b, c, d, index, sine, left) a = b + rotate(a + round(b, c, d) + words[index] + sine, left)

uint4 md5(const uint* words) {
  uint a = 0x67452301, b = 0xefcdab89, c = 0x98badcfe, d = 0x10325476;
  STEP(ROUND_1, a, b, c, d, 0, 0xd76aa478, 7u);
  STEP(ROUND_1, d, a, b, c, 1, 0xe8c7b756, 12u);
  STEP(ROUND_1, c, d, a, b, 2, 0x242070db, 17u);
  STEP(ROUND_1, b, c, d, a, 3, 0xc1bdceee, 22u);
  STEP(ROUND_1, a, b, c, d, 4, 0xf57c0faf, 7u);
  STEP(ROUND_1, d, a, b, c, 5, 0x4787c62a, 12u);
  STEP(ROUND_1, c, d, a, b, 6, 0xa8304613, 17u);
  STEP(ROUND_1, b, c, d, a, 7, 0xfd469501, 22u);
  STEP(ROUND_1, a, b, c, d, 8, 0x698098d8, 7u);
  STEP(ROUND_1, d, a, b, c, 9, 0x8b44f7af, 12u);
  STEP(ROUND_1, c, d, a, b, 10, 0xffff5bb1, 17u);
  STEP(ROUND_1, b, c, d, a, 11, 0x895cd7be, 22u);
  STEP(ROUND_1, a, b, c, d, 12, 0x6b901122, 7u);
  STEP(ROUND_1, d, a, b, c, 13, 0xfd987193, 12u);
  STEP(ROUND_1, c, d, a, b, 14, 0xa679438e, 17u);
  STEP(ROUND_1, b, c, d, a, 15, 0x49b40821, 22u);
  STEP(ROUND_2, a, b, c, d, 1, 0xf61e2562, 5u);
  STEP(ROUND_2, d, a, b, c, 6, 0xc040b340, 9u);
  STEP(ROUND_2, c, d, a, b, 11, 0x265e5a51, 14u);
  STEP(ROUND_2, b, c, d, a, 0, 0xe9b6c7aa, 20u);
  STEP(ROUND_2, a, b, c, d, 5, 0xd62f105d, 5u);
  STEP(ROUND_2, d, a, b, c, 10, 0x02441453, 9u);
  STEP(ROUND_2, c, d, a, b, 15, 0xd8a1e681, 14u);
  STEP(ROUND_2, b, c, d, a, 4, 0xe7d3fbc8, 20u);
  STEP(ROUND_2, a, b, c, d, 9, 0x21e1cde6, 5u);
  STEP(ROUND_2, d, a, b, c, 14, 0xc33707d6, 9u);
  STEP(ROUND_2, c, d, a, b, 3, 0xf4d50d87, 14u);
  STEP(ROUND_2, b, c, d, a, 8, 0x455a14ed, 20u);
  STEP(ROUND_2, a, b, c, d, 13, 0xa9e3e905, 5u);
  STEP(ROUND_2, d, a, b, c, 2, 0xfcefa3f8, 9u);
  STEP(ROUND_2, c, d, a, b, 7, 0x676f02d9, 14u);
  STEP(ROUND_2, b, c, d, a, 12, 0x8d2a4c8a, 20u);
  STEP(ROUND_3, a, b, c, d, 5, 0xfffa3942, 4u);
  STEP(ROUND_3, d, a, b, c, 8, 0x8771f681, 11u);
  STEP(ROUND_3, c, d, a, b, 11, 0x6d9d6122, 16u);
  STEP(ROUND_3, b, c, d, a, 14, 0xfde5380c, 23u);
  STEP(ROUND_3, a, b, c, d, 1, 0xa4beea44, 4u);
  STEP(ROUND_3, d, a, b, c, 4, 0x4bdecfa9, 11u);
  STEP(ROUND_3, c, d, a, b, 7, 0xf6bb4b60, 16u);
  STEP(ROUND_3, b, c, d, a, 10, 0xbebfbc70, 23u);
  STEP(ROUND_3, a, b, c, d, 13, 0x289b7ec6, 4u);
  STEP(ROUND_3, d, a, b, c, 0, 0xeaa127fa, 11u);
  STEP(ROUND_3, c, d, a, b, 3, 0xd4ef3085, 16u);
  STEP(ROUND_3, b, c, d, a, 6, 0x04881d05, 23u);
  STEP(ROUND_3, a, b, c, d, 9, 0xd9d4d039, 4u);
  STEP(ROUND_3, d, a, b, c, 12, 0xe6db99e5, 11u);
  STEP(ROUND_3, c, d, a, b, 15, 0x1fa27cf8, 16u);
  STEP(ROUND_3, b, c, d, a, 2, 0xc4ac5665, 23u);
  STEP(ROUND_4, a, b, c, d, 0, 0xf4292244, 6u);
  STEP(ROUND_4, d, a, b, c, 7, 0x432aff97, 10u);
  STEP(ROUND_4, c, d, a, b, 14, 0xab9423a7, 15u);
  STEP(ROUND_4, b, c, d, a, 5, 0xfc93a039, 21u);
  STEP(ROUND_4, a, b, c, d, 12, 0x655b59c3, 6u);
  STEP(ROUND_4, d, a, b, c, 3, 0x8f0ccc92, 10u);
  STEP(ROUND_4, c, d, a, b, 10, 0xffeff47d, 15u);
  STEP(ROUND_4, b, c, d, a, 1, 0x85845dd1, 21u);
  STEP(ROUND_4, a, b, c, d, 8, 0x6fa87e4f, 6u);
  STEP(ROUND_4, d, a, b, c, 15, 0xfe2ce6e0, 10u);
  STEP(ROUND_4, c, d, a, b, 6, 0xa3014314, 15u);
  STEP(ROUND_4, b, c, d, a, 13, 0x4e0811a1, 21u);
  STEP(ROUND_4, a, b, c, d, 4, 0xf7537e82, 6u);
  STEP(ROUND_4, d, a, b, c, 11, 0xbd3af235, 10u);
  STEP(ROUND_4, c, d, a, b, 2, 0x2ad7d2bb, 15u);
  STEP(ROUND_4, b, c, d, a, 9, 0xeb86d391, 21u);
  return (uint4)(a, b, c, d) + (uint4)(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476);
}

void search(uint* words, uint first, uint count, uint4 wanted, global uint* found) {
  for (uint i = 0; i < count; ++i) {
    words[0] = first + i;
    const uint4 once = md5(words);
    const uint message[16] = {once.x, once.y, once.z, once.w, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 128, 0};
    if (all(md5(message) == wanted)) *found = words[0];
  }
}

// Messages of 4 bytes at most: the end is part of the first word.
kernel void search_short(uint bits, uint first, uint count, uint4 wanted, global uint* found) {
  uint words[16] = {0};
  words[14] = bits;
  search(words, first + count * (uint)get_global_id(0), count, wanted, found);
}

// Messages whose words after the first are given.
kernel void search_long(global const uint* message, uint first, uint count, uint4 wanted, global uint* found) {
  uint words[16];
  for (int i = 1; i < 16; ++i) words[i] = message[i];
  search(words, first + count * (uint)get_global_id(0), count, wanted, found);
}
