// How many of the squared distances between all points and the first `others` lie in each of 256 ranges.
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void distances(global const int4* restrict points,
                                                                        global uint* restrict bins, int others) {
  local uint own[256];
  const uint me = get_local_id(0);
  own[me] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  const int4 here = points[get_global_id(0)];
  for (int i = 0; i < others; ++i) {
    const int4 apart = points[i] - here;
    atomic_inc(&own[(apart.x * apart.x + apart.y * apart.y + apart.z * apart.z) >> 10]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&bins[me], own[me]);
}
