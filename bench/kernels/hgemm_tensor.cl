// C = A B for square row-major matrices of half whose size is a multiple of 256, with sums and a C of float, on the
// tensor cores of NVIDIA's GPUs (cl_clique_cooperative_matrix). A work-group computes 128 by 256 elements, each of its
// 8 sub-groups 64 by 64 of them.
//
// 32 columns of A and rows of B are a tile. TILES of them, at least 3, are in local memory: one that is multiplied, and
// those after it, which arrive by NVIDIA's asynchronous copies. Lines of a tile are 16 bytes longer than they need to
// be, so that the parts of eight lines that are loaded together lie in different banks.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define ROWS 128
#define COLUMNS 256
#define DEPTH 32
#define PART 64
#define MATRICES (PART / 16)
#define STEPS (DEPTH / 16)
#define PARTS (ROWS / PART * (COLUMNS / PART))
#define A_STRIDE (DEPTH + 8)
#define B_STRIDE (COLUMNS + 8)

// Copies `rows` rows of `width` elements, or fills them with zeros: `bytes` of each 16 bytes are read.
void start_copy(local half* to, int to_stride, global const half* from, int from_stride, int rows, int width,
                uint bytes) {
  const int chunks = width / 8;
  for (int i = get_local_id(1) * 32 + get_local_id(0); i < rows * chunks; i += 32 * PARTS)
    __asm__ volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                         (uint)(size_t)(to + i / chunks * to_stride + i % chunks * 8)),
                     "l"(from + (size_t)(i / chunks) * from_stride + i % chunks * 8), "r"(bytes)
                     : "memory");
}

// Nothing is read for tiles after the last one. A branch around this would keep its instructions apart from others.
#define START_COPY(tile)                                                                                      \
  start_copy(a_tiles[(tile) % TILES], A_STRIDE, a + (tile) * DEPTH, size, ROWS, DEPTH,                        \
             (tile) < tiles ? 16 : 0);                                                                        \
  start_copy(b_tiles[(tile) % TILES], B_STRIDE, b + (size_t)((tile) * DEPTH) * size, size, DEPTH, COLUMNS,    \
             (tile) < tiles ? 16 : 0);                                                                        \
  __asm__ volatile("cp.async.commit_group;" ::: "memory")
// Waits until all copies but the newest TILES - 2 are complete, and no sub-group reads the tile before any more.
#define AWAIT_COPY()                                                       \
  __asm__ volatile("cp.async.wait_group %0;" ::"n"(TILES - 2) : "memory"); \
  barrier(CLK_LOCAL_MEM_FENCE)
#define LOAD(set, tile, step)                                                                                 \
  for (int i = 0; i < MATRICES; ++i) {                                                                        \
    left[set][i] =                                                                                            \
        clique_load_half16x16_a(a_tiles[(tile) % TILES] + (part_row + i * 16) * A_STRIDE + (step) * 16,       \
                                A_STRIDE, CLIQUE_ROW_MAJOR);                                                  \
    right[set][i] =                                                                                           \
        clique_load_half16x16_b(b_tiles[(tile) % TILES] + (step) * 16 * B_STRIDE + part_column + i * 16,      \
                                B_STRIDE, CLIQUE_ROW_MAJOR);                                                  \
  }

kernel __attribute__((reqd_work_group_size(32, PARTS, 1))) void hgemm(global const half* restrict a,
                                                                      global const half* restrict b,
                                                                      global float* restrict c, int size) {
  local half a_tiles[TILES][ROWS * A_STRIDE] __attribute__((aligned(16)));
  local half b_tiles[TILES][DEPTH * B_STRIDE] __attribute__((aligned(16)));
  const int row = get_group_id(1) * ROWS, column = get_group_id(0) * COLUMNS, tiles = size / DEPTH;
  const int part = get_local_id(1);
  const int part_row = part / (COLUMNS / PART) * PART, part_column = part % (COLUMNS / PART) * PART;
  a += (size_t)row * size;
  b += column;

  clique_half16x16_a left[2][MATRICES];
  clique_half16x16_b right[2][MATRICES];
  clique_float16x16 sum[MATRICES][MATRICES];
  for (int i = 0; i < MATRICES; ++i)
    for (int j = 0; j < MATRICES; ++j) sum[i][j] = clique_fill_float16x16(0.0f);
  for (int tile = 0; tile < TILES - 1; ++tile) { START_COPY(tile); }
  AWAIT_COPY();
  LOAD(0, 0, 0)
  for (int tile = 0; tile < tiles; ++tile) {
    for (int step = 0; step < STEPS; ++step) {
      // The factors of the next step are loaded while these are multiplied. After the last one they are never used.
      if (step + 1 < STEPS) {
        LOAD((step + 1) % 2, tile, step + 1)
      } else {
        AWAIT_COPY();
        LOAD(0, tile + 1, 0)
      }
      if (step == 0) { START_COPY(tile + TILES - 1); }
      for (int i = 0; i < MATRICES; ++i)
        for (int j = 0; j < MATRICES; ++j)
          sum[i][j] = clique_matrix_multiply_add(left[step % 2][i], right[step % 2][j], sum[i][j]);
    }
  }
  c += (size_t)(row + part_row) * size + column + part_column;
  for (int i = 0; i < MATRICES; ++i)
    for (int j = 0; j < MATRICES; ++j)
      clique_matrix_store(sum[i][j], c + (size_t)(i * 16) * size + j * 16, size, CLIQUE_ROW_MAJOR);
}
