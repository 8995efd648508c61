// Platforms without shared virtual memory: OpenCL 3.0, section 5.6.
#include "svm.hpp"

namespace clique::test::suite_without_svm {

class WithoutSvm : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    for (const cl_device_id each : devices())
      if (has_svm(each)) GTEST_SKIP() << "a device has shared virtual memory";
  }
  std::vector<unsigned char> memory = std::vector<unsigned char>(64, 0xA5);
};

TEST_F(WithoutSvm, GivenAllocationThenNull) {
  EXPECT_EQ(nullptr, ::clSVMAlloc(context, CL_MEM_READ_WRITE, 64, 0));
  EXPECT_EQ(nullptr, ::clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, 64, 0));
}

TEST_F(WithoutSvm, GivenFreeThenNothingHappens) {
  ::clSVMFree(context, nullptr);
  ::clSVMFree(context, memory.data());
  EXPECT_EQ(std::vector<unsigned char>(64, 0xA5), memory);
}

TEST_F(WithoutSvm, GivenBufferOverHostMemoryThenItUsesNoSvmPointer) {
  cl_int err = CL_SUCCESS;
  const Mem mem(clCreateBuffer(context, CL_MEM_USE_HOST_PTR, memory.size(), memory.data(), &err));
  ASSERT_EQ(CL_SUCCESS, err);
  EXPECT_EQ(cl_bool{CL_FALSE}, info<cl_bool>(clGetMemObjectInfo, mem.get(), CL_MEM_USES_SVM_POINTER));
}

TEST_F(WithoutSvm, GivenCommandThenInvalidOperationAndNothingHappens) {
  void* pointers[] = {memory.data()};
  const void* constant_pointers[] = {memory.data()};
  const cl_int pattern = 1;
  unsigned char target[64] = {};
  for (const cl_device_id each : devices()) {
    const Queue on = make_queue(0, each);
    EXPECT_EQ(CL_INVALID_OPERATION,
              ::clEnqueueSVMFree(on, 1, pointers, nullptr, nullptr, 0, nullptr, nullptr));
    EXPECT_EQ(CL_INVALID_OPERATION,
              ::clEnqueueSVMMap(on, CL_TRUE, CL_MAP_READ, memory.data(), 64, 0, nullptr, nullptr));
    EXPECT_EQ(CL_INVALID_OPERATION, ::clEnqueueSVMUnmap(on, memory.data(), 0, nullptr, nullptr));
    EXPECT_EQ(CL_INVALID_OPERATION,
              ::clEnqueueSVMMemFill(on, memory.data(), &pattern, sizeof pattern, 64, 0, nullptr, nullptr));
    EXPECT_EQ(CL_INVALID_OPERATION,
              ::clEnqueueSVMMemcpy(on, CL_TRUE, target, memory.data(), 64, 0, nullptr, nullptr));
    EXPECT_EQ(CL_INVALID_OPERATION,
              ::clEnqueueSVMMigrateMem(on, 1, constant_pointers, nullptr, 0, 0, nullptr, nullptr));
    EXPECT_CL(clFinish(on));
  }
  EXPECT_EQ(std::vector<unsigned char>(64, 0xA5), memory);
}

TEST_F(WithoutSvm, GivenKernelThenInvalidOperation) {
  const Program program = build("kernel void k(global int* data) {}");
  const Kernel k = kernel(program, "k");
  void* pointers[] = {memory.data()};
  EXPECT_EQ(CL_INVALID_OPERATION, ::clSetKernelArgSVMPointer(k, 0, memory.data()));
  EXPECT_EQ(CL_INVALID_OPERATION,
            ::clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof pointers, pointers));
}

}  // namespace clique::test::suite_without_svm
