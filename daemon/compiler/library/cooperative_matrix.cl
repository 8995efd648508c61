// Cooperative matrices (cl_clique_cooperative_matrix), on the instruction mma of compute capability 8.0:
// m16n8k16 for elements of 16 bits, and m16n8k32 for those of 8 bits. Two of them yield 16 columns.
//
// The instructions are inline PTX, which is convergent: all work-items of a sub-group execute them together.
// LLVM's intrinsic functions are not, so they could move into a branch.
#include "cooperative_matrix.h"

// After it, because it leaves half precision enabled.
#include "builtins.h"
#include "subgroup.h"

// Each lane holds four units of a matrix. A unit is `width` consecutive elements of a line, which is a row of
// A or of an accumulator, or a column of B. `lines` is the order of memory that has line after line, which
// tells B from the others. A matrix has 16 lines. The instructions want units in this order: those in the
// first and the second half of the lines, and of the places in a line.
#define HALF_OF_LINES(unit, lines) ((lines) == CLIQUE_ROW_MAJOR ? (unit) % 2 : (unit) / 2)
#define HALF_OF_PLACES(unit, lines) ((lines) == CLIQUE_ROW_MAJOR ? (unit) / 2 : (unit) % 2)
#define LINE(unit, lines) (LANE / 4 + 8 * HALF_OF_LINES(unit, lines))
#define PLACE(unit, width, lines) (LANE % 4 * (width) + 4 * (width) * HALF_OF_PLACES(unit, lines))

// The index of an element in memory that has line after line, or that has them side by side.
#define ALONG(line, place, stride) ((size_t)(line) * (stride) + (place))
#define ACROSS(line, place, stride) ((size_t)(place) * (stride) + (line))

// Elements of a unit that are read one by one have a place of their own: if they and whole units were written
// to the same place, LLVM would read all of them one by one.
#define MEMORY(SPACE, name, T, Unit, width, lines)                                                      \
  INLINE OVERLOAD static clique_##name load_##name(const SPACE T* from, uint stride, int order) {       \
    clique_##name matrix;                                                                               \
    for (uint i = 0; i < 4; ++i) {                                                                      \
      const uint line = LINE(i, lines), place = PLACE(i, width, lines);                                 \
      if (order == (lines)) {                                                                           \
        matrix.unit[i] = *(const SPACE Unit*)(from + ALONG(line, place, stride));                       \
      } else {                                                                                          \
        union {                                                                                         \
          T element[width];                                                                             \
          Unit unit;                                                                                    \
        } read;                                                                                         \
        for (uint e = 0; e < (width); ++e) read.element[e] = from[ACROSS(line, place + e, stride)];     \
        matrix.unit[i] = read.unit;                                                                     \
      }                                                                                                 \
    }                                                                                                   \
    return matrix;                                                                                      \
  }                                                                                                     \
  INLINE OVERLOAD void clique_matrix_store(clique_##name matrix, SPACE T* to, uint stride, int order) { \
    for (uint i = 0; i < 4; ++i) {                                                                      \
      const uint line = LINE(i, lines), place = PLACE(i, width, lines);                                 \
      if (order == (lines)) {                                                                           \
        *(SPACE Unit*)(to + ALONG(line, place, stride)) = matrix.unit[i];                               \
      } else {                                                                                          \
        for (uint e = 0; e < (width); ++e)                                                              \
          to[ACROSS(line, place + e, stride)] = matrix.element[i * (width) + e];                        \
      }                                                                                                 \
    }                                                                                                   \
  }
#define OF_ANY_MEMORY(name, T, Unit, width, lines)                                                   \
  MEMORY(__global, name, T, Unit, width, lines)                                                      \
  MEMORY(__local, name, T, Unit, width, lines)                                                       \
  MEMORY(GENERIC, name, T, Unit, width, lines)                                                       \
  INLINE OVERLOAD clique_##name clique_load_##name(const __global T* from, uint stride, int order) { \
    return load_##name(from, stride, order);                                                         \
  }                                                                                                  \
  INLINE OVERLOAD clique_##name clique_fill_##name(T value) {                                        \
    clique_##name matrix;                                                                            \
    for (int e = 0; e < CLIQUE_MATRIX_LENGTH(matrix); ++e) matrix.element[e] = value;                \
    return matrix;                                                                                   \
  }
