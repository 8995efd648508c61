// See table 4.2 of OpenCL 3.0, and the tables of the extensions.
#include "daemon/backend/cuda/describe.hpp"

#include <CL/cl_ext.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <type_traits>
#include <utility>

#include "daemon/backend/cuda/execution/printf_buffers.hpp"
#include "daemon/backend/cuda/gpu/device.hpp"
#include "daemon/backend/cuda/gpu/pixel_format.hpp"
#include "daemon/common/vendor_ids.hpp"
#include "daemon/compiler/contract/language_features.hpp"
#include "daemon/compiler/contract/spirv.hpp"
#include "daemon/compiler/nvrtc/library.hpp"
#include "protocol/properties.hpp"

namespace clique::daemon::cuda {

namespace {

using protocol::Property;

constexpr cl_version kOpenCl3 = CL_MAKE_VERSION(3, 0, 0);
constexpr cl_version kFirstVersion = CL_MAKE_VERSION(1, 0, 0);

// Some versions of the headers lack these.
constexpr cl_uint kAsyncEngineCountNv = 0x4007;
constexpr cl_uint kPciBusIdNv = 0x4008;
constexpr cl_uint kPciSlotIdNv = 0x4009;
constexpr cl_uint kPciDomainIdNv = 0x400A;
constexpr cl_uint kSingleFpAtomicCapabilities = 0x4231;
constexpr cl_uint kDoubleFpAtomicCapabilities = 0x4232;
constexpr cl_uint kHalfFpAtomicCapabilities = 0x4233;

/// Extensions that do not concern OpenCL C.
constexpr const char* kHostExtensions[] = {
    "cl_khr_device_uuid",         "cl_khr_pci_bus_info",    "cl_khr_suggested_local_work_size",
    "cl_khr_image2d_from_buffer", "cl_nv_compiler_options", "cl_nv_device_attribute_query",
    "cl_nv_pragma_unroll",
};

/// Appends properties with their bytes.
class Writer {
 public:
  explicit Writer(std::vector<Property>& to) : to_(to) {}

  template <typename T>
    requires std::is_trivially_copyable_v<T>
  void operator()(cl_uint name, const T& value) {
    bytes(name, &value, sizeof value);
  }
  template <typename T>
  void operator()(cl_uint name, const std::vector<T>& values) {
    bytes(name, values.data(), values.size() * sizeof(T));
  }
  void operator()(cl_uint name, const std::string& text) { bytes(name, text.c_str(), text.size() + 1); }

