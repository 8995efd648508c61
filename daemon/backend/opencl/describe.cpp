#include "daemon/backend/opencl/describe.hpp"

#include <algorithm>
#include <array>

#include "daemon/backend/opencl/host_memory.hpp"

namespace clique::daemon::opencl {

namespace {

using protocol::Property;

// All platform and device queries of cl.h. Those that a driver does not know are left out of the description.
constexpr std::array<cl_uint, 9> kPlatformQueries{CL_PLATFORM_PROFILE,
                                                  CL_PLATFORM_VERSION,
                                                  CL_PLATFORM_NAME,
                                                  CL_PLATFORM_VENDOR,
                                                  CL_PLATFORM_EXTENSIONS,
                                                  CL_PLATFORM_HOST_TIMER_RESOLUTION,
                                                  CL_PLATFORM_NUMERIC_VERSION,
                                                  CL_PLATFORM_EXTENSIONS_WITH_VERSION,
                                                  CL_PLATFORM_ICD_SUFFIX_KHR};
constexpr cl_uint kFirstDeviceQuery = CL_DEVICE_TYPE;
constexpr cl_uint kLastDeviceQuery = CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_4x8BIT_PACKED_KHR;

/// The device queries of cl_ext.h outside of the range of cl.h's, except those that answer with handles.
constexpr cl_uint kExtensionQueries[] = {
    CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR,
    CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR,
    CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR,
    CL_DEVICE_TERMINATE_CAPABILITY_KHR,
    CL_DEVICE_MAX_NAMED_BARRIER_COUNT_KHR,
    CL_DEVICE_SEMAPHORE_TYPES_KHR,
    CL_DEVICE_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR,
    CL_DEVICE_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR,
    CL_DEVICE_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR,
    CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV,
    CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV,
    CL_DEVICE_REGISTERS_PER_BLOCK_NV,
    CL_DEVICE_WARP_SIZE_NV,
    CL_DEVICE_GPU_OVERLAP_NV,
    CL_DEVICE_KERNEL_EXEC_TIMEOUT_NV,
    CL_DEVICE_INTEGRATED_MEMORY_NV,
    // The header lacks NVIDIA's number of copy engines, PCI bus, slot and domain.
    0x4007,
    0x4008,
    0x4009,
    0x400A,
    CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_AMD,
    CL_DEVICE_MAX_WORK_GROUP_SIZE_AMD,
    CL_DEVICE_MAX_ATOMIC_COUNTERS_EXT,
    CL_DEVICE_PREFERRED_CONSTANT_BUFFER_SIZE_AMD,
    CL_DEVICE_PCIE_ID_AMD,
    CL_DEVICE_PROFILING_TIMER_OFFSET_AMD,
    CL_DEVICE_TOPOLOGY_AMD,
    CL_DEVICE_BOARD_NAME_AMD,
    CL_DEVICE_GLOBAL_FREE_MEMORY_AMD,
    CL_DEVICE_SIMD_PER_COMPUTE_UNIT_AMD,
    CL_DEVICE_SIMD_WIDTH_AMD,
    CL_DEVICE_SIMD_INSTRUCTION_WIDTH_AMD,
    CL_DEVICE_WAVEFRONT_WIDTH_AMD,
    CL_DEVICE_GLOBAL_MEM_CHANNELS_AMD,
    CL_DEVICE_GLOBAL_MEM_CHANNEL_BANKS_AMD,
    CL_DEVICE_GLOBAL_MEM_CHANNEL_BANK_WIDTH_AMD,
    CL_DEVICE_LOCAL_MEM_SIZE_PER_COMPUTE_UNIT_AMD,
    CL_DEVICE_LOCAL_MEM_BANKS_AMD,
    CL_DEVICE_THREAD_TRACE_SUPPORTED_AMD,
    CL_DEVICE_GFXIP_MAJOR_AMD,
    CL_DEVICE_GFXIP_MINOR_AMD,
    CL_DEVICE_AVAILABLE_ASYNC_QUEUES_AMD,
    CL_DEVICE_PARTITION_TYPES_EXT,
    CL_DEVICE_AFFINITY_DOMAINS_EXT,
    CL_DEVICE_REFERENCE_COUNT_EXT,
    CL_DEVICE_PARTITION_STYLE_EXT,
    CL_DEVICE_ME_VERSION_INTEL,
    CL_DEVICE_EXT_MEM_PADDING_IN_BYTES_QCOM,
    CL_DEVICE_PAGE_SIZE_QCOM,
    CL_DEVICE_SVM_CAPABILITIES_ARM,
    CL_DEVICE_COMPUTE_UNITS_BITFIELD_ARM,
    CL_DEVICE_SPIR_VERSIONS,
    CL_DEVICE_SIMULTANEOUS_INTEROPS_INTEL,
    CL_DEVICE_NUM_SIMULTANEOUS_INTEROPS_INTEL,
    CL_DEVICE_SUB_GROUP_SIZES_INTEL,
    CL_DEVICE_AVC_ME_VERSION_INTEL,
    CL_DEVICE_AVC_ME_SUPPORTS_TEXTURE_SAMPLER_USE_INTEL,
    CL_DEVICE_AVC_ME_SUPPORTS_PREEMPTION_INTEL,
    CL_DEVICE_PCI_BUS_INFO_KHR,
    CL_DEVICE_PLANAR_YUV_MAX_WIDTH_INTEL,
    CL_DEVICE_PLANAR_YUV_MAX_HEIGHT_INTEL,
    CL_DEVICE_QUEUE_FAMILY_PROPERTIES_INTEL,
    CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL,
    CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL,
    CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL,
    CL_DEVICE_CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL,
    CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL,
    CL_DEVICE_JOB_SLOTS_ARM,
    CL_DEVICE_SCHEDULING_CONTROLS_CAPABILITIES_ARM,
    CL_DEVICE_MAX_WARP_COUNT_ARM,
    CL_DEVICE_SUPPORTED_REGISTER_ALLOCATIONS_ARM,
    CL_DEVICE_CONTROLLED_TERMINATION_CAPABILITIES_ARM,
    CL_DEVICE_CXX_FOR_OPENCL_NUMERIC_VERSION_EXT,
    // Older headers lack cl_ext_float_atomics: its capabilities in single, double and half precision.
    0x4231,
    0x4232,
    0x4233,
    CL_DEVICE_IP_VERSION_INTEL,
    CL_DEVICE_ID_INTEL,
    CL_DEVICE_NUM_SLICES_INTEL,
    CL_DEVICE_NUM_SUB_SLICES_PER_SLICE_INTEL,
    CL_DEVICE_NUM_EUS_PER_SUB_SLICE_INTEL,
    CL_DEVICE_NUM_THREADS_PER_EU_INTEL,
    CL_DEVICE_FEATURE_CAPABILITIES_INTEL,
};

constexpr std::array<cl_uint, 7> kWorkGroupQueries{
    CL_KERNEL_WORK_GROUP_SIZE,     CL_KERNEL_COMPILE_WORK_GROUP_SIZE,
    CL_KERNEL_LOCAL_MEM_SIZE,      CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
    CL_KERNEL_PRIVATE_MEM_SIZE,    CL_KERNEL_GLOBAL_WORK_SIZE,
    CL_KERNEL_SPILL_MEM_SIZE_INTEL};

constexpr std::array<cl_mem_flags, 4> kImageFlags{CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE,
                                                  CL_MEM_KERNEL_READ_AND_WRITE};
constexpr std::array<cl_mem_object_type, 6> kImageTypes{
    CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE1D_BUFFER,
    CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_MEM_OBJECT_IMAGE3D};

/// Largest size of an argument by value that is tried.
constexpr std::size_t kMaxArgSize = 4096;

template <typename Query>
void add_property(std::vector<Property>& properties, cl_uint name, Query&& query) {
  Property property{name, {}};
  if (get_bytes(query, property.value)) properties.push_back(std::move(property));
}

/// The size of an argument whose type is not built in, found by trying which size the driver accepts; 0 if it
/// accepts every size.
std::uint64_t probe_arg_size(cl_kernel kernel, cl_uint index) {
  static const std::array<std::byte, kMaxArgSize + 1> zeros{};
  const auto takes = [&](std::size_t size) {
    return clSetKernelArg(kernel, index, size, zeros.data()) == CL_SUCCESS;
  };
  if (takes(kMaxArgSize + 1)) return 0;
  for (std::size_t size = 1; size <= kMaxArgSize; ++size) {
    if (!takes(size)) continue;
    // A driver may accept three elements for four, as PoCL does, so the type's size is the largest nearby.
    std::size_t largest = size;
    for (std::size_t larger = size + 1; larger <= size + size / 3 + 1 && larger <= kMaxArgSize; ++larger)
      if (takes(larger)) largest = larger;
    return largest;
  }
  return 0;
}

bool is_by_value(const protocol::ArgDescription& arg) {
  if (arg.address != CL_KERNEL_ARG_ADDRESS_PRIVATE || arg.access != CL_KERNEL_ARG_ACCESS_NONE) return false;
  if ((arg.qualifier & CL_KERNEL_ARG_TYPE_PIPE) != 0 || arg.type.ends_with('*')) return false;
  for (const char* opaque : {"sampler_t", "queue_t", "event_t", "clk_event_t", "reserve_id_t"})
    if (arg.type == opaque) return false;
  return !arg.type.starts_with("image");
}

std::vector<protocol::ArgDescription> describe_args(cl_kernel kernel, cl_uint count) {
  std::vector<protocol::ArgDescription> args;
  for (cl_uint i = 0; i < count; ++i) {
    const auto info = [kernel, i](cl_kernel_arg_info name) {
      return [kernel, i, name](std::size_t size, void* value, std::size_t* size_ret) {
        return clGetKernelArgInfo(kernel, i, name, size, value, size_ret);
      };
    };
    protocol::ArgDescription arg;
    arg.address = get_value<cl_uint>(info(CL_KERNEL_ARG_ADDRESS_QUALIFIER));
    if (arg.address == 0) return {};
    arg.access = get_value<cl_uint>(info(CL_KERNEL_ARG_ACCESS_QUALIFIER), CL_KERNEL_ARG_ACCESS_NONE);
    arg.type = get_text(info(CL_KERNEL_ARG_TYPE_NAME));
    arg.qualifier = get_value<cl_kernel_arg_type_qualifier>(info(CL_KERNEL_ARG_TYPE_QUALIFIER));
    arg.name = get_text(info(CL_KERNEL_ARG_NAME));
    if (is_by_value(arg)) {
      arg.size = builtin_type_size(arg.type);
      if (arg.size == 0) arg.size = probe_arg_size(kernel, i);
    }
    args.push_back(std::move(arg));
  }
  return args;
}

protocol::KernelDescription describe_kernel(
    cl_kernel kernel, const std::vector<std::pair<protocol::DeviceId, cl_device_id>>& devices) {
  const auto info = [kernel](cl_kernel_info name) {
    return [kernel, name](std::size_t size, void* value, std::size_t* size_ret) {
      return clGetKernelInfo(kernel, name, size, value, size_ret);
    };
  };
  protocol::KernelDescription result;
  result.name = get_text(info(CL_KERNEL_FUNCTION_NAME));
  result.attributes = get_text(info(CL_KERNEL_ATTRIBUTES));
  result.arg_count = get_value<cl_uint>(info(CL_KERNEL_NUM_ARGS));
  result.args = describe_args(kernel, result.arg_count);
  for (const auto& [id, device] : devices) {
    protocol::KernelOnDevice on_device{id, {}};
    for (const cl_uint name : kWorkGroupQueries)
      add_property(on_device.work_group, name,
                   [kernel, device = device, name](std::size_t size, void* value, std::size_t* size_ret) {
                     return clGetKernelWorkGroupInfo(kernel, device, name, size, value, size_ret);
                   });
    result.devices.push_back(std::move(on_device));
  }
  return result;
}

std::vector<protocol::ImageFormats> describe_image_formats(cl_device_id device) {
  std::vector<protocol::ImageFormats> result;
  cl_int status = CL_SUCCESS;
  const Handle<cl_context> context(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status));
  if (status != CL_SUCCESS) return result;
  for (const cl_mem_flags flags : kImageFlags) {
    for (const cl_mem_object_type type : kImageTypes) {
      cl_uint count = 0;
      if (clGetSupportedImageFormats(context.get(), flags, type, 0, nullptr, &count) != CL_SUCCESS ||
          count == 0)
        continue;
      std::vector<cl_image_format> formats(count);
      if (clGetSupportedImageFormats(context.get(), flags, type, count, formats.data(), nullptr) !=
          CL_SUCCESS)
        continue;
      protocol::ImageFormats list{flags, type, {}};
      for (const cl_image_format& format : formats)
        list.formats.push_back({format.image_channel_order, format.image_channel_data_type});
      result.push_back(std::move(list));
    }
  }
  return result;
}

}  // namespace

