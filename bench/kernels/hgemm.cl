// C = A B for square row-major matrices of half whose size is a multiple of 128, with sums and a C of float. A
// work-group of 16 by 16 computes 128 by 128 elements, each work-item 8 by 8 of them, in quarters that are 64 rows and
// columns apart. 16 columns of A and rows of B are in local memory at a time, as float; the next ones are loaded
// meanwhile.
#define EDGE 128
#define DEPTH 16
#define A_STRIDE (EDGE + 4)

// Without cl_khr_fp16, which not every driver has.
float8 widened(uint4 halves) { return vload_half8(0, (const half*)&halves); }

#define MULTIPLY(row, of_a)            \
  sum[row][0] += (of_a) * of_b0;       \
  sum[row][1] += (of_a) * of_b1

kernel __attribute__((reqd_work_group_size(16, 16, 1))) void hgemm(global const uint4* restrict a,
                                                                    global const uint4* restrict b,
                                                                    global float4* restrict c, int size) {
  local float a_tiles[2][DEPTH * A_STRIDE] __attribute__((aligned(16)));  // transposed
  local float b_tiles[2][DEPTH * EDGE] __attribute__((aligned(16)));
  const int x = get_local_id(0), y = get_local_id(1), item = y * 16 + x;
  const int row = get_group_id(1) * EDGE, column = get_group_id(0) * EDGE, chunks = size / 8;
  a += (row + item / 2) * chunks + item % 2;
  b += y * chunks + column / 8 + x;
  const int a_place = item % 2 * 8 * A_STRIDE + item / 2, b_place = y * EDGE + x * 8;
  float4 sum[8][2];
  for (int i = 0; i < 8; ++i) sum[i][0] = sum[i][1] = (float4)(0.0f);
  uint4 next_a = *a, next_b = *b;
  for (int begin = 0; begin < size; begin += DEPTH) {
    local float* const a_tile = a_tiles[begin / DEPTH % 2];
    local float* const b_tile = b_tiles[begin / DEPTH % 2];
    const float8 of_a = widened(next_a), of_b = widened(next_b);
    a_tile[a_place + 0 * A_STRIDE] = of_a.s0;
    a_tile[a_place + 1 * A_STRIDE] = of_a.s1;
    a_tile[a_place + 2 * A_STRIDE] = of_a.s2;
    a_tile[a_place + 3 * A_STRIDE] = of_a.s3;
    a_tile[a_place + 4 * A_STRIDE] = of_a.s4;
    a_tile[a_place + 5 * A_STRIDE] = of_a.s5;
    a_tile[a_place + 6 * A_STRIDE] = of_a.s6;
    a_tile[a_place + 7 * A_STRIDE] = of_a.s7;
    *(local float4*)(b_tile + b_place) = of_b.lo;
    *(local float4*)(b_tile + b_place + 4) = of_b.hi;
    if (begin + DEPTH < size) {
      a += DEPTH / 8;
      b += DEPTH * chunks;
      next_a = *a;
      next_b = *b;
    }
    // One barrier is enough: the tiles of the last step but one are written to next.
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int k = 0; k < DEPTH; ++k) {
      const float4 of_a0 = *(const local float4*)(a_tile + k * A_STRIDE + y * 4);
      const float4 of_a1 = *(const local float4*)(a_tile + k * A_STRIDE + EDGE / 2 + y * 4);
      const float4 of_b0 = *(const local float4*)(b_tile + k * EDGE + x * 4);
      const float4 of_b1 = *(const local float4*)(b_tile + k * EDGE + EDGE / 2 + x * 4);
      MULTIPLY(0, of_a0.x);
      MULTIPLY(1, of_a0.y);
      MULTIPLY(2, of_a0.z);
      MULTIPLY(3, of_a0.w);
      MULTIPLY(4, of_a1.x);
      MULTIPLY(5, of_a1.y);
      MULTIPLY(6, of_a1.z);
      MULTIPLY(7, of_a1.w);
    }
  }
  for (int i = 0; i < 8; ++i) {
    global float4* const line = c + (row + i / 4 * (EDGE / 2) + y * 4 + i % 4) * (size / 4) + column / 4 + x;
    line[0] = sum[i][0];
    line[EDGE / 8] = sum[i][1];
  }
}
