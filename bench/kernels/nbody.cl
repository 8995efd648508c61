// Accelerations of bodies by one another; w is a body's mass. Each work-group loads the others into local memory in
// turn.
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void nbody(global const float4* restrict bodies,
                                                                     global float4* restrict accelerations, int count,
                                                                     float softening) {
  local float4 tile[256];
  const int me = get_local_id(0);
  const float4 own = bodies[get_global_id(0)];
  float4 sum = (float4)(0.0f);
  for (int begin = 0; begin < count; begin += 256) {
    tile[me] = bodies[begin + me];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 256; ++i) {
      const float4 other = tile[i];
      const float4 d = other - own;
      const float inverse = rsqrt(d.x * d.x + d.y * d.y + d.z * d.z + softening);
      sum.xyz += d.xyz * (other.w * inverse * inverse * inverse);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  accelerations[get_global_id(0)] = sum;
}
