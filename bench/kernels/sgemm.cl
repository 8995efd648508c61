// C = A B for square row-major matrices whose size is a multiple of 64. A work-group of 16 by 16 computes 64 by 64
// elements, each work-item 4 by 4 of them. 16 columns of A and rows of B are in local memory at a time.
kernel __attribute__((reqd_work_group_size(16, 16, 1))) void sgemm(global const float4* restrict a,
                                                                     global const float4* restrict b,
                                                                     global float4* restrict c, int size) {
  local float a_tile[16][64];  // transposed
  local float4 b_tile[16][16];
  const int x = get_local_id(0), y = get_local_id(1), item = y * 16 + x;
  const int row = get_group_id(1) * 64, column = get_group_id(0) * 64, quads = size / 4;
  float4 sum[4];
  for (int i = 0; i < 4; ++i) sum[i] = (float4)(0.0f);
  for (int begin = 0; begin < size; begin += 16) {
    const int tile_row = item / 4, quad = item % 4;
    const float4 values = a[(row + tile_row) * quads + begin / 4 + quad];
    a_tile[quad * 4 + 0][tile_row] = values.x;
    a_tile[quad * 4 + 1][tile_row] = values.y;
    a_tile[quad * 4 + 2][tile_row] = values.z;
    a_tile[quad * 4 + 3][tile_row] = values.w;
    b_tile[y][x] = b[(begin + y) * quads + column / 4 + x];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16; ++k) {
      const float4 of_b = b_tile[k][x];
      const float4 of_a = vload4(y, a_tile[k]);
      sum[0] += of_a.x * of_b;
      sum[1] += of_a.y * of_b;
      sum[2] += of_a.z * of_b;
      sum[3] += of_a.w * of_b;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int i = 0; i < 4; ++i) c[(row + y * 4 + i) * quads + column / 4 + x] = sum[i];
}
