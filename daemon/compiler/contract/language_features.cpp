#include "daemon/compiler/contract/language_features.hpp"

#include <algorithm>

namespace clique::daemon::compiler {

std::vector<std::string> language_extensions() {
  return {
      "cl_khr_byte_addressable_store",
      "cl_khr_global_int32_base_atomics",
      "cl_khr_global_int32_extended_atomics",
      "cl_khr_local_int32_base_atomics",
      "cl_khr_local_int32_extended_atomics",
      "cl_khr_int64_base_atomics",
      "cl_khr_int64_extended_atomics",
      "cl_khr_fp64",
      "cl_khr_fp16",
      "cl_khr_3d_image_writes",
      "cl_khr_depth_images",
      "cl_khr_subgroups",
      "cl_khr_subgroup_extended_types",
      "cl_khr_subgroup_non_uniform_vote",
      "cl_khr_subgroup_ballot",
      "cl_khr_subgroup_non_uniform_arithmetic",
      "cl_khr_subgroup_shuffle",
      "cl_khr_subgroup_shuffle_relative",
      "cl_khr_subgroup_clustered_reduce",
      "cl_khr_subgroup_rotate",
      "cl_khr_extended_bit_ops",
      "cl_khr_integer_dot_product",
      "cl_khr_expect_assume",
      "cl_ext_float_atomics",
      kCooperativeMatrix,
      "cl_intel_required_subgroup_size",
  };
}

std::vector<std::string> language_features(const std::vector<std::string>& extensions) {
  const auto has = [&](const char* name) {
    return std::find(extensions.begin(), extensions.end(), name) != extensions.end();
  };
  std::vector<std::string> features{
      "__opencl_c_int64",
      "__opencl_c_images",
      "__opencl_c_read_write_images",
      "__opencl_c_generic_address_space",
      "__opencl_c_program_scope_global_variables",
      "__opencl_c_work_group_collective_functions",
      "__opencl_c_atomic_order_acq_rel",
      "__opencl_c_atomic_order_seq_cst",
      "__opencl_c_atomic_scope_device",
      "__opencl_c_atomic_scope_all_devices",
  };
  const auto add_with = [&](const char* extension, std::initializer_list<const char*> added) {
    if (has(extension)) features.insert(features.end(), added.begin(), added.end());
  };
  add_with("cl_khr_fp64", {"__opencl_c_fp64"});
  add_with("cl_khr_3d_image_writes", {"__opencl_c_3d_image_writes"});
  add_with("cl_khr_subgroups", {"__opencl_c_subgroups"});
  add_with("cl_khr_integer_dot_product", {"__opencl_c_integer_dot_product_input_4x8bit",
                                          "__opencl_c_integer_dot_product_input_4x8bit_packed"});
  add_with("cl_ext_float_atomics",
           {"__opencl_c_ext_fp32_global_atomic_add", "__opencl_c_ext_fp32_local_atomic_add",
            "__opencl_c_ext_fp32_global_atomic_min_max", "__opencl_c_ext_fp32_local_atomic_min_max"});
  if (has("cl_khr_fp64"))
    add_with("cl_ext_float_atomics",
             {"__opencl_c_ext_fp64_global_atomic_add", "__opencl_c_ext_fp64_local_atomic_add",
              "__opencl_c_ext_fp64_global_atomic_min_max", "__opencl_c_ext_fp64_local_atomic_min_max"});
  return features;
}

}  // namespace clique::daemon::compiler