CLIQUE_FOR_MATRICES(OF_ANY_MEMORY)

// ---- Loads from local memory. ldmatrix reads the four units of all lanes, of which each is a block of 8 by
// 16 bytes. A lane gives the address of 16 bytes: lanes 0 to 7 those of the first units, and so on.
#define LDMATRIX(name, form)                                                                    \
  INLINE static void name(uint* units, const __local void* row) {                               \
    __asm__ volatile("ldmatrix.sync.aligned.m8n8.x4" form ".shared.b16 {%0, %1, %2, %3}, [%4];" \
                     : "=r"(units[0]), "=r"(units[1]), "=r"(units[2]), "=r"(units[3])           \
                     : "r"((uint)(size_t)row)                                                   \
                     : "memory");                                                               \
  }
LDMATRIX(ldmatrix, "")
LDMATRIX(ldmatrix_transposed, ".trans")

// ldmatrix transposes elements of 16 bits only.
#define LOAD_LOCAL(name, T, width, lines, across)                                                   \
  INLINE OVERLOAD clique_##name clique_load_##name(const __local T* from, uint stride, int order) { \
    clique_##name matrix;                                                                           \
    const uint line = 8 * HALF_OF_LINES(LANE / 8, lines);                                           \
    const uint place = 4 * (width) * HALF_OF_PLACES(LANE / 8, lines);                               \
    if (order == (lines))                                                                           \
      ldmatrix(matrix.unit, from + ALONG(line + LANE % 8, place, stride));                          \
    else                                                                                            \
      across;                                                                                       \
    return matrix;                                                                                  \
  }
#define LOAD_LOCAL_16_BIT(name, T, Unit, width, lines) \
  LOAD_LOCAL(name, T, width, lines,                    \
             ldmatrix_transposed(matrix.unit, from + ACROSS(line, place + LANE % 8, stride)))
#define LOAD_LOCAL_8_BIT(name, T, Unit, width, lines) \
  LOAD_LOCAL(name, T, width, lines, matrix = load_##name(from, stride, order))
#define LOAD_LOCAL_ACCUMULATOR(name, T, Unit, width, lines)                                         \
  INLINE OVERLOAD clique_##name clique_load_##name(const __local T* from, uint stride, int order) { \
    return load_##name(from, stride, order);                                                        \
  }
CLIQUE_FOR_16_BIT_FACTORS(LOAD_LOCAL_16_BIT)
CLIQUE_FOR_8_BIT_FACTORS(LOAD_LOCAL_8_BIT)
CLIQUE_FOR_ACCUMULATORS(LOAD_LOCAL_ACCUMULATOR)

