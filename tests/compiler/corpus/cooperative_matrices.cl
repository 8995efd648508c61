// since: sm_80
// options: -cl-std=CL1.2
// options: -cl-std=CL3.0 -cl-opt-disable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

// Every type of cl_clique_cooperative_matrix, in both kinds of memory and in both orders.
#define MOVE(matrix, T)                                                                                        \
  __kernel void move_##matrix(__global T* data, __local T* tile, uint stride) {                                \
    clique_##matrix m = clique_load_##matrix(data, stride, CLIQUE_ROW_MAJOR);                                  \
    clique_matrix_store(m, tile, stride, CLIQUE_COLUMN_MAJOR);                                                 \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                              \
    m = clique_load_##matrix(tile, stride, CLIQUE_ROW_MAJOR);                                                  \
    clique_matrix_store(m, data, stride, CLIQUE_ROW_MAJOR);                                                    \
    m = clique_load_##matrix(tile, stride, CLIQUE_COLUMN_MAJOR);                                               \
    for (int i = 0; i < CLIQUE_MATRIX_LENGTH(m); ++i) m.element[i] += clique_fill_##matrix(3).element[i];      \
    clique_matrix_store(m, data, stride, CLIQUE_COLUMN_MAJOR);                                                 \
    clique_matrix_store(clique_load_##matrix(data, 0, CLIQUE_COLUMN_MAJOR), tile, stride, CLIQUE_ROW_MAJOR);   \
  }
MOVE(half16x16_a, half)
MOVE(half16x16_b, half)
MOVE(bfloat16x16_a, ushort)
MOVE(bfloat16x16_b, ushort)
MOVE(char16x32_a, char)
MOVE(char32x16_b, char)
MOVE(uchar16x32_a, uchar)
MOVE(uchar32x16_b, uchar)
MOVE(half16x16, half)
MOVE(float16x16, float)
MOVE(int16x16, int)

// Every product.
#define MULTIPLY(A, T, B, U, C, V)                                                                             \
  __kernel void multiply_##A##_##B##_##C(__global const T* a, __global const U* b, __global V* c) {            \
    const clique_##A left = clique_load_##A(a, 32, CLIQUE_ROW_MAJOR);                                          \
    const clique_##B right = clique_load_##B(b, 32, CLIQUE_COLUMN_MAJOR);                                      \
    clique_##C sum = clique_load_##C(c, 16, CLIQUE_ROW_MAJOR);                                                 \
    for (int i = 0; i < 100; ++i) sum = clique_matrix_multiply_add(left, right, sum);                          \
    clique_matrix_store(sum, c, 16, CLIQUE_ROW_MAJOR);                                                         \
  }
MULTIPLY(half16x16_a, half, half16x16_b, half, float16x16, float)
MULTIPLY(half16x16_a, half, half16x16_b, half, half16x16, half)
MULTIPLY(bfloat16x16_a, ushort, bfloat16x16_b, ushort, float16x16, float)
MULTIPLY(char16x32_a, char, char32x16_b, char, int16x16, int)
MULTIPLY(char16x32_a, char, uchar32x16_b, uchar, int16x16, int)
MULTIPLY(uchar16x32_a, uchar, char32x16_b, char, int16x16, int)
MULTIPLY(uchar16x32_a, uchar, uchar32x16_b, uchar, int16x16, int)
