// clGetDeviceInfo: OpenCL 3.0, section 4.2.
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>
#include <sstream>

#include "checks.hpp"

namespace clique::test::suite_clGetDeviceInfo {

class clGetDeviceInfo : public ApiTest {
 protected:
  template <typename T>
  static T get(cl_device_id device, cl_device_info name) {
    return info<T>(::clGetDeviceInfo, device, name);
  }
  static std::multiset<std::string> split(const std::string& text, char separator) {
    std::istringstream in(text);
    std::multiset<std::string> result;
    for (std::string word; std::getline(in, word, separator);) {
      if (!word.empty()) result.insert(word);
    }
    return result;
  }
  static std::multiset<std::string> names(const std::vector<cl_name_version>& list) {
    std::multiset<std::string> result;
    for (const auto& entry : list) result.insert(entry.name);
    return result;
  }
  static bool has_extension(cl_device_id device, const std::string& name) {
    return split(get<std::string>(device, CL_DEVICE_EXTENSIONS), ' ').count(name) > 0;
  }
};

TEST_F(clGetDeviceInfo, GivenFixedSizeNamesThenTheirSizes) {
  const std::map<cl_device_info, size_t> sizes = {
      {CL_DEVICE_TYPE, sizeof(cl_device_type)},
      {CL_DEVICE_VENDOR_ID, sizeof(cl_uint)},
      {CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(cl_uint)},
      {CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, sizeof(cl_uint)},
      {CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t)},
      {CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, sizeof(cl_uint)},
      {CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, sizeof(cl_uint)},
      {CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, sizeof(cl_uint)},
      {CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, sizeof(cl_uint)},
      {CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, sizeof(cl_uint)},
      {CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, sizeof(cl_uint)},
      {CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, sizeof(cl_uint)},
      {CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, sizeof(cl_uint)},
      {CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT, sizeof(cl_uint)},
      {CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, sizeof(cl_uint)},
      {CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG, sizeof(cl_uint)},
      {CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, sizeof(cl_uint)},
      {CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, sizeof(cl_uint)},
      {CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, sizeof(cl_uint)},
      {CL_DEVICE_MAX_CLOCK_FREQUENCY, sizeof(cl_uint)},
      {CL_DEVICE_ADDRESS_BITS, sizeof(cl_uint)},
      {CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(cl_ulong)},
      {CL_DEVICE_IMAGE_SUPPORT, sizeof(cl_bool)},
      {CL_DEVICE_MAX_READ_IMAGE_ARGS, sizeof(cl_uint)},
      {CL_DEVICE_MAX_WRITE_IMAGE_ARGS, sizeof(cl_uint)},
      {CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, sizeof(cl_uint)},
      {CL_DEVICE_IMAGE2D_MAX_WIDTH, sizeof(size_t)},
      {CL_DEVICE_IMAGE2D_MAX_HEIGHT, sizeof(size_t)},
      {CL_DEVICE_IMAGE3D_MAX_WIDTH, sizeof(size_t)},
      {CL_DEVICE_IMAGE3D_MAX_HEIGHT, sizeof(size_t)},
      {CL_DEVICE_IMAGE3D_MAX_DEPTH, sizeof(size_t)},
      {CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, sizeof(size_t)},
      {CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, sizeof(size_t)},
      {CL_DEVICE_MAX_SAMPLERS, sizeof(cl_uint)},
      {CL_DEVICE_IMAGE_PITCH_ALIGNMENT, sizeof(cl_uint)},
      {CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT, sizeof(cl_uint)},
      {CL_DEVICE_MAX_PIPE_ARGS, sizeof(cl_uint)},
      {CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS, sizeof(cl_uint)},
      {CL_DEVICE_PIPE_MAX_PACKET_SIZE, sizeof(cl_uint)},
      {CL_DEVICE_MAX_PARAMETER_SIZE, sizeof(size_t)},
      {CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof(cl_uint)},
      {CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE, sizeof(cl_uint)},
      {CL_DEVICE_SINGLE_FP_CONFIG, sizeof(cl_device_fp_config)},
      {CL_DEVICE_DOUBLE_FP_CONFIG, sizeof(cl_device_fp_config)},
      {CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, sizeof(cl_device_mem_cache_type)},
      {CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, sizeof(cl_uint)},
      {CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, sizeof(cl_ulong)},
      {CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(cl_ulong)},
      {CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, sizeof(cl_ulong)},
      {CL_DEVICE_MAX_CONSTANT_ARGS, sizeof(cl_uint)},
      {CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, sizeof(size_t)},
      {CL_DEVICE_GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE, sizeof(size_t)},
      {CL_DEVICE_LOCAL_MEM_TYPE, sizeof(cl_device_local_mem_type)},
      {CL_DEVICE_LOCAL_MEM_SIZE, sizeof(cl_ulong)},
      {CL_DEVICE_ERROR_CORRECTION_SUPPORT, sizeof(cl_bool)},
      {CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof(cl_bool)},
      {CL_DEVICE_PROFILING_TIMER_RESOLUTION, sizeof(size_t)},
      {CL_DEVICE_ENDIAN_LITTLE, sizeof(cl_bool)},
      {CL_DEVICE_AVAILABLE, sizeof(cl_bool)},
      {CL_DEVICE_COMPILER_AVAILABLE, sizeof(cl_bool)},
      {CL_DEVICE_LINKER_AVAILABLE, sizeof(cl_bool)},
      {CL_DEVICE_EXECUTION_CAPABILITIES, sizeof(cl_device_exec_capabilities)},
      {CL_DEVICE_QUEUE_ON_HOST_PROPERTIES, sizeof(cl_command_queue_properties)},
      {CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES, sizeof(cl_command_queue_properties)},
      {CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE, sizeof(cl_uint)},
      {CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, sizeof(cl_uint)},
      {CL_DEVICE_MAX_ON_DEVICE_QUEUES, sizeof(cl_uint)},
      {CL_DEVICE_MAX_ON_DEVICE_EVENTS, sizeof(cl_uint)},
      {CL_DEVICE_PLATFORM, sizeof(cl_platform_id)},
      {CL_DEVICE_NUMERIC_VERSION, sizeof(cl_version)},
      {CL_DEVICE_PRINTF_BUFFER_SIZE, sizeof(size_t)},
      {CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, sizeof(cl_bool)},
      {CL_DEVICE_PARENT_DEVICE, sizeof(cl_device_id)},
      {CL_DEVICE_PARTITION_MAX_SUB_DEVICES, sizeof(cl_uint)},
      {CL_DEVICE_PARTITION_AFFINITY_DOMAIN, sizeof(cl_device_affinity_domain)},
      {CL_DEVICE_REFERENCE_COUNT, sizeof(cl_uint)},
      {CL_DEVICE_SVM_CAPABILITIES, sizeof(cl_device_svm_capabilities)},
      {CL_DEVICE_PREFERRED_PLATFORM_ATOMIC_ALIGNMENT, sizeof(cl_uint)},
      {CL_DEVICE_PREFERRED_GLOBAL_ATOMIC_ALIGNMENT, sizeof(cl_uint)},
      {CL_DEVICE_PREFERRED_LOCAL_ATOMIC_ALIGNMENT, sizeof(cl_uint)},
      {CL_DEVICE_MAX_NUM_SUB_GROUPS, sizeof(cl_uint)},
      {CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS, sizeof(cl_bool)},
      {CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES, sizeof(cl_device_atomic_capabilities)},
      {CL_DEVICE_ATOMIC_FENCE_CAPABILITIES, sizeof(cl_device_atomic_capabilities)},
      {CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, sizeof(cl_bool)},
      {CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT, sizeof(cl_bool)},
      {CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT, sizeof(cl_bool)},
      {CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES, sizeof(cl_device_device_enqueue_capabilities)},
      {CL_DEVICE_PIPE_SUPPORT, sizeof(cl_bool)},
      {CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, sizeof(size_t)},
  };
  for (const cl_device_id each : devices()) {
    for (const auto& [name, expected] : sizes) {
      size_t size = 0;
      EXPECT_CL(::clGetDeviceInfo(each, name, 0, nullptr, &size)) << std::hex << name;
      EXPECT_EQ(expected, size) << std::hex << name;
      char value[16];
      EXPECT_CL(::clGetDeviceInfo(each, name, sizeof value, value, nullptr)) << std::hex << name;
    }
  }
}

