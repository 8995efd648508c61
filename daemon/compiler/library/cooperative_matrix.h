// cl_clique_cooperative_matrix: what programs see of it (docs/extensions/cl_clique_cooperative_matrix.md).
// Every program for a device with the extension includes this file, and the device library defines its
// functions.
#ifndef CLIQUE_DAEMON_COMPILER_LIBRARY_COOPERATIVE_MATRIX_H
#define CLIQUE_DAEMON_COMPILER_LIBRARY_COOPERATIVE_MATRIX_H

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define CLIQUE_ROW_MAJOR 0
#define CLIQUE_COLUMN_MAJOR 1

#define CLIQUE_MATRIX_LENGTH(matrix) ((int)(sizeof((matrix).element) / sizeof((matrix).element[0])))

// Expands `M` for each type of matrix: its name after `clique_`; the type of its elements; units, which are
// what a work-item holds of consecutive elements; how many elements a unit has; and the order in memory in
// which they are consecutive.
#define CLIQUE_FOR_16_BIT_FACTORS(M)                  \
  M(half16x16_a, half, uint, 2, CLIQUE_ROW_MAJOR)     \
  M(half16x16_b, half, uint, 2, CLIQUE_COLUMN_MAJOR)  \
  M(bfloat16x16_a, ushort, uint, 2, CLIQUE_ROW_MAJOR) \
  M(bfloat16x16_b, ushort, uint, 2, CLIQUE_COLUMN_MAJOR)
#define CLIQUE_FOR_8_BIT_FACTORS(M)                  \
  M(char16x32_a, char, uint, 4, CLIQUE_ROW_MAJOR)    \
  M(char32x16_b, char, uint, 4, CLIQUE_COLUMN_MAJOR) \
  M(uchar16x32_a, uchar, uint, 4, CLIQUE_ROW_MAJOR)  \
  M(uchar32x16_b, uchar, uint, 4, CLIQUE_COLUMN_MAJOR)
#define CLIQUE_FOR_ACCUMULATORS(M)                  \
  M(half16x16, half, uint, 2, CLIQUE_ROW_MAJOR)     \
  M(float16x16, float, float2, 2, CLIQUE_ROW_MAJOR) \
  M(int16x16, int, int2, 2, CLIQUE_ROW_MAJOR)
#define CLIQUE_FOR_MATRICES(M) \
  CLIQUE_FOR_16_BIT_FACTORS(M) CLIQUE_FOR_8_BIT_FACTORS(M) CLIQUE_FOR_ACCUMULATORS(M)

// Expands `M` for each product: the types of its factors, and of what it is added to.
#define CLIQUE_FOR_PRODUCTS(M)                \
  M(half16x16_a, half16x16_b, float16x16)     \
  M(half16x16_a, half16x16_b, half16x16)      \
  M(bfloat16x16_a, bfloat16x16_b, float16x16) \
  M(char16x32_a, char32x16_b, int16x16)       \
  M(char16x32_a, uchar32x16_b, int16x16)      \
  M(uchar16x32_a, char32x16_b, int16x16)      \
  M(uchar16x32_a, uchar32x16_b, int16x16)

#define CLIQUE_OVERLOADABLE __attribute__((overloadable))
#define CLIQUE_MATRIX(name, T, Unit, width, lines)                                                           \
  typedef struct clique_##name {                                                                             \
    union {                                                                                                  \
      T element[4 * (width)];                                                                                \
      Unit unit[4];                                                                                          \
    };                                                                                                       \
  } clique_##name;                                                                                           \
  clique_##name CLIQUE_OVERLOADABLE clique_load_##name(const __global T* from, uint stride, int order);      \
  clique_##name CLIQUE_OVERLOADABLE clique_load_##name(const __local T* from, uint stride, int order);       \
  void CLIQUE_OVERLOADABLE clique_matrix_store(clique_##name matrix, __global T* to, uint stride,            \
                                               int order);                                                   \
  void CLIQUE_OVERLOADABLE clique_matrix_store(clique_##name matrix, __local T* to, uint stride, int order); \
  clique_##name CLIQUE_OVERLOADABLE clique_fill_##name(T value);
#define CLIQUE_PRODUCT(A, B, C) \
  clique_##C CLIQUE_OVERLOADABLE clique_matrix_multiply_add(clique_##A a, clique_##B b, clique_##C c);

CLIQUE_FOR_MATRICES(CLIQUE_MATRIX)
CLIQUE_FOR_PRODUCTS(CLIQUE_PRODUCT)

#pragma OPENCL EXTENSION cl_khr_fp16 : disable

#endif