std::vector<Property> describe_platform(cl_platform_id platform) {
  std::vector<Property> properties;
  for (const cl_uint name : kPlatformQueries)
    add_property(properties, name, [platform, name](std::size_t size, void* value, std::size_t* size_ret) {
      return clGetPlatformInfo(platform, name, size, value, size_ret);
    });
  return properties;
}

protocol::DeviceDescription describe_device(cl_device_id device, bool in_place) {
  protocol::DeviceDescription result;
  const auto add = [&](cl_uint name) {
    add_property(result.properties, name,
                 [device, name](std::size_t size, void* value, std::size_t* size_ret) {
                   return clGetDeviceInfo(device, name, size, value, size_ret);
                 });
  };
  for (cl_uint name = kFirstDeviceQuery; name <= kLastDeviceQuery; ++name)
    if (name != CL_DEVICE_PLATFORM && name != CL_DEVICE_PARENT_DEVICE) add(name);
  for (const cl_uint name : kExtensionQueries) add(name);
  for (Property& property : result.properties)
    if (property.name == CL_DEVICE_SVM_CAPABILITIES && !in_place)
      std::fill(property.value.begin(), property.value.end(), 0);
  // What the driver says of its own allocations does not matter.
  std::erase_if(result.properties, [](const Property& property) {
    return property.name == CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL;
  });
  const cl_bitfield capabilities = in_place ? shared_memory_capabilities(device) : 0;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&capabilities);
  result.properties.push_back({CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL, {bytes, bytes + sizeof capabilities}});
  result.image_formats = describe_image_formats(device);
  return result;
}