// ---- Products. Units 0 and 1 of B and of the accumulator are columns 0 to 7.
#define MMA_FLOAT(instruction, a, b0, b1, c)                                                                 \
  __asm__("mma.sync.aligned." instruction " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
          : "+f"((c)[0]), "+f"((c)[1]), "+f"((c)[2]), "+f"((c)[3])                                           \
          : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"(b0), "r"(b1))
#define MMA_INT(instruction, a, b0, b1, c)                                                                   \
  __asm__("mma.sync.aligned." instruction " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
          : "+r"((c)[0]), "+r"((c)[1]), "+r"((c)[2]), "+r"((c)[3])                                           \
          : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"(b0), "r"(b1))
#define MMA_HALF(instruction, a, b0, b1, c)                                                  \
  __asm__("mma.sync.aligned." instruction " {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};" \
          : "+r"((c)[0]), "+r"((c)[1])                                                       \
          : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"(b0), "r"(b1))

#define PRODUCT(A, B, C, MMA, registers, step, instruction)                                         \
  INLINE OVERLOAD clique_##C clique_matrix_multiply_add(clique_##A a, clique_##B b, clique_##C c) { \
    MMA(instruction, a.unit, b.unit[0], b.unit[1], c.registers);                                    \
    MMA(instruction, a.unit, b.unit[2], b.unit[3], c.registers + (step));                           \
    return c;                                                                                       \
  }
PRODUCT(half16x16_a, half16x16_b, float16x16, MMA_FLOAT, element, 4, "m16n8k16.row.col.f32.f16.f16.f32")
PRODUCT(bfloat16x16_a, bfloat16x16_b, float16x16, MMA_FLOAT, element, 4, "m16n8k16.row.col.f32.bf16.bf16.f32")
PRODUCT(half16x16_a, half16x16_b, half16x16, MMA_HALF, unit, 2, "m16n8k16.row.col.f16.f16.f16.f16")
PRODUCT(char16x32_a, char32x16_b, int16x16, MMA_INT, element, 4, "m16n8k32.row.col.s32.s8.s8.s32")
PRODUCT(char16x32_a, uchar32x16_b, int16x16, MMA_INT, element, 4, "m16n8k32.row.col.s32.s8.u8.s32")
PRODUCT(uchar16x32_a, char32x16_b, int16x16, MMA_INT, element, 4, "m16n8k32.row.col.s32.u8.s8.s32")
PRODUCT(uchar16x32_a, uchar32x16_b, int16x16, MMA_INT, element, 4, "m16n8k32.row.col.s32.u8.u8.s32")

// ---- What SPV_KHR_cooperative_matrix in programs in SPIR-V becomes calls of
// (daemon/compiler/tool/spirv/cooperative_matrices.cpp). Matrices are vectors of the elements that a
// work-item holds. Strides count units of `unit` bytes, since pointers in SPIR-V may point to something else
// than elements.
#define VECTOR_2(T) T##8
#define VECTOR_4(T) T##16
#define VECTOR(T, width) VECTOR_##width(T)

#define SPIRV_MEMORY(SPACE, space, load, name, T)                                                       \
  INLINE vector_##name clique_spirv_load_##space##_##name(const SPACE T* from, ulong stride, uint unit, \
                                                          uint order) {                                 \
    return vector_of_##name(load(from, (uint)(stride * unit / sizeof(T)), (int)order));                 \
  }                                                                                                     \
  INLINE void clique_spirv_store_##space##_##name(vector_##name elements, SPACE T* to, ulong stride,    \
                                                  uint unit, uint order) {                              \
    clique_matrix_store(matrix_of_##name(elements), to, (uint)(stride * unit / sizeof(T)), (int)order); \
  }
#define SPIRV_MATRIX(name, T, Unit, width, lines)                        \
  typedef VECTOR(T, width) vector_##name;                                \
  union both_of_##name {                                                 \
    clique_##name matrix;                                                \
    vector_##name vector;                                                \
  };                                                                     \
  INLINE static clique_##name matrix_of_##name(vector_##name elements) { \
    union both_of_##name both;                                           \
    both.vector = elements;                                              \
    return both.matrix;                                                  \
  }                                                                      \
  INLINE static vector_##name vector_of_##name(clique_##name matrix) {   \
    union both_of_##name both;                                           \
    both.matrix = matrix;                                                \
    return both.vector;                                                  \
  }                                                                      \
  SPIRV_MEMORY(__global, global, clique_load_##name, name, T)            \
  SPIRV_MEMORY(__local, local, clique_load_##name, name, T)              \
  SPIRV_MEMORY(GENERIC, generic, load_##name, name, T)
CLIQUE_FOR_MATRICES(SPIRV_MATRIX)

#define SPIRV_PRODUCT(A, B, C)                                                                              \
  INLINE vector_##C clique_spirv_multiply_add_##A##_##B##_##C(vector_##A a, vector_##B b, vector_##C c) {   \
    return vector_of_##C(clique_matrix_multiply_add(matrix_of_##A(a), matrix_of_##B(b), matrix_of_##C(c))); \
  }
CLIQUE_FOR_PRODUCTS(SPIRV_PRODUCT)
