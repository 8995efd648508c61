// options: -cl-fast-relaxed-math
// options: -cl-denorms-are-zero -cl-finite-math-only
// options: -cl-opt-disable

// The acceleration of each body by all others; .w is the mass.
__kernel void bodies(__global const float4* restrict positions, __global float4* restrict accelerations, int count,
                     float softening, __local float4* tile) {
  const int self = get_global_id(0), lane = get_local_id(0), lanes = get_local_size(0);
  const float4 position = positions[self];
  float4 sum = (float4)(0.0f);
  for (int begin = 0; begin < count; begin += lanes) {
    tile[lane] = positions[begin + lane];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < lanes; ++i) {
      const float4 way = tile[i] - position;
      const float inverse = rsqrt(dot(way.xyz, way.xyz) + softening);
      sum.xyz += way.xyz * (tile[i].w * inverse * inverse * inverse);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  accelerations[self] = sum;
}
