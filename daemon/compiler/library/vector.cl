// Vector data load and store functions (§6.15.7) and shuffles (§6.15.13).
#include "builtins.h"

// Vector types with the alignment of their components.
#define UNALIGNED(n, T, bytes) typedef T##n __attribute__((aligned(bytes))) unaligned_##T##n;
#define EACH_UNALIGNED(T, bytes) \
  UNALIGNED(2, T, bytes) UNALIGNED(4, T, bytes) UNALIGNED(8, T, bytes) UNALIGNED(16, T, bytes)
EACH_UNALIGNED(char, 1)
EACH_UNALIGNED(uchar, 1)
EACH_UNALIGNED(short, 2)
EACH_UNALIGNED(ushort, 2)
EACH_UNALIGNED(half, 2)
EACH_UNALIGNED(int, 4)
EACH_UNALIGNED(uint, 4)
EACH_UNALIGNED(float, 4)
EACH_UNALIGNED(long, 8)
EACH_UNALIGNED(ulong, 8)
EACH_UNALIGNED(double, 8)

#define LOAD_STORE_OF(SPACE, T, n)                                       \
  INLINE OVERLOAD T##n vload##n(size_t offset, const SPACE T* p) {       \
    return *(const SPACE unaligned_##T##n*)(p + n * offset);             \
  }                                                                      \
  INLINE OVERLOAD void vstore##n(T##n data, size_t offset, SPACE T* p) { \
    *(SPACE unaligned_##T##n*)(p + n * offset) = data;                   \
  }
// In memory, vload3 and vstore3 use 3 components without padding.
#define LOAD_STORE(SPACE, T)                                           \
  INLINE OVERLOAD T##3 vload3(size_t offset, const SPACE T* p) {       \
    p += 3 * offset;                                                   \
    return (T##3)(p[0], p[1], p[2]);                                   \
  }                                                                    \
  INLINE OVERLOAD void vstore3(T##3 data, size_t offset, SPACE T* p) { \
    p += 3 * offset;                                                   \
    p[0] = data.s0;                                                    \
    p[1] = data.s1;                                                    \
    p[2] = data.s2;                                                    \
  }                                                                    \
  LOAD_STORE_OF(SPACE, T, 2)                                           \
  LOAD_STORE_OF(SPACE, T, 4)                                           \
  LOAD_STORE_OF(SPACE, T, 8)                                           \
  LOAD_STORE_OF(SPACE, T, 16)
#define EACH_LOAD_STORE(T) FOR_SPACES(LOAD_STORE, T)
FOR_TYPES(EACH_LOAD_STORE)

// ---- half in memory

#define VLOAD_HALF_OF(n, SPACE)                                                \
  INLINE OVERLOAD float##n vload_half##n(size_t offset, const SPACE half* p) { \
    return convert_float##n(vload##n(offset, p));                              \
  }
#define VLOADA_HALF_OF(n, SPACE)                                                \
  INLINE OVERLOAD float##n vloada_half##n(size_t offset, const SPACE half* p) { \
    return convert_float##n(((const SPACE half##n*)p)[offset]);                 \
  }
#define VLOAD_HALF(SPACE, unused)                                                                    \
  INLINE OVERLOAD float vload_half(size_t offset, const SPACE half* p) { return (float)p[offset]; }  \
  INLINE OVERLOAD float vloada_half(size_t offset, const SPACE half* p) { return (float)p[offset]; } \
  FOR_VECTORS(VLOAD_HALF_OF, SPACE)                                                                  \
  FOR_VECTORS(VLOADA_HALF_OF, SPACE)
FOR_SPACES(VLOAD_HALF, )

// In aligned memory, a vector of 3 occupies the space of 4 components, but only 3 are written.
#define VSTOREA_OF(n, T, SPACE, mode)                                                   \
  INLINE OVERLOAD void vstorea_half##n##mode(T##n data, size_t offset, SPACE half* p) { \
    ((SPACE half##n*)p)[offset] = convert_half##n##mode(data);                          \
  }
#define VSTORE_HALF_OF(n, T, SPACE, mode)                                              \
  INLINE OVERLOAD void vstore_half##n##mode(T##n data, size_t offset, SPACE half* p) { \
    vstore##n(convert_half##n##mode(data), offset, p);                                 \
  }