TEST_F(clGetDeviceInfo, GivenStringNamesThenOneTerminatedString) {
  for (const cl_device_id each : devices()) {
    for (const cl_device_info name :
         {CL_DEVICE_NAME, CL_DEVICE_VENDOR, CL_DRIVER_VERSION, CL_DEVICE_PROFILE, CL_DEVICE_VERSION,
          CL_DEVICE_OPENCL_C_VERSION, CL_DEVICE_EXTENSIONS, CL_DEVICE_BUILT_IN_KERNELS, CL_DEVICE_IL_VERSION,
          CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED}) {
      size_t size = 0;
      ASSERT_CL(::clGetDeviceInfo(each, name, 0, nullptr, &size)) << std::hex << name;
      ASSERT_GE(size, 1U) << std::hex << name;
      std::vector<char> value(size, 'x');
      ASSERT_CL(::clGetDeviceInfo(each, name, size, value.data(), nullptr)) << std::hex << name;
      EXPECT_EQ(size, std::string(value.begin(), value.end()).find('\0') + 1) << std::hex << name;
    }
  }
}

TEST_F(clGetDeviceInfo, GivenScalarStringAndListThenSizeAndNameRulesHold) {
  for (const cl_device_info name :
       {CL_DEVICE_TYPE, CL_DEVICE_MAX_COMPUTE_UNITS, CL_DEVICE_NAME, CL_DEVICE_MAX_WORK_ITEM_SIZES,
        CL_DEVICE_EXTENSIONS_WITH_VERSION, CL_DEVICE_OPENCL_C_ALL_VERSIONS, CL_DEVICE_PLATFORM}) {
    SCOPED_TRACE(name);
    expect_info_rules(::clGetDeviceInfo, device, name);
  }
}

