// clSetKernelExecInfo: OpenCL 3.0, section 5.9.2.
#include "helpers.hpp"

namespace clique::test {

class clSetKernelExecInfo : public ApiTest {
 protected:
  static bool supported() {
    return std::any_of(devices().begin(), devices().end(), [](cl_device_id one) {
      return info<cl_device_svm_capabilities>(clGetDeviceInfo, one, CL_DEVICE_SVM_CAPABILITIES) != 0;
    });
  }
};

TEST_F(clSetKernelExecInfo, GivenNoDeviceWithSvmThenInvalidOperation) {
  if (supported()) GTEST_SKIP() << "a device has shared virtual memory";
  const Program program = build("kernel void k(global int* data) {}");
  const Kernel k = kernel(program, "k");
  int data = 0;
  void* pointers[] = {&data};
  EXPECT_EQ(CL_INVALID_OPERATION,
            ::clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof pointers, pointers));
}

TEST_F(clSetKernelExecInfo, GivenNoValueOrWrongSizeThenInvalidValue) {
  if (!supported()) GTEST_SKIP() << "no device has shared virtual memory";
  const Program program = build("kernel void k(global int* data) {}");
  const Kernel k = kernel(program, "k");
  void* pointers[] = {nullptr};
  EXPECT_EQ(CL_INVALID_VALUE,
            ::clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof pointers, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, ::clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_PTRS, 0, pointers));
  EXPECT_EQ(CL_INVALID_VALUE, ::clSetKernelExecInfo(k, 0x7FFF, sizeof pointers, pointers));
}

TEST_F(clSetKernelExecInfo, GivenNullKernelThenInvalidKernel) {
  void* pointers[] = {nullptr};
  EXPECT_EQ(CL_INVALID_KERNEL,
            ::clSetKernelExecInfo(nullptr, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof pointers, pointers));
}

}  // namespace clique::test
