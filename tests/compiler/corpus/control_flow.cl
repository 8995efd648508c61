int kind_of(int c) {
  switch (c) {
    case 0: return 1;
    case 1:
    case 2: c *= 3;  // falls through
    case 3: return c + 2;
    case 100: return 7;
    case 1000: return 8;
    default: break;
  }
  return c < 0 ? -1 : 0;
}

__kernel void flow(__global int* x, int n) {
  const int i = get_global_id(0);
  if (i >= n) return;
  int value = x[i];
  do {
    value = value & 1 ? 3 * value + 1 : value >> 1;
    if (value == 12345) goto out;
  } while (value > 1);
  for (int a = 0, b = n; a < b; ++a, --b) {
    if (a % 3 == 0) continue;
    if (x[a] == x[b]) break;
    value += kind_of(x[a]) && kind_of(x[b]) || !value;
  }
#pragma unroll 4
  for (int k = 0; k < n; ++k) value ^= x[k];
  __attribute__((opencl_unroll_hint(2))) for (int k = 0; k < n; ++k) value += x[k];
out:
  x[i] = value, (void)n;
}

__kernel void divergent_barriers(__global int* x, __local int* scratch, int rounds) {
  const int lane = get_local_id(0);
  for (int round = 0; round < rounds; ++round) {
    if (lane < (int)get_local_size(0) >> round) scratch[lane] = x[lane] + round;
    barrier(CLK_LOCAL_MEM_FENCE);
    x[lane] += scratch[0];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