#define VSTORE_HALF(T, SPACE, mode)                                                   \
  INLINE OVERLOAD void vstore_half##mode(T data, size_t offset, SPACE half* p) {      \
    p[offset] = convert_half##mode(data);                                             \
  }                                                                                   \
  INLINE OVERLOAD void vstorea_half##mode(T data, size_t offset, SPACE half* p) {     \
    p[offset] = convert_half##mode(data);                                             \
  }                                                                                   \
  FOR_VECTORS(VSTORE_HALF_OF, T, SPACE, mode)                                         \
  VSTOREA_OF(2, T, SPACE, mode)                                                       \
  VSTOREA_OF(4, T, SPACE, mode)                                                       \
  VSTOREA_OF(8, T, SPACE, mode)                                                       \
  VSTOREA_OF(16, T, SPACE, mode)                                                      \
  INLINE OVERLOAD void vstorea_half3##mode(T##3 data, size_t offset, SPACE half* p) { \
    p += 4 * offset;                                                                  \
    half3 halves = convert_half3##mode(data);                                         \
    p[0] = halves.s0;                                                                 \
    p[1] = halves.s1;                                                                 \
    p[2] = halves.s2;                                                                 \
  }
#define EACH_VSTORE_HALF(SPACE, T) \
  VSTORE_HALF(T, SPACE, )          \
  VSTORE_HALF(T, SPACE, _rte)      \
  VSTORE_HALF(T, SPACE, _rtz)      \
  VSTORE_HALF(T, SPACE, _rtp)      \
  VSTORE_HALF(T, SPACE, _rtn)
FOR_SPACES(EACH_VSTORE_HALF, float)
FOR_SPACES(EACH_VSTORE_HALF, double)

// ---- Shuffles: each component of the mask is the index of a component; its upper bits are ignored.

#define SHUFFLE_2(T, m, M)                                                         \
  INLINE OVERLOAD T##2 shuffle(T##m from, M##2 mask) {                             \
    return (T##2)(from[mask.s0 & (m - 1)], from[mask.s1 & (m - 1)]);               \
  }                                                                                \
  INLINE OVERLOAD T##2 shuffle2(T##m low, T##m high, M##2 mask) {                  \
    return (T##2)(mask.s0 & m ? high[mask.s0 & (m - 1)] : low[mask.s0 & (m - 1)],  \
                  mask.s1 & m ? high[mask.s1 & (m - 1)] : low[mask.s1 & (m - 1)]); \
  }
#define SHUFFLE_WIDE(T, m, M, n)                                               \
  INLINE OVERLOAD T##n shuffle(T##m from, M##n mask) {                         \
    return (T##n)(shuffle(from, mask.lo), shuffle(from, mask.hi));             \
  }                                                                            \
  INLINE OVERLOAD T##n shuffle2(T##m low, T##m high, M##n mask) {              \
    return (T##n)(shuffle2(low, high, mask.lo), shuffle2(low, high, mask.hi)); \
  }
#define SHUFFLES_FROM(T, m, M) \
  SHUFFLE_2(T, m, M) SHUFFLE_WIDE(T, m, M, 4) SHUFFLE_WIDE(T, m, M, 8) SHUFFLE_WIDE(T, m, M, 16)
#define SHUFFLES(T, M) \
  SHUFFLES_FROM(T, 2, M) SHUFFLES_FROM(T, 4, M) SHUFFLES_FROM(T, 8, M) SHUFFLES_FROM(T, 16, M)
SHUFFLES(char, uchar)
SHUFFLES(uchar, uchar)
SHUFFLES(short, ushort)
SHUFFLES(ushort, ushort)
SHUFFLES(half, ushort)
SHUFFLES(int, uint)
SHUFFLES(uint, uint)
SHUFFLES(float, uint)
SHUFFLES(long, ulong)
SHUFFLES(ulong, ulong)
SHUFFLES(double, ulong)
