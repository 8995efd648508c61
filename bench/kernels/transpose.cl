// Transposes a square matrix by tiles of 32 by 32, with work-groups of 32 by 8.
kernel __attribute__((reqd_work_group_size(32, 8, 1))) void transpose(global const float* restrict in,
                                                                        global float* restrict out, int size) {
  local float tile[32][33];  // an extra column, so that neither rows nor columns cause bank conflicts
  const int x = get_local_id(0), y = get_local_id(1);
  const int column = get_group_id(0) * 32, row = get_group_id(1) * 32;
  for (int i = y; i < 32; i += 8) tile[i][x] = in[(row + i) * size + column + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = y; i < 32; i += 8) out[(column + i) * size + row + x] = tile[x][i];
}
