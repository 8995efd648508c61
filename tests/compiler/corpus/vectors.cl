#define EACH_TYPE(M) M(char) M(uchar) M(short) M(ushort) M(int) M(uint) M(long) M(ulong) M(float) M(double)
#define ARITHMETIC(T)                                                                      \
  __kernel void arithmetic_##T(__global T##4* x, __global T##3* y, __global T##16* z) {    \
    T##4 a = x[0], b = x[1];                                                               \
    a.xy = b.wz;                                                                           \
    a.s3 += b.even.x * b.odd.y - (T)2;                                                     \
    x[2] = (a + b) * a - b / (a + (T##4)(1));                                              \
    y[0] = y[1] * (T)3 + a.xyz;                                                            \
    z[0].hi = z[1].lo;                                                                     \
    z[2] = (T##16)(a, b, a.lo, b.hi, (T)1, y[0]);                                          \
    z[3].s0123 = z[3].sfedc;                                                               \
    x[3] = a > b ? a : b;                                                                  \
    x[4] = select(a, b, a == b);                                                           \
    x[5] += (T)1;                                                                           \
    x[6] = -a;                                                                             \
    x[7] = any(a < b) ? a : (T##4)(all(a != b));                                           \
  }
EACH_TYPE(ARITHMETIC)

#define EACH_INTEGER(M) M(char) M(uchar) M(short) M(ushort) M(int) M(uint) M(long) M(ulong)
#define BITS(T)                                                       \
  __kernel void bits_##T(__global T##8* x) {                          \
    x[0] = (x[1] & x[2]) | (x[3] ^ ~x[4]);                            \
    x[5] = (x[6] << x[7]) >> (T)3;                                    \
    x[8] = x[9] % (x[10] | (T##8)(1));                                \
    x[11] = rotate(x[12], x[13]) + popcount(x[14]) + clz(x[15]);      \
    x[16] = add_sat(x[17], mul_hi(x[18], x[19]));                     \
  }
EACH_INTEGER(BITS)

__kernel void reinterpreted(__global float4* f, __global int4* i, __global uchar16* b, __global double2* d) {
  i[0] = as_int4(f[0]);
  f[1] = as_float4(i[1] & 0x7fffffff);
  b[0] = as_uchar16(f[2]);
  d[0] = as_double2(i[2]);
  f[3] = convert_float4(i[3]);
  i[4] = convert_int4_sat_rte(f[4]);
  b[1] = convert_uchar16_sat(b[2]);
  d[1] = convert_double2(f[5].xy);
  f[6] = vload4(3, (__global float*)i);
  vstore3(f[7].xyz, 1, (__global float*)b);
  f[8] = shuffle(f[9], (uint4)(3, 2, 1, 0));
}

#define COMPARISONS(T, R)                                                    \
  __kernel void comparisons_##T(__global T* x, __global R* y) {              \
    y[0] = x[0] < x[1];                                                      \
    y[1] = x[2] == x[3] || x[4] != (T)0;                                     \
    y[2] = (R)(any(x[5] >= x[6])) | (R)(all(x[7] > x[8])) | (R)(any(y[3]));  \
  }
COMPARISONS(char2, char2)
COMPARISONS(char4, char4)
COMPARISONS(uchar4, char4)
COMPARISONS(char8, char8)
COMPARISONS(short2, short2)
COMPARISONS(ushort2, short2)
COMPARISONS(short4, short4)
COMPARISONS(short8, short8)
COMPARISONS(int2, int2)
COMPARISONS(float2, int2)

__kernel void narrowed(__global int2* x, __global float4* y, __global char2* c, __global short4* s) {
  c[0] = convert_char2(x[0] < x[1]);
  s[0] = convert_short4(y[0] < y[1]);
}
