// clSetKernelArgSVMPointer: OpenCL 3.0, section 5.9.2.
#include "helpers.hpp"

namespace clique::test {

class clSetKernelArgSVMPointer : public ApiTest {
 protected:
  static constexpr char source[] = "kernel void k(global int* data, int value) { *data += value; }";

  static bool supported() {
    return std::any_of(devices().begin(), devices().end(), [](cl_device_id one) {
      return info<cl_device_svm_capabilities>(clGetDeviceInfo, one, CL_DEVICE_SVM_CAPABILITIES) != 0;
    });
  }
};

TEST_F(clSetKernelArgSVMPointer, GivenNoDeviceWithSvmThenInvalidOperation) {
  if (supported()) GTEST_SKIP() << "a device has shared virtual memory";
  const Program program = build(source);
  const Kernel k = kernel(program, "k");
  int data = 0;
  EXPECT_EQ(CL_INVALID_OPERATION, ::clSetKernelArgSVMPointer(k, 0, &data));
}

TEST_F(clSetKernelArgSVMPointer, GivenSvmThenKernelUsesIt) {
  if (!supported()) GTEST_SKIP() << "no device has shared virtual memory";
  const Program program = build(source);
  const Kernel k = kernel(program, "k");
  auto* data = static_cast<int*>(clSVMAlloc(context, CL_MEM_READ_WRITE, sizeof(int), 0));
  ASSERT_NE(nullptr, data);
  const int five = 5;
  EXPECT_CL(clEnqueueSVMMemFill(queue, data, &five, sizeof five, sizeof five, 0, nullptr, nullptr));
  EXPECT_CL(::clSetKernelArgSVMPointer(k, 0, data));
  EXPECT_CL(clSetKernelArg(k, 1, sizeof five, &five));
  EXPECT_CL(launch(queue, k, 1));
  int result = 0;
  EXPECT_CL(clEnqueueSVMMemcpy(queue, CL_TRUE, &result, data, sizeof result, 0, nullptr, nullptr));
  EXPECT_EQ(10, result);
  clSVMFree(context, data);
}

TEST_F(clSetKernelArgSVMPointer, GivenIndexBeyondArgumentsThenInvalidArgIndex) {
  if (!supported()) GTEST_SKIP() << "no device has shared virtual memory";
  const Program program = build(source);
  const Kernel k = kernel(program, "k");
  void* data = clSVMAlloc(context, CL_MEM_READ_WRITE, sizeof(int), 0);
  EXPECT_EQ(CL_INVALID_ARG_INDEX, ::clSetKernelArgSVMPointer(k, 2, data));
  clSVMFree(context, data);
}

TEST_F(clSetKernelArgSVMPointer, GivenNullKernelThenInvalidKernel) {
  EXPECT_EQ(CL_INVALID_KERNEL, ::clSetKernelArgSVMPointer(nullptr, 0, nullptr));
}

}  // namespace clique::test