TEST_F(clGetDeviceInfo, GivenNullDeviceThenInvalidDevice) {
  cl_uint value = 0;
  EXPECT_EQ(CL_INVALID_DEVICE,
            ::clGetDeviceInfo(nullptr, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof value, &value, nullptr));
}

TEST_F(clGetDeviceInfo, GivenVersionThenItEqualsTheNumericVersion) {
  for (const cl_device_id each : devices()) {
    const auto text = get<std::string>(each, CL_DEVICE_VERSION);
    unsigned major = 0;
    unsigned minor = 0;
    ASSERT_EQ(2, std::sscanf(text.c_str(), "OpenCL %u.%u ", &major, &minor)) << text;
    EXPECT_NE(std::string::npos, text.find(' ', 7)) << "a space follows the version, as in 'OpenCL 3.0 '";
    const auto number = get<cl_version>(each, CL_DEVICE_NUMERIC_VERSION);
    EXPECT_EQ(major, CL_VERSION_MAJOR(number));
    EXPECT_EQ(minor, CL_VERSION_MINOR(number));
  }
}

TEST_F(clGetDeviceInfo, GivenOpenClCVersionsThenTheyAgree) {
  for (const cl_device_id each : devices()) {
    if (CL_VERSION_MAJOR(get<cl_version>(each, CL_DEVICE_NUMERIC_VERSION)) < 3) continue;
    if (!get<cl_bool>(each, CL_DEVICE_COMPILER_AVAILABLE)) continue;
    const auto text = get<std::string>(each, CL_DEVICE_OPENCL_C_VERSION);
    unsigned major = 0;
    unsigned minor = 0;
    ASSERT_EQ(2, std::sscanf(text.c_str(), "OpenCL C %u.%u ", &major, &minor)) << text;
    std::set<std::pair<unsigned, unsigned>> versions;
    for (const auto& entry : get<std::vector<cl_name_version>>(each, CL_DEVICE_OPENCL_C_ALL_VERSIONS)) {
      EXPECT_STREQ("OpenCL C", entry.name);
      versions.emplace(CL_VERSION_MAJOR(entry.version), CL_VERSION_MINOR(entry.version));
    }
    EXPECT_TRUE(versions.count({major, minor})) << text;
    EXPECT_TRUE(versions.count({3, 0}));
    EXPECT_TRUE(versions.count({1, 2}));
  }
}

