// What the tests of cl_intel_unified_shared_memory (USM) have in common.
#pragma once

#include <CL/cl_ext.h>

#include "svm.hpp"

namespace clique::test {

class UsmTest : public SvmTest {
 protected:
  static constexpr cl_bitfield kNoFlags = 0;

  /// The extension's function of that name.
  template <typename Function>
  static Function* function(const char* name) {
    return reinterpret_cast<Function*>(::clGetExtensionFunctionAddressForPlatform(platform(), name));
  }
  using Allocate = void* CL_API_CALL(cl_context, cl_device_id, const cl_properties*, size_t, cl_uint,
                                     cl_int*);
  using Free = cl_int CL_API_CALL(cl_context, void*);

  void SetUp() override {
    SvmTest::SetUp();
    if (IsSkipped()) return;
    const std::string extensions = info<std::string>(clGetDeviceInfo, device, CL_DEVICE_EXTENSIONS);
    if (extensions.find("cl_intel_unified_shared_memory") == std::string::npos)
      GTEST_SKIP() << "the device has no cl_intel_unified_shared_memory";
    device_alloc = function<Allocate>("clDeviceMemAllocINTEL");
    shared_alloc = function<Allocate>("clSharedMemAllocINTEL");
    host_alloc = function<void * CL_API_CALL(cl_context, const cl_properties*, size_t, cl_uint, cl_int*)>(
        "clHostMemAllocINTEL");
    free = function<Free>("clMemFreeINTEL");
    blocking_free = function<Free>("clMemBlockingFreeINTEL");
    alloc_info = function<cl_int CL_API_CALL(cl_context, const void*, cl_uint, size_t, void*, size_t*)>(
        "clGetMemAllocInfoINTEL");
    set_arg = function<cl_int CL_API_CALL(cl_kernel, cl_uint, const void*)>("clSetKernelArgMemPointerINTEL");
    fill = function<cl_int CL_API_CALL(cl_command_queue, void*, const void*, size_t, size_t, cl_uint,
                                       const cl_event*, cl_event*)>("clEnqueueMemFillINTEL");
    copy = function<cl_int CL_API_CALL(cl_command_queue, cl_bool, void*, const void*, size_t, cl_uint,
                                       const cl_event*, cl_event*)>("clEnqueueMemcpyINTEL");
    migrate = function<cl_int CL_API_CALL(cl_command_queue, const void*, size_t, cl_mem_migration_flags,
                                          cl_uint, const cl_event*, cl_event*)>("clEnqueueMigrateMemINTEL");
    advise = function<cl_int CL_API_CALL(cl_command_queue, const void*, size_t, cl_uint, cl_uint,
                                         const cl_event*, cl_event*)>("clEnqueueMemAdviseINTEL");
    for (const void* found :
         {reinterpret_cast<void*>(device_alloc), reinterpret_cast<void*>(shared_alloc),
          reinterpret_cast<void*>(host_alloc), reinterpret_cast<void*>(free),
          reinterpret_cast<void*>(blocking_free), reinterpret_cast<void*>(alloc_info),
          reinterpret_cast<void*>(set_arg), reinterpret_cast<void*>(fill), reinterpret_cast<void*>(copy),
          reinterpret_cast<void*>(migrate), reinterpret_cast<void*>(advise)})
      ASSERT_NE(nullptr, found);
  }

  /// An allocation that is freed with this pointer.
  template <typename T>
  using Allocation = std::unique_ptr<T[], std::function<void(T*)>>;

  /// A device allocation of `count` elements.
  template <typename T>
  Allocation<T> on_device(size_t count) {
    cl_int err = -1;
    void* const memory = device_alloc(context, device, nullptr, count * sizeof(T), 0, &err);
    return owned<T>(memory, err);
  }
  /// A device with host and shared allocations, for which the test's queue is then; the test is skipped if
  /// there is none.
  void use_mapping_device() {
    for (const cl_device_id each : with_svm) {
      if (!maps_host_memory(each)) continue;
      device = each;
      queue = make_queue(0, device);
      return;
    }
    GTEST_SKIP() << "no device has host and shared allocations";
  }
  static bool maps_host_memory(cl_device_id of) {
    return info<cl_bitfield>(clGetDeviceInfo, of, CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL) != 0;
  }
  /// Host allocations, as on_device().
  template <typename T>
  Allocation<T> on_host(size_t count) {
    cl_int err = -1;
    void* const memory = host_alloc(context, nullptr, count * sizeof(T), 0, &err);
    return owned<T>(memory, err);
  }
  /// Shared allocations of `device`, as on_device().
  template <typename T>
  Allocation<T> shared(size_t count) {
    cl_int err = -1;
    void* const memory = shared_alloc(context, device, nullptr, count * sizeof(T), 0, &err);
    return owned<T>(memory, err);
  }
  /// What a function has allocated, and its error code, which must be CL_SUCCESS.
  template <typename T>
  Allocation<T> owned(void* memory, cl_int err) {
    EXPECT_EQ(CL_SUCCESS, err);
    EXPECT_NE(nullptr, memory);
    return {static_cast<T*>(memory), [this](T* pointer) { EXPECT_CL(free(context, pointer)); }};
  }
  /// Allocates, and expects this error.
  void expect_refused(cl_int expected, cl_context in, cl_device_id of, const cl_properties* properties,
                      size_t size, cl_uint alignment) const {
    cl_int err = CL_SUCCESS;
    EXPECT_EQ(nullptr, device_alloc(in, of, properties, size, alignment, &err));
    EXPECT_EQ(expected, err);
  }
  template <typename T>
  std::vector<T> read_usm(const T* from, size_t count) {
    std::vector<T> data(count);
    EXPECT_CL(copy(queue, CL_TRUE, data.data(), from, count * sizeof(T), 0, nullptr, nullptr));
    return data;
  }
  template <typename T>
  void write_usm(T* to, const std::vector<T>& data) {
    EXPECT_CL(copy(queue, CL_TRUE, to, data.data(), data.size() * sizeof(T), 0, nullptr, nullptr));
  }
  template <typename T>
  T alloc_value(const void* pointer, cl_uint name) {
    T value{};
    size_t size = 0;
    EXPECT_CL(alloc_info(context, pointer, name, sizeof value, &value, &size));
    EXPECT_EQ(sizeof value, size);
    return value;
  }

  Allocate* device_alloc = nullptr;
  Allocate* shared_alloc = nullptr;
  void*(CL_API_CALL* host_alloc)(cl_context, const cl_properties*, size_t, cl_uint, cl_int*) = nullptr;
  Free* free = nullptr;
  Free* blocking_free = nullptr;
  cl_int(CL_API_CALL* alloc_info)(cl_context, const void*, cl_uint, size_t, void*, size_t*) = nullptr;
  cl_int(CL_API_CALL* set_arg)(cl_kernel, cl_uint, const void*) = nullptr;
  cl_int(CL_API_CALL* fill)(cl_command_queue, void*, const void*, size_t, size_t, cl_uint, const cl_event*,
                            cl_event*) = nullptr;
  cl_int(CL_API_CALL* copy)(cl_command_queue, cl_bool, void*, const void*, size_t, cl_uint, const cl_event*,
                            cl_event*) = nullptr;
  cl_int(CL_API_CALL* migrate)(cl_command_queue, const void*, size_t, cl_mem_migration_flags, cl_uint,
                               const cl_event*, cl_event*) = nullptr;
  cl_int(CL_API_CALL* advise)(cl_command_queue, const void*, size_t, cl_uint, cl_uint, const cl_event*,
                              cl_event*) = nullptr;
};

}  // namespace clique::test
