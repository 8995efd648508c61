// What the tests of shared virtual memory (SVM) have in common.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <numeric>

#include "checks.hpp"

namespace clique::test {

inline bool has_svm(cl_device_id device) {
  return (info<cl_device_svm_capabilities>(clGetDeviceInfo, device, CL_DEVICE_SVM_CAPABILITIES) &
          CL_DEVICE_SVM_COARSE_GRAIN_BUFFER) != 0;
}

class SvmTest : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    for (const cl_device_id each : devices())
      if (has_svm(each)) with_svm.push_back(each);
    if (with_svm.empty()) GTEST_SKIP() << "no device has shared virtual memory";
    device = with_svm.front();
    queue = make_queue(0, device);
  }

  /// Shared memory for `count` elements, which is freed with the returned pointer.
  template <typename T>
  std::unique_ptr<T[], std::function<void(T*)>> allocate(size_t count,
                                                         cl_svm_mem_flags flags = CL_MEM_READ_WRITE) {
    auto* memory = static_cast<T*>(::clSVMAlloc(context, flags, count * sizeof(T), 0));
    EXPECT_NE(nullptr, memory);
    return {memory, [this](T* pointer) { ::clSVMFree(context, pointer); }};
  }
  /// Copies `data` to the shared memory at `to`, on the device.
  template <typename T>
  void write(T* to, const std::vector<T>& data) {
    EXPECT_CL(
        ::clEnqueueSVMMemcpy(queue, CL_TRUE, to, data.data(), data.size() * sizeof(T), 0, nullptr, nullptr));
  }
  /// The `count` elements at `from`, as the device of `on` (by default the test's queue) sees them.
  template <typename T>
  std::vector<T> read_svm(const T* from, size_t count, cl_command_queue on = nullptr) {
    std::vector<T> data(count);
    EXPECT_CL(::clEnqueueSVMMemcpy(on != nullptr ? on : queue.get(), CL_TRUE, data.data(), from,
                                   count * sizeof(T), 0, nullptr, nullptr));
    return data;
  }
  static std::vector<cl_int> numbers(size_t count, cl_int first = 1) {
    std::vector<cl_int> result(count);
    std::iota(result.begin(), result.end(), first);
    return result;
  }

  std::vector<cl_device_id> with_svm;
};

}  // namespace clique::test
