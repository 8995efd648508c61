// options: -cl-std=CL1.2
// options: -cl-std=CL3.0 -cl-mad-enable
#define TILE 16

// c = a * b for square matrices of n rows, n a multiple of TILE.
__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void product(__global const float* restrict a,
                                                                           __global const float* restrict b,
                                                                           __global float* restrict c, int n) {
  __local float tile_a[TILE][TILE], tile_b[TILE][TILE + 1];
  const int column = get_global_id(0), row = get_global_id(1);
  const int x = get_local_id(0), y = get_local_id(1);
  float sum = 0;
  for (int begin = 0; begin < n; begin += TILE) {
    tile_a[y][x] = a[row * n + begin + x];
    tile_b[y][x] = b[(begin + y) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE; ++k) sum += tile_a[y][k] * tile_b[k][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}
