// One sum per work-group of 256.
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void reduction(global const float* restrict in,
                                                                         global float* restrict sums, uint count) {
  local float partial[256];
  const uint me = get_local_id(0);
  float sum = 0.0f;
  for (uint i = get_global_id(0); i < count; i += get_global_size(0)) sum += in[i];
  partial[me] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint half_size = 128; half_size > 0; half_size /= 2) {
    if (me < half_size) partial[me] += partial[me + half_size];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (me == 0) sums[get_group_id(0)] = partial[0];
}