 private:
  void bytes(cl_uint name, const void* data, std::size_t size) {
    const auto* begin = static_cast<const std::uint8_t*>(data);
    to_.push_back({name, {begin, begin + size}});
  }
  std::vector<Property>& to_;
};

cl_name_version named(const std::string& name, cl_version version) {
  cl_name_version entry{};
  entry.version = version;
  std::strncpy(entry.name, name.c_str(), sizeof entry.name - 1);
  return entry;
}

cl_version version_of(const std::string& extension) {
  return extension == "cl_khr_integer_dot_product" ? CL_MAKE_VERSION(2, 0, 0) : kFirstVersion;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

/// The version of the kernel module, such as "580.159.04", which programs compare; if it cannot be read, the
/// version of CUDA.
std::string driver_version_text() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string word;
  while (file >> word)
    if (std::count(word.begin(), word.end(), '.') >= 1 &&
        word.find_first_not_of("0123456789.") == std::string::npos)
      return word;
  const int version = cuda::driver_version();
  return "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::vector<std::string> all_extensions(const Device& device) {
  auto extensions = language_extensions(device);
  extensions.insert(extensions.end(), std::begin(kHostExtensions), std::end(kHostExtensions));
  if (compiler::has_nvrtc()) extensions.emplace_back("cl_clique_cuda_source");
  if (compiler::find_spirv_translator()) extensions.emplace_back("cl_khr_il_program");
  std::sort(extensions.begin(), extensions.end());
  return extensions;
}

void describe_identity(const Device& device, Writer& write) {
  std::array<char, 256> name{};
  CLIQUE_CUDA(DeviceGetName(name.data(), static_cast<int>(name.size() - 1), device.native));
  write(CL_DEVICE_TYPE, cl_device_type{CL_DEVICE_TYPE_GPU});
  write(CL_DEVICE_NAME, std::string(name.data()));
  write(CL_DEVICE_VENDOR, std::string(kNvidiaName));
  write(CL_DEVICE_VENDOR_ID, kNvidiaVendor);
  write(CL_DRIVER_VERSION, driver_version_text());
  write(CL_DEVICE_PROFILE, std::string("FULL_PROFILE"));
  write(CL_DEVICE_VERSION, std::string("OpenCL 3.0 CUDA"));
  write(CL_DEVICE_NUMERIC_VERSION, kOpenCl3);
  write(CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED, std::string());
  CUuuid uuid{};
  CLIQUE_CUDA(DeviceGetUuid(&uuid, device.native));
  write(CL_DEVICE_UUID_KHR, uuid);
  write(CL_DRIVER_UUID_KHR, uuid);
  write(CL_DEVICE_LUID_VALID_KHR, cl_bool{CL_FALSE});
  write(CL_DEVICE_LUID_KHR, std::array<cl_uchar, CL_LUID_SIZE_KHR>{});
  write(CL_DEVICE_NODE_MASK_KHR, cl_uint{0});
}

/// The versions that every translator reads; most also read later ones.
void describe_il(Writer& write) {
  std::string versions;
  std::vector<cl_name_version> with_version;
  if (compiler::find_spirv_translator())
    for (const cl_uint minor : {0U, 1U, 2U}) {
      versions += (versions.empty() ? "SPIR-V_1." : " SPIR-V_1.") + std::to_string(minor);
      with_version.push_back(named("SPIR-V", CL_MAKE_VERSION(1, minor, 0)));
    }
  write(CL_DEVICE_IL_VERSION, versions);
  write(CL_DEVICE_ILS_WITH_VERSION, with_version);
}

void describe_language(const Device& device, Writer& write) {
  const auto extensions = all_extensions(device);
  std::vector<cl_name_version> with_version;
  with_version.reserve(extensions.size());
  for (const std::string& name : extensions) with_version.push_back(named(name, version_of(name)));
  write(CL_DEVICE_EXTENSIONS, joined(extensions));
  write(CL_DEVICE_EXTENSIONS_WITH_VERSION, with_version);
  write(CL_DEVICE_OPENCL_C_VERSION, std::string("OpenCL C 1.2 "));
  write(CL_DEVICE_OPENCL_C_ALL_VERSIONS,
        std::vector<cl_name_version>{
            named("OpenCL C", CL_MAKE_VERSION(1, 0, 0)), named("OpenCL C", CL_MAKE_VERSION(1, 1, 0)),
            named("OpenCL C", CL_MAKE_VERSION(1, 2, 0)), named("OpenCL C", kOpenCl3)});
  std::vector<cl_name_version> features;
  for (const std::string& name : compiler::language_features(extensions))
    features.push_back(named(name, kOpenCl3));
  write(CL_DEVICE_OPENCL_C_FEATURES, features);
  const auto has = [&features](const char* name) -> cl_bool {
    return std::any_of(
               features.begin(), features.end(),
               [name](const cl_name_version& feature) { return std::strcmp(feature.name, name) == 0; })
               ? CL_TRUE
               : CL_FALSE;
  };
  write(CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT, has("__opencl_c_generic_address_space"));
  write(CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT, has("__opencl_c_work_group_collective_functions"));
  write(CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, cl_bool{CL_TRUE});
  cl_device_atomic_capabilities atomics = CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP;
  if (has("__opencl_c_atomic_order_acq_rel")) atomics |= CL_DEVICE_ATOMIC_ORDER_ACQ_REL;
  if (has("__opencl_c_atomic_order_seq_cst")) atomics |= CL_DEVICE_ATOMIC_ORDER_SEQ_CST;
  if (has("__opencl_c_atomic_scope_device")) atomics |= CL_DEVICE_ATOMIC_SCOPE_DEVICE;
  if (has("__opencl_c_atomic_scope_all_devices")) atomics |= CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES;
  write(CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES, atomics);
  write(CL_DEVICE_ATOMIC_FENCE_CAPABILITIES, atomics | CL_DEVICE_ATOMIC_SCOPE_WORK_ITEM);

  describe_il(write);
  write(CL_DEVICE_BUILT_IN_KERNELS, std::string());
  write(CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION, std::vector<cl_name_version>{});
  write(CL_DEVICE_COMPILER_AVAILABLE, cl_bool{CL_TRUE});
  write(CL_DEVICE_LINKER_AVAILABLE, cl_bool{CL_TRUE});
  write(CL_DEVICE_PRINTF_BUFFER_SIZE, std::size_t{PrintfBuffers::kCapacity});

  // cl_ext_float_atomics: bits 0 to 2 are load and store, add, and minimum and maximum in global memory; bits
  // 16 to 18 are the same in local memory.
  const auto atomics_of = [&has](const std::string& type) {
    const auto bit = [&](const std::string& what, unsigned place) {
      return std::uint64_t{has(("__opencl_c_ext_" + type + "_" + what).c_str())} << place;
    };
    return bit("global_atomic_load_store", 0) | bit("global_atomic_add", 1) |
           bit("global_atomic_min_max", 2) | bit("local_atomic_load_store", 16) |
           bit("local_atomic_add", 17) | bit("local_atomic_min_max", 18);
  };
  write(kSingleFpAtomicCapabilities, atomics_of("fp32"));
  write(kDoubleFpAtomicCapabilities, atomics_of("fp64"));
  write(kHalfFpAtomicCapabilities, atomics_of("fp16"));

  if (has("__opencl_c_integer_dot_product_input_4x8bit")) {
    write(
        CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES_KHR,
        cl_device_integer_dot_product_capabilities_khr{CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_PACKED_KHR |
                                                       CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_KHR});
    // The instruction dp4a does not saturate.
    const cl_bool fast = device.major * 10 + device.minor >= 61 ? CL_TRUE : CL_FALSE;
    const cl_device_integer_dot_product_acceleration_properties_khr properties{fast,     fast,     fast,
                                                                               CL_FALSE, CL_FALSE, CL_FALSE};
    write(CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_8BIT_KHR, properties);
    write(CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_4x8BIT_PACKED_KHR, properties);
  }
}

void describe_execution(const Device& device, Writer& write) {
  const auto attribute = [&device](CUdevice_attribute name) {
    return static_cast<cl_uint>(device.attribute(name));
  };
  const std::size_t group = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  write(CL_DEVICE_MAX_COMPUTE_UNITS, attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  write(CL_DEVICE_MAX_CLOCK_FREQUENCY, attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / 1000);
  write(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, cl_uint{3});
  write(CL_DEVICE_MAX_WORK_ITEM_SIZES,
        std::vector<std::size_t>(device.limits.items.begin(), device.limits.items.end()));
  write(CL_DEVICE_MAX_WORK_GROUP_SIZE, group);
  write(CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, std::size_t{kWarp});
  write(CL_DEVICE_MAX_NUM_SUB_GROUPS, static_cast<cl_uint>(group / kWarp));
  write(CL_DEVICE_SUB_GROUP_SIZES_INTEL, std::vector<std::size_t>{kWarp});
  write(CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS, cl_bool{CL_TRUE});
  for (const cl_uint name : {CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT,
                             CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG,
                             CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE,
                             CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT,
                             CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG,
                             CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE})
    write(name, cl_uint{1});
  const auto languages = language_extensions(device);
  const bool half = std::find(languages.begin(), languages.end(), "cl_khr_fp16") != languages.end();
  // The GPU computes halves in pairs.
  write(CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, cl_uint{half ? 2U : 0U});
  write(CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, cl_uint{half ? 2U : 0U});
  constexpr cl_device_fp_config kAll = CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST |
                                       CL_FP_ROUND_TO_ZERO | CL_FP_ROUND_TO_INF | CL_FP_FMA;
  write(CL_DEVICE_SINGLE_FP_CONFIG, kAll | CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT);
  write(CL_DEVICE_DOUBLE_FP_CONFIG, kAll);
  if (half)
    write(CL_DEVICE_HALF_FP_CONFIG,
          cl_device_fp_config{CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | CL_FP_FMA});
  write(CL_DEVICE_ADDRESS_BITS, cl_uint{64});
  write(CL_DEVICE_ENDIAN_LITTLE, cl_bool{CL_TRUE});
  write(CL_DEVICE_AVAILABLE, cl_bool{CL_TRUE});
  write(CL_DEVICE_EXECUTION_CAPABILITIES, cl_device_exec_capabilities{CL_EXEC_KERNEL});
  write(CL_DEVICE_QUEUE_ON_HOST_PROPERTIES,
        cl_command_queue_properties{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE});
  write(CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES, cl_command_queue_properties{0});
  write(CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES, cl_device_device_enqueue_capabilities{0});
  write(CL_DEVICE_PIPE_SUPPORT, cl_bool{CL_FALSE});
  for (const cl_uint name : {CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE, CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE,
                             CL_DEVICE_MAX_ON_DEVICE_QUEUES, CL_DEVICE_MAX_ON_DEVICE_EVENTS,
                             CL_DEVICE_MAX_PIPE_ARGS, CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS,
                             CL_DEVICE_PIPE_MAX_PACKET_SIZE, CL_DEVICE_PARTITION_MAX_SUB_DEVICES})
    write(name, cl_uint{0});
  write(CL_DEVICE_PARTITION_PROPERTIES, cl_device_partition_property{0});
  write(CL_DEVICE_PARTITION_AFFINITY_DOMAIN, cl_device_affinity_domain{0});
  write(CL_DEVICE_REFERENCE_COUNT, cl_uint{1});
  write(CL_DEVICE_PROFILING_TIMER_RESOLUTION, std::size_t{1000});
  write(CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, cl_bool{CL_TRUE});
  write(CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV, cl_uint{device.major});
  write(CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV, cl_uint{device.minor});
  write(CL_DEVICE_REGISTERS_PER_BLOCK_NV, attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK));
  write(CL_DEVICE_WARP_SIZE_NV, attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE));
  const cl_uint engines = attribute(CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT);
  write(CL_DEVICE_GPU_OVERLAP_NV, cl_bool{engines > 0 ? 1U : 0U});
  write(kAsyncEngineCountNv, engines);
  write(CL_DEVICE_KERNEL_EXEC_TIMEOUT_NV, cl_bool{attribute(CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT)});
  write(CL_DEVICE_INTEGRATED_MEMORY_NV, cl_bool{attribute(CU_DEVICE_ATTRIBUTE_INTEGRATED)});
  const cl_device_pci_bus_info_khr pci{attribute(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID),
                                       attribute(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID),
                                       attribute(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID), 0};
  write(CL_DEVICE_PCI_BUS_INFO_KHR, pci);
  write(kPciBusIdNv, pci.pci_bus);
  write(kPciSlotIdNv, pci.pci_device);
  write(kPciDomainIdNv, pci.pci_domain);
}

/// What the GPU can do with memory of the client's host that is registered with the driver.
cl_bitfield host_memory_capabilities(const Device& device) {
  if (device.attribute(CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM) == 0) return 0;
  const cl_bitfield access =
      CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL | CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ACCESS_INTEL;
  // Never concurrent: kernels' atomic operations have device scope (daemon/compiler/library/atomics.cl).
  return device.attribute(CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED) == 0
             ? access
             : access | CL_UNIFIED_SHARED_MEMORY_ATOMIC_ACCESS_INTEL;
}

void describe_memory(const Device& device, Writer& write) {
  constexpr cl_ulong kMebibyte = 1U << 20U;
  const auto attribute = [&device](CUdevice_attribute name) {
    return static_cast<cl_uint>(device.attribute(name));
  };
  std::size_t total = 0;
  CLIQUE_CUDA(DeviceTotalMem(&total, device.native));
  write(CL_DEVICE_GLOBAL_MEM_SIZE, cl_ulong{total});
  // A buffer may have all memory, except what contexts and code use.
  const cl_ulong most = (cl_ulong{total} - cl_ulong{total} / 16) / kMebibyte * kMebibyte;
  write(CL_DEVICE_MAX_MEM_ALLOC_SIZE, most);
  write(CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, cl_device_mem_cache_type{CL_READ_WRITE_CACHE});
  write(CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, cl_ulong{attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)});
  write(CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, cl_uint{128});
  write(CL_DEVICE_LOCAL_MEM_TYPE, cl_device_local_mem_type{CL_LOCAL});
  write(CL_DEVICE_LOCAL_MEM_SIZE, cl_ulong{device.most_local});
  write(CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, cl_ulong{64U << 10U});
  write(CL_DEVICE_MAX_CONSTANT_ARGS, cl_uint{64});
  // What every architecture allows, less room for hidden arguments.
  write(CL_DEVICE_MAX_PARAMETER_SIZE, std::size_t{4096 - 256});
  write(CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, std::size_t{1U << 30U});
  write(CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE, std::size_t{1U << 30U});
  write(CL_DEVICE_ERROR_CORRECTION_SUPPORT, cl_bool{attribute(CU_DEVICE_ATTRIBUTE_ECC_ENABLED)});
  write(CL_DEVICE_HOST_UNIFIED_MEMORY, cl_bool{attribute(CU_DEVICE_ATTRIBUTE_INTEGRATED)});
  write(CL_DEVICE_SVM_CAPABILITIES,
        cl_device_svm_capabilities{device.placeable ? CL_DEVICE_SVM_COARSE_GRAIN_BUFFER : 0U});
  write(CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL, host_memory_capabilities(device));
  // In bits: the size of the largest type, long16. 2D images over buffers need more, as
  // CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT says.
  write(CL_DEVICE_MEM_BASE_ADDR_ALIGN, cl_uint{8 * 128});
  write(CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE, cl_uint{128});
  for (const cl_uint name :
       {CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT, CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT,
        CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT})
    write(name, cl_uint{0});
}