std::vector<protocol::KernelDescription> describe_kernels(
    cl_program program, const std::vector<std::pair<protocol::DeviceId, cl_device_id>>& devices) {
  std::vector<protocol::KernelDescription> result;
  cl_uint count = 0;
  if (clCreateKernelsInProgram(program, 0, nullptr, &count) != CL_SUCCESS || count == 0) return result;
  std::vector<cl_kernel> natives(count);
  if (clCreateKernelsInProgram(program, count, natives.data(), nullptr) != CL_SUCCESS) return result;
  for (const cl_kernel native : natives) {
    const Handle<cl_kernel> kernel(native);
    result.push_back(describe_kernel(kernel.get(), devices));
  }
  return result;
}

std::uint64_t builtin_type_size(const std::string& name) {
  struct Scalar {
    const char* name;
    std::uint64_t size;
  };
  static constexpr Scalar kScalars[] = {
      {"char", 1},   {"uchar", 1},         {"short", 2},          {"ushort", 2},       {"int", 4},
      {"uint", 4},   {"long", 8},          {"ulong", 8},          {"half", 2},         {"float", 4},
      {"double", 8}, {"unsigned char", 1}, {"unsigned short", 2}, {"unsigned int", 4}, {"unsigned long", 8}};
  for (const Scalar& scalar : kScalars) {
    if (!name.starts_with(scalar.name)) continue;
    const std::string width = name.substr(std::char_traits<char>::length(scalar.name));
    if (width.empty()) return scalar.size;
    if (width == "2") return 2 * scalar.size;
    // A vector of three elements has the size of one of four.
    if (width == "3" || width == "4") return 4 * scalar.size;
    if (width == "8") return 8 * scalar.size;
    if (width == "16") return 16 * scalar.size;
  }
  return 0;
}

}  // namespace clique::daemon::opencl