TEST_F(clGetDeviceInfo, GivenVersionedListsThenTheyNameTheSameAsTheStrings) {
  for (const cl_device_id each : devices()) {
    using List = std::vector<cl_name_version>;
    EXPECT_EQ(split(get<std::string>(each, CL_DEVICE_EXTENSIONS), ' '),
              names(get<List>(each, CL_DEVICE_EXTENSIONS_WITH_VERSION)));
    EXPECT_EQ(split(get<std::string>(each, CL_DEVICE_BUILT_IN_KERNELS), ';'),
              names(get<List>(each, CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION)));
    EXPECT_EQ(split(get<std::string>(each, CL_DEVICE_IL_VERSION), ' ').size(),
              get<List>(each, CL_DEVICE_ILS_WITH_VERSION).size());
  }
}

TEST_F(clGetDeviceInfo, GivenExtensionsThenMandatoryOnesAreReported) {
  for (const cl_device_id each : devices()) {
    for (const char* name : {"cl_khr_byte_addressable_store", "cl_khr_global_int32_base_atomics",
                             "cl_khr_global_int32_extended_atomics", "cl_khr_local_int32_base_atomics",
                             "cl_khr_local_int32_extended_atomics"}) {
      EXPECT_TRUE(has_extension(each, name)) << name;
    }
  }
}

TEST_F(clGetDeviceInfo, GivenTypeThenOneTypeAndProfileIsKnown) {
  for (const cl_device_id each : devices()) {
    const auto type = get<cl_device_type>(each, CL_DEVICE_TYPE) & ~cl_device_type{CL_DEVICE_TYPE_DEFAULT};
    EXPECT_TRUE(type == CL_DEVICE_TYPE_CPU || type == CL_DEVICE_TYPE_GPU ||
                type == CL_DEVICE_TYPE_ACCELERATOR)
        << type;
    const auto profile = get<std::string>(each, CL_DEVICE_PROFILE);
    EXPECT_TRUE(profile == "FULL_PROFILE" || profile == "EMBEDDED_PROFILE") << profile;
    EXPECT_NE("", get<std::string>(each, CL_DEVICE_NAME));
    EXPECT_NE("", get<std::string>(each, CL_DEVICE_VENDOR));
    EXPECT_NE("", get<std::string>(each, CL_DRIVER_VERSION));
    EXPECT_TRUE(get<cl_bool>(each, CL_DEVICE_AVAILABLE));
  }
}

