// clEnqueueNativeKernel: OpenCL 3.0, section 5.10.
#include "helpers.hpp"

namespace clique::test::suite_clEnqueueNativeKernel {

class clEnqueueNativeKernel : public ApiTest {
 protected:
  struct Arguments {
    int* from;
    int* to;
  };

  bool supported() {
    return (info<cl_device_exec_capabilities>(clGetDeviceInfo, device, CL_DEVICE_EXECUTION_CAPABILITIES) &
            CL_EXEC_NATIVE_KERNEL) != 0;
  }
  static void CL_CALLBACK add(void* data) {
    const auto* arguments = static_cast<Arguments*>(data);
    *arguments->to += *arguments->from;
  }
};

TEST_F(clEnqueueNativeKernel, GivenDeviceThatCannotThenInvalidOperation) {
  if (supported()) GTEST_SKIP() << "the device runs native kernels";
  Arguments arguments = {};
  EXPECT_EQ(CL_INVALID_OPERATION, ::clEnqueueNativeKernel(queue, add, &arguments, sizeof arguments, 0,
                                                          nullptr, nullptr, 0, nullptr, nullptr));
}

TEST_F(clEnqueueNativeKernel, GivenArgumentsThenFunctionRunsOnACopyOfThem) {
  if (!supported()) GTEST_SKIP() << "the device runs no native kernels";
  int from = 2;
  int to = 40;
  Arguments arguments = {&from, &to};
  Gate gate(context);
  ASSERT_CL(::clEnqueueNativeKernel(queue, add, &arguments, sizeof arguments, 0, nullptr, nullptr, 1,
                                    gate.ptr(), nullptr));
  arguments = {};
  gate.open();
  ASSERT_CL(clFinish(queue));
  EXPECT_EQ(42, to);
}

TEST_F(clEnqueueNativeKernel, GivenArgumentsThatDisagreeThenInvalidValue) {
  if (!supported()) GTEST_SKIP() << "the device runs no native kernels";
  Arguments arguments = {};
  const Mem mem = buffer<int>(1);
  const void* place = &arguments.from;
  const auto enqueue = [&](void(CL_CALLBACK * function)(void*), void* data, size_t size, cl_uint count,
                           const cl_mem* mems, const void** places) {
    return ::clEnqueueNativeKernel(queue, function, data, size, count, mems, places, 0, nullptr, nullptr);
  };
  EXPECT_EQ(CL_INVALID_VALUE, enqueue(nullptr, &arguments, sizeof arguments, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, enqueue(add, nullptr, sizeof arguments, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, enqueue(add, &arguments, 0, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, enqueue(add, nullptr, 0, 1, mem.ptr(), &place));
  EXPECT_EQ(CL_INVALID_VALUE, enqueue(add, &arguments, sizeof arguments, 1, nullptr, &place));
  EXPECT_EQ(CL_INVALID_VALUE, enqueue(add, &arguments, sizeof arguments, 1, mem.ptr(), nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, enqueue(add, &arguments, sizeof arguments, 0, mem.ptr(), nullptr));
}

TEST_F(clEnqueueNativeKernel, GivenNullQueueThenInvalidCommandQueue) {
  Arguments arguments = {};
  EXPECT_EQ(CL_INVALID_COMMAND_QUEUE, ::clEnqueueNativeKernel(nullptr, add, &arguments, sizeof arguments, 0,
                                                              nullptr, nullptr, 0, nullptr, nullptr));
}

}  // namespace clique::test::suite_clEnqueueNativeKernel