void describe_images(const Device& device, Writer& write) {
  using Names = std::initializer_list<CUdevice_attribute>;
  const auto least = [&device](Names names) {
    int result = device.attribute(*names.begin());
    for (const CUdevice_attribute name : names) result = std::min(result, device.attribute(name));
    return static_cast<std::size_t>(result);
  };
  write(CL_DEVICE_IMAGE_SUPPORT, cl_bool{CL_TRUE});
  // OpenCL has one limit for images of one and two dimensions. All are read as textures and written as
  // surfaces.
  write(CL_DEVICE_IMAGE2D_MAX_WIDTH,
        least({CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH,
               CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH,
               CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH,
               CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH,
               CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH,
               CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH}));
  write(CL_DEVICE_IMAGE2D_MAX_HEIGHT,
        least({CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT,
               CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT,
               CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT}));
  write(CL_DEVICE_IMAGE3D_MAX_WIDTH,
        least({CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH}));
  write(CL_DEVICE_IMAGE3D_MAX_HEIGHT,
        least({CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT}));
  write(CL_DEVICE_IMAGE3D_MAX_DEPTH,
        least({CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH}));
  write(CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, least({CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS,
                                               CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS,
                                               CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS,
                                               CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS}));
  // Kernels read large image buffers as linear memory. Their 32-bit byte offsets are the limit, with 16 bytes
  // per pixel.
  write(CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, std::size_t{1U << 27U});
  write(CL_DEVICE_MAX_READ_IMAGE_ARGS, cl_uint{128});
  write(CL_DEVICE_MAX_WRITE_IMAGE_ARGS, cl_uint{64});
  write(CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, cl_uint{64});
  write(CL_DEVICE_MAX_SAMPLERS, cl_uint{32});
  // In pixels, of which the smallest has one byte.
  write(CL_DEVICE_IMAGE_PITCH_ALIGNMENT,
        static_cast<cl_uint>(device.attribute(CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT)));
  write(CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT,
        static_cast<cl_uint>(device.attribute(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT)));
}

