#include "icd/core/objects/extensions.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "icd/core/recordings/names.hpp"

namespace clique::icd {

namespace {

constexpr cl_version kFirstVersion = CL_MAKE_VERSION(1, 0, 0);
constexpr cl_version kSemaphoreVersion = CL_MAKE_VERSION(1, 0, 1);
// Experimental: the entry points and errors are those of these versions.
constexpr cl_version kCommandBufferVersion = CL_MAKE_VERSION(0, 9, 8);
constexpr cl_version kMultiDeviceVersion = CL_MAKE_VERSION(0, 9, 2);
constexpr cl_version kMutableDispatchVersion = CL_MAKE_VERSION(0, 9, 5);

// Sorted by name.
constexpr std::string_view kCarried[] = {
    "cl_amd_device_attribute_query",
    "cl_amd_fp64",
    "cl_amd_liquid_flash",
    "cl_amd_media_ops",
    "cl_amd_media_ops2",
    "cl_amd_popcnt",
    "cl_amd_printf",
    "cl_amd_vec3",
    "cl_arm_core_id",
    "cl_arm_get_core_id",
    "cl_arm_integer_dot_product_accumulate_int16",
    "cl_arm_integer_dot_product_accumulate_int8",
    "cl_arm_integer_dot_product_accumulate_saturate_int8",
    "cl_arm_integer_dot_product_int8",
    "cl_arm_non_uniform_work_group_size",
    "cl_arm_thread_limit_hint",
    "cl_clique_cooperative_matrix",
    "cl_clique_cuda_source",
    "cl_clique_file",
    "cl_ext_atomic_counters_32",
    "cl_ext_atomic_counters_64",
    "cl_ext_cxx_for_opencl",
    "cl_ext_float_atomics",
    "cl_intel_bfloat16_conversions",
    "cl_intel_device_attribute_query",
    "cl_intel_media_block_io",
    "cl_intel_required_subgroup_size",
    "cl_intel_spirv_media_block_io",
    "cl_intel_spirv_subgroups",
    "cl_intel_split_work_group_barrier",
    "cl_intel_subgroup_2d_block_io",
    "cl_intel_subgroup_buffer_prefetch",
    "cl_intel_subgroup_local_block_io",
    "cl_intel_subgroup_matrix_multiply_accumulate",
    "cl_intel_subgroup_split_matrix_multiply_accumulate",
    "cl_intel_subgroups",
    "cl_intel_subgroups_char",
    "cl_intel_subgroups_long",
    "cl_intel_subgroups_short",
    "cl_khr_3d_image_writes",
    "cl_khr_async_work_group_copy_fence",
    "cl_khr_byte_addressable_store",
    "cl_khr_command_buffer",
    "cl_khr_command_buffer_multi_device",
    "cl_khr_command_buffer_mutable_dispatch",
    "cl_khr_create_command_queue",
    "cl_khr_depth_images",
    "cl_khr_device_uuid",
    "cl_khr_expect_assume",
    "cl_khr_extended_async_copies",
    "cl_khr_extended_bit_ops",
    "cl_khr_extended_versioning",
    "cl_khr_fp16",
    "cl_khr_fp64",
    "cl_khr_global_int32_base_atomics",
    "cl_khr_global_int32_extended_atomics",
    "cl_khr_icd",
    "cl_khr_il_program",
    "cl_khr_image2d_from_buffer",
    "cl_khr_int64_base_atomics",
    "cl_khr_int64_extended_atomics",
    "cl_khr_integer_dot_product",
    "cl_khr_kernel_clock",
    "cl_khr_local_int32_base_atomics",
    "cl_khr_local_int32_extended_atomics",
    "cl_khr_pci_bus_info",
    "cl_khr_select_fprounding_mode",
    "cl_khr_semaphore",
    "cl_khr_spir",
    "cl_khr_spirv_extended_debug_info",
    "cl_khr_spirv_linkonce_odr",
    "cl_khr_spirv_no_integer_wrap_decoration",
    "cl_khr_srgb_image_writes",
    "cl_khr_subgroup_ballot",
    "cl_khr_subgroup_clustered_reduce",
    "cl_khr_subgroup_extended_types",
    "cl_khr_subgroup_named_barrier",
    "cl_khr_subgroup_non_uniform_arithmetic",
    "cl_khr_subgroup_non_uniform_vote",
    "cl_khr_subgroup_rotate",
    "cl_khr_subgroup_shuffle",
    "cl_khr_subgroup_shuffle_relative",
    "cl_khr_subgroups",
    "cl_khr_suggested_local_work_size",
    "cl_khr_work_group_uniform_arithmetic",
    "cl_nv_compiler_options",
    "cl_nv_device_attribute_query",
    "cl_nv_kernel_attribute",
    "cl_nv_pragma_unroll",
    "cl_pocl_content_size",
    "cl_qcom_reqd_sub_group_size",
};
static_assert(std::is_sorted(std::begin(kCarried), std::end(kCarried)));

struct Range {
  cl_device_info first;
  cl_device_info last;
};

constexpr Range kAbsentProperties[] = {
    {CL_DEVICE_TERMINATE_CAPABILITY_KHR, CL_DEVICE_TERMINATE_CAPABILITY_KHR},
    {CL_DEVICE_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR, CL_DEVICE_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR},
    {CL_DEVICE_PARENT_DEVICE_EXT, CL_DEVICE_PARTITION_STYLE_EXT},
    {CL_DEVICE_SVM_CAPABILITIES_ARM, CL_DEVICE_SVM_CAPABILITIES_ARM},
    {CL_DEVICE_SCHEDULING_CONTROLS_CAPABILITIES_ARM, CL_DEVICE_SCHEDULING_CONTROLS_CAPABILITIES_ARM},
    {CL_DEVICE_SUPPORTED_REGISTER_ALLOCATIONS_ARM, CL_DEVICE_SUPPORTED_REGISTER_ALLOCATIONS_ARM},
    {CL_DEVICE_CONTROLLED_TERMINATION_CAPABILITIES_ARM, CL_DEVICE_CONTROLLED_TERMINATION_CAPABILITIES_ARM},
    {CL_DEVICE_QUEUE_FAMILY_PROPERTIES_INTEL, CL_DEVICE_QUEUE_FAMILY_PROPERTIES_INTEL},
};

constexpr std::string_view kAbsentFeatures[] = {"__opencl_c_pipes", "__opencl_c_device_enqueue"};

}  // namespace

bool carries_extension(std::string_view name) {
  return std::binary_search(std::begin(kCarried), std::end(kCarried), name);
}

std::vector<cl_name_version> own_extensions() {
  return {name_version("cl_amd_liquid_flash", kFirstVersion),
          name_version("cl_clique_file", kFirstVersion),
          name_version("cl_khr_command_buffer", kCommandBufferVersion),
          name_version("cl_khr_command_buffer_multi_device", kMultiDeviceVersion),
          name_version("cl_khr_command_buffer_mutable_dispatch", kMutableDispatchVersion),
          name_version("cl_khr_create_command_queue", kFirstVersion),
          name_version("cl_khr_device_uuid", kFirstVersion),
          name_version("cl_khr_extended_versioning", kFirstVersion),
          name_version("cl_khr_icd", kFirstVersion),
          name_version("cl_khr_semaphore", kSemaphoreVersion),
          name_version("cl_pocl_content_size", kFirstVersion)};
}

bool belongs_to_absent_extension(cl_device_info name) {
  return std::any_of(std::begin(kAbsentProperties), std::end(kAbsentProperties),
                     [name](const Range& range) { return range.first <= name && name <= range.last; });
}

bool is_absent_feature(std::string_view name) {
  return std::find(std::begin(kAbsentFeatures), std::end(kAbsentFeatures), name) != std::end(kAbsentFeatures);
}

cl_device_command_buffer_capabilities_khr command_buffer_capabilities(cl_command_queue_properties queues) {
  cl_device_command_buffer_capabilities_khr all = CL_COMMAND_BUFFER_CAPABILITY_KERNEL_PRINTF_KHR |
                                                  CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR |
                                                  kCapabilityMultipleQueues;
  // Programs of versions before 0.9.6 look for this one; the others for kSupportedQueueProperties.
  if ((queues & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0) all |= kCapabilityOutOfOrder;
  return all;
}

cl_name_version name_version(std::string_view name, cl_version version) {
  cl_name_version entry{};
  entry.version = version;
  name = name.substr(0, sizeof entry.name - 1);
  std::memcpy(entry.name, name.data(), name.size());
  return entry;
}

std::vector<cl_name_version> sorted_by_name(std::vector<cl_name_version> list) {
  std::sort(list.begin(), list.end(), [](const cl_name_version& a, const cl_name_version& b) {
    const int order = name_of(a).compare(name_of(b));
    return order != 0 ? order < 0 : a.version > b.version;
  });
  const auto repeated = std::unique(
      list.begin(), list.end(),
      [](const cl_name_version& a, const cl_name_version& b) { return name_of(a) == name_of(b); });
  list.erase(repeated, list.end());
  return list;
}

std::string names_of(const std::vector<cl_name_version>& list) {
  std::string names;
  for (const cl_name_version& entry : list) {
    if (!names.empty()) names += ' ';
    names += name_of(entry);
  }
  return names;
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> result;
  while (!text.empty()) {
    const auto space = text.find(' ');
    if (space != 0) result.push_back(text.substr(0, space));
    text = space == std::string_view::npos ? std::string_view{} : text.substr(space + 1);
  }
  return result;
}

}  // namespace clique::icd
