// options: -cl-std=CL1.2 -cl-kernel-arg-info
// options: -cl-std=CL3.0 -cl-uniform-work-group-size
// options: -cl-nv-maxrregcount=64 -cl-nv-verbose
__kernel __attribute__((reqd_work_group_size(64, 2, 1))) void required(__global int* x) {
  x[get_global_id(0) + get_global_id(1) * get_global_size(0)] = get_local_size(0);
}
__kernel __attribute__((work_group_size_hint(32, 1, 1))) __attribute__((vec_type_hint(uchar4))) void hinted(
    __global int* x) {
  x[get_global_id(0)] = get_work_dim();
}
__attribute__((reqd_work_group_size(1, 1, 1))) kernel void task(global int* x __attribute__((aligned(64)))) {
  int wide __attribute__((aligned(16))) = x[0];
  x[1] = wide + get_global_offset(0) + get_num_groups(2) + get_global_size(1);
}