std::vector<protocol::ImageFormats> describe_formats() {
  std::vector<protocol::ImageFormats> result;
  for (const cl_mem_flags access :
       {CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE, CL_MEM_KERNEL_READ_AND_WRITE})
    for (const cl_mem_object_type type :
         {CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE1D_BUFFER,
          CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_MEM_OBJECT_IMAGE3D})
      result.push_back({access, type, supported_formats(access, type)});
  return result;
}

}  // namespace

protocol::Attached describe(const Device& device) {
  protocol::Attached result;
  Writer platform(result.platform);
  platform(CL_PLATFORM_NAME, std::string("CUDA"));
  platform(CL_PLATFORM_VENDOR, std::string(kNvidiaName));
  platform(CL_PLATFORM_VERSION, std::string("OpenCL 3.0 Clique " CLIQUE_VERSION));
  platform(CL_PLATFORM_PROFILE, std::string("FULL_PROFILE"));
  platform(CL_PLATFORM_EXTENSIONS, joined(all_extensions(device)));
  protocol::DeviceDescription description;
  Writer write(description.properties);
  describe_identity(device, write);
  describe_language(device, write);
  describe_execution(device, write);
  describe_memory(device, write);
  describe_images(device, write);
  description.image_formats = describe_formats();
  description.sparse_buffers = device.placeable;
  result.devices.push_back(std::move(description));
  return result;
}

protocol::Driver describe_gpu(std::uint32_t number) {
  protocol::Attached described = describe(find_device(number));
  return {.id = number,
          .devices = std::move(described.devices),
          .name = protocol::property_text(described.platform, CL_PLATFORM_NAME),
          .vendor = protocol::property_text(described.platform, CL_PLATFORM_VENDOR)};
}

}  // namespace clique::daemon::cuda