TEST_F(clGetDeviceInfo, GivenLimitsThenAtLeastTheMinimum) {
  for (const cl_device_id each : devices()) {
    const bool full = get<std::string>(each, CL_DEVICE_PROFILE) == "FULL_PROFILE";
    EXPECT_GE(get<cl_uint>(each, CL_DEVICE_MAX_COMPUTE_UNITS), 1U);
    EXPECT_GE(get<size_t>(each, CL_DEVICE_MAX_WORK_GROUP_SIZE), 1U);
    EXPECT_GE(get<size_t>(each, CL_DEVICE_MAX_PARAMETER_SIZE), full ? 1024U : 256U);
    const auto global = get<cl_ulong>(each, CL_DEVICE_GLOBAL_MEM_SIZE);
    const auto alloc = get<cl_ulong>(each, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    EXPECT_LE(alloc, global);
    EXPECT_GE(alloc, std::max<cl_ulong>(std::min<cl_ulong>(1ULL << 30, global / 4), 32ULL << 20));
    EXPECT_GE(get<cl_ulong>(each, CL_DEVICE_LOCAL_MEM_SIZE), full ? 32U << 10 : 1U << 10);
    EXPECT_GE(get<cl_ulong>(each, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE), full ? 64U << 10 : 1U << 10);
    EXPECT_GE(get<cl_uint>(each, CL_DEVICE_MAX_CONSTANT_ARGS), full ? 8U : 4U);
    EXPECT_GE(get<size_t>(each, CL_DEVICE_PRINTF_BUFFER_SIZE), full ? 1U << 20 : 1U << 10);
    const auto bits = get<cl_uint>(each, CL_DEVICE_ADDRESS_BITS);
    EXPECT_TRUE(bits == 32 || bits == 64) << bits;
    const auto align = get<cl_uint>(each, CL_DEVICE_MEM_BASE_ADDR_ALIGN);
    EXPECT_GE(align, full ? 1024U : 512U) << "the size of long16 in bits";
    EXPECT_EQ(0U, align & (align - 1)) << "a power of two";
    EXPECT_NE(0U, get<size_t>(each, CL_DEVICE_PROFILING_TIMER_RESOLUTION));
    EXPECT_GE(get<size_t>(each, CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE), 1U);
  }
}

TEST_F(clGetDeviceInfo, GivenWorkItemSizesThenOnePerDimension) {
  for (const cl_device_id each : devices()) {
    const auto dimensions = get<cl_uint>(each, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS);
    EXPECT_GE(dimensions, 3U);
    const auto sizes = get<std::vector<size_t>>(each, CL_DEVICE_MAX_WORK_ITEM_SIZES);
    EXPECT_EQ(dimensions, sizes.size());
    for (const size_t size : sizes) EXPECT_GE(size, 1U);
  }
}

TEST_F(clGetDeviceInfo, GivenEnumerationsThenKnownValues) {
  for (const cl_device_id each : devices()) {
    const auto cache = get<cl_device_mem_cache_type>(each, CL_DEVICE_GLOBAL_MEM_CACHE_TYPE);
    EXPECT_TRUE(cache == CL_NONE || cache == CL_READ_ONLY_CACHE || cache == CL_READ_WRITE_CACHE) << cache;
    const auto local = get<cl_device_local_mem_type>(each, CL_DEVICE_LOCAL_MEM_TYPE);
    EXPECT_TRUE(local == CL_LOCAL || local == CL_GLOBAL) << local;
    for (const cl_device_info name :
         {CL_DEVICE_IMAGE_SUPPORT, CL_DEVICE_ERROR_CORRECTION_SUPPORT, CL_DEVICE_HOST_UNIFIED_MEMORY,
          CL_DEVICE_ENDIAN_LITTLE, CL_DEVICE_AVAILABLE, CL_DEVICE_COMPILER_AVAILABLE,
          CL_DEVICE_LINKER_AVAILABLE, CL_DEVICE_PREFERRED_INTEROP_USER_SYNC,
          CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS, CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT,
          CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT, CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT,
          CL_DEVICE_PIPE_SUPPORT}) {
      EXPECT_LE(get<cl_bool>(each, name), cl_bool{CL_TRUE}) << std::hex << name;
    }
  }
}

TEST_F(clGetDeviceInfo, GivenCapabilitiesThenTheMandatoryOnesAreIncluded) {
  for (const cl_device_id each : devices()) {
    const auto single = get<cl_device_fp_config>(each, CL_DEVICE_SINGLE_FP_CONFIG);
    if (get<std::string>(each, CL_DEVICE_PROFILE) == "FULL_PROFILE") {
      EXPECT_EQ(CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN, single & (CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN));
      EXPECT_TRUE(get<cl_bool>(each, CL_DEVICE_COMPILER_AVAILABLE));
    }
    EXPECT_TRUE(get<cl_device_exec_capabilities>(each, CL_DEVICE_EXECUTION_CAPABILITIES) & CL_EXEC_KERNEL);
    EXPECT_TRUE(get<cl_command_queue_properties>(each, CL_DEVICE_QUEUE_ON_HOST_PROPERTIES) &
                CL_QUEUE_PROFILING_ENABLE);
    const cl_device_atomic_capabilities memory =
        CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP;
    EXPECT_EQ(memory,
              memory & get<cl_device_atomic_capabilities>(each, CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES));
    const cl_device_atomic_capabilities fence = memory | CL_DEVICE_ATOMIC_ORDER_ACQ_REL;
    EXPECT_EQ(fence, fence & get<cl_device_atomic_capabilities>(each, CL_DEVICE_ATOMIC_FENCE_CAPABILITIES));
    if (get<cl_bool>(each, CL_DEVICE_COMPILER_AVAILABLE)) {
      EXPECT_TRUE(get<cl_bool>(each, CL_DEVICE_LINKER_AVAILABLE));
    }
  }
}

TEST_F(clGetDeviceInfo, GivenDoubleAndHalfThenConfigWidthAndExtensionAgree) {
  for (const cl_device_id each : devices()) {
    const bool fp64 = has_extension(each, "cl_khr_fp64");
    EXPECT_EQ(fp64, get<cl_device_fp_config>(each, CL_DEVICE_DOUBLE_FP_CONFIG) != 0);
    EXPECT_EQ(fp64, get<cl_uint>(each, CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE) != 0);
    EXPECT_EQ(fp64, get<cl_uint>(each, CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE) != 0);
    const bool fp16 = has_extension(each, "cl_khr_fp16");
    EXPECT_EQ(fp16, get<cl_uint>(each, CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF) != 0);
    EXPECT_EQ(fp16, get<cl_uint>(each, CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF) != 0);
    if (fp16) {
      EXPECT_NE(0U, get<cl_device_fp_config>(each, CL_DEVICE_HALF_FP_CONFIG));
    }
  }
}

TEST_F(clGetDeviceInfo, GivenImagesThenLimitsAreSetOnlyWithThem) {
  for (const cl_device_id each : devices()) {
    const bool images = get<cl_bool>(each, CL_DEVICE_IMAGE_SUPPORT);
    for (const cl_device_info name : {CL_DEVICE_IMAGE2D_MAX_WIDTH, CL_DEVICE_IMAGE2D_MAX_HEIGHT,
                                      CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, CL_DEVICE_IMAGE_MAX_ARRAY_SIZE}) {
      EXPECT_EQ(images, get<size_t>(each, name) != 0) << std::hex << name;
    }
    for (const cl_device_info name :
         {CL_DEVICE_MAX_READ_IMAGE_ARGS, CL_DEVICE_MAX_WRITE_IMAGE_ARGS, CL_DEVICE_MAX_SAMPLERS}) {
      EXPECT_EQ(images, get<cl_uint>(each, name) != 0) << std::hex << name;
    }
    EXPECT_EQ(has_extension(each, "cl_khr_image2d_from_buffer"),
              get<cl_uint>(each, CL_DEVICE_IMAGE_PITCH_ALIGNMENT) != 0);
  }
}

TEST_F(clGetDeviceInfo, GivenFloatAtomicsThenTheirCapabilitiesAreKnown) {
  constexpr cl_device_info single_capabilities = 0x4231;  // not in older headers
  for (const cl_device_id each : devices()) {
    cl_bitfield capabilities = 0;
    const cl_int status =
        ::clGetDeviceInfo(each, single_capabilities, sizeof capabilities, &capabilities, nullptr);
    if (has_extension(each, "cl_ext_float_atomics"))
      EXPECT_EQ(CL_SUCCESS, status);
    else
      EXPECT_EQ(CL_INVALID_VALUE, status);
  }
}

TEST_F(clGetDeviceInfo, GivenRequiredSubGroupSizesThenKernelsMayRequireEachOfThem) {
  if (!has_extension(device, "cl_intel_required_subgroup_size"))
    GTEST_SKIP() << "kernels cannot require sizes of sub-groups";
  const auto sizes = get<std::vector<size_t>>(device, CL_DEVICE_SUB_GROUP_SIZES_INTEL);
  ASSERT_FALSE(sizes.empty());
  for (const size_t size : sizes) {
    const std::string source = "__attribute__((intel_reqd_sub_group_size(" + std::to_string(size) +
                               "))) kernel void k(global int* x) { *x = 1; }";
    const Program program = build(source.c_str());
    const Kernel k = kernel(program, "k");
    size_t compiled = 0;
    const cl_int status = ::clGetKernelSubGroupInfo(k, device, CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL, 0,
                                                    nullptr, sizeof compiled, &compiled, nullptr);
    if (status == CL_INVALID_VALUE && (get<cl_device_type>(device, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0)
      GTEST_SKIP() << "as PoCL 6, the driver has the extension, but does not know this query";
    ASSERT_EQ(CL_SUCCESS, status);
    EXPECT_EQ(size, compiled);
    cl_ulong spilled = 1;
    EXPECT_CL(clGetKernelWorkGroupInfo(k, device, CL_KERNEL_SPILL_MEM_SIZE_INTEL, sizeof spilled, &spilled,
                                       nullptr));
    EXPECT_EQ(0U, spilled);
  }
}

TEST_F(clGetDeviceInfo, GivenPipesThenLimitsAreZeroWithoutThem) {
  for (const cl_device_id each : devices()) {
    const bool pipes = get<cl_bool>(each, CL_DEVICE_PIPE_SUPPORT);
    for (const cl_device_info name :
         {CL_DEVICE_MAX_PIPE_ARGS, CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS, CL_DEVICE_PIPE_MAX_PACKET_SIZE}) {
      EXPECT_EQ(pipes, get<cl_uint>(each, name) != 0) << std::hex << name;
    }
  }
}

TEST_F(clGetDeviceInfo, GivenDeviceEnqueueThenLimitsAreZeroWithoutIt) {
  for (const cl_device_id each : devices()) {
    const bool enqueue =
        get<cl_device_device_enqueue_capabilities>(each, CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES) != 0;
    EXPECT_EQ(enqueue, get<cl_command_queue_properties>(each, CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES) != 0);
    for (const cl_device_info name :
         {CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE, CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE,
          CL_DEVICE_MAX_ON_DEVICE_QUEUES, CL_DEVICE_MAX_ON_DEVICE_EVENTS}) {
      EXPECT_EQ(enqueue, get<cl_uint>(each, name) != 0) << std::hex << name;
    }
  }
}

TEST_F(clGetDeviceInfo, GivenOpenClCFeaturesThenTheyAgreeWithTheCapabilities) {
  for (const cl_device_id each : devices()) {
    if (CL_VERSION_MAJOR(get<cl_version>(each, CL_DEVICE_NUMERIC_VERSION)) < 3) continue;
    const auto features = names(get<std::vector<cl_name_version>>(each, CL_DEVICE_OPENCL_C_FEATURES));
    const auto has = [&](const char* name) { return features.count(name) > 0; };
    EXPECT_EQ(get<cl_bool>(each, CL_DEVICE_IMAGE_SUPPORT) != 0, has("__opencl_c_images"));
    EXPECT_EQ(get<cl_device_fp_config>(each, CL_DEVICE_DOUBLE_FP_CONFIG) != 0, has("__opencl_c_fp64"));
    EXPECT_EQ(get<cl_bool>(each, CL_DEVICE_PIPE_SUPPORT) != 0, has("__opencl_c_pipes"));
    EXPECT_EQ(get<cl_bool>(each, CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT) != 0,
              has("__opencl_c_generic_address_space"));
    EXPECT_EQ(get<cl_bool>(each, CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT) != 0,
              has("__opencl_c_work_group_collective_functions"));
    EXPECT_EQ(get<size_t>(each, CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE) != 0,
              has("__opencl_c_program_scope_global_variables"));
    EXPECT_EQ(get<cl_uint>(each, CL_DEVICE_MAX_NUM_SUB_GROUPS) != 0, has("__opencl_c_subgroups"));
    EXPECT_EQ(get<cl_device_device_enqueue_capabilities>(each, CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES) != 0,
              has("__opencl_c_device_enqueue"));
    if (get<std::string>(each, CL_DEVICE_PROFILE) == "FULL_PROFILE") {
      EXPECT_TRUE(has("__opencl_c_int64"));
    }
    if (has("__opencl_c_read_write_images")) {
      EXPECT_NE(0U, get<cl_uint>(each, CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS));
    }
    for (const auto& entry : get<std::vector<cl_name_version>>(each, CL_DEVICE_OPENCL_C_FEATURES)) {
      EXPECT_EQ(0, std::string(entry.name).find("__opencl_c_")) << entry.name;
    }
  }
}

TEST_F(clGetDeviceInfo, GivenAllDevicesThenOnlyTheSameGpuOfTwoNodesHasTheSameUuid) {
  using Uuid = std::array<cl_uchar, CL_UUID_SIZE_KHR>;
  const auto name = info<std::string>(::clGetPlatformInfo, platform(), CL_PLATFORM_NAME);
  std::map<Uuid, cl_device_id> seen;
  for (const cl_device_id each : devices()) {
    if (!has_extension(each, "cl_khr_device_uuid") && name != "Clique")
      GTEST_SKIP() << "the native driver has no UUIDs";
    ASSERT_TRUE(has_extension(each, "cl_khr_device_uuid"));
    const auto bytes = get<std::vector<cl_uchar>>(each, CL_DEVICE_UUID_KHR);
    Uuid uuid{};
    ASSERT_EQ(uuid.size(), bytes.size());
    std::copy(bytes.begin(), bytes.end(), uuid.begin());
    EXPECT_NE(Uuid{}, uuid);
    const auto [earlier, is_new] = seen.try_emplace(uuid, each);
    if (!is_new) {
      // Nodes on one host may offer the same GPU.
      ASSERT_TRUE(has_extension(each, "cl_khr_pci_bus_info"));
      EXPECT_NE(get<std::string>(earlier->second, CL_DRIVER_VERSION),
                get<std::string>(each, CL_DRIVER_VERSION));
      EXPECT_EQ(get<std::vector<cl_uchar>>(earlier->second, CL_DEVICE_PCI_BUS_INFO_KHR),
                get<std::vector<cl_uchar>>(each, CL_DEVICE_PCI_BUS_INFO_KHR));
    }
    EXPECT_EQ(size_t{CL_UUID_SIZE_KHR}, get<std::vector<cl_uchar>>(each, CL_DRIVER_UUID_KHR).size());
    EXPECT_LE(get<cl_bool>(each, CL_DEVICE_LUID_VALID_KHR), cl_bool{CL_TRUE});
    EXPECT_EQ(size_t{CL_LUID_SIZE_KHR}, get<std::vector<cl_uchar>>(each, CL_DEVICE_LUID_KHR).size());
    get<cl_uint>(each, CL_DEVICE_NODE_MASK_KHR);
  }
}

TEST_F(clGetDeviceInfo, GivenRootDeviceThenNoParentAndOneReference) {
  for (const cl_device_id each : devices()) {
    EXPECT_EQ(nullptr, get<cl_device_id>(each, CL_DEVICE_PARENT_DEVICE));
    EXPECT_EQ(1U, get<cl_uint>(each, CL_DEVICE_REFERENCE_COUNT));
    const auto type = get<std::vector<cl_device_partition_property>>(each, CL_DEVICE_PARTITION_TYPE);
    EXPECT_TRUE(type.empty() || type == std::vector<cl_device_partition_property>{0});
  }
}

TEST_F(clGetDeviceInfo, GivenPartitioningThenSchemesAndMaximumAgree) {
  for (const cl_device_id each : devices()) {
    const auto schemes = get<std::vector<cl_device_partition_property>>(each, CL_DEVICE_PARTITION_PROPERTIES);
    ASSERT_FALSE(schemes.empty()) << "one 0 where the device cannot be partitioned";
    for (const auto scheme : schemes) {
      EXPECT_TRUE(scheme == 0 || scheme == CL_DEVICE_PARTITION_EQUALLY ||
                  scheme == CL_DEVICE_PARTITION_BY_COUNTS || scheme == CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN)
          << scheme;
    }
    if (schemes.front() == 0) {
      EXPECT_EQ(0U, get<cl_device_affinity_domain>(each, CL_DEVICE_PARTITION_AFFINITY_DOMAIN));
    }
    EXPECT_LE(get<cl_uint>(each, CL_DEVICE_PARTITION_MAX_SUB_DEVICES),
              get<cl_uint>(each, CL_DEVICE_MAX_COMPUTE_UNITS));
  }
}

}  // namespace clique::test::suite_clGetDeviceInfo
