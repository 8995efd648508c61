// clSetKernelExecInfo: OpenCL 3.0, section 5.9.2.
#include "svm.hpp"

namespace clique::test::suite_clSetKernelExecInfo {

class clSetKernelExecInfo : public SvmTest {
 protected:
  void SetUp() override {
    SvmTest::SetUp();
    if (IsSkipped()) return;
    program = build(
        "struct Pair { global int* a; global int* b; };"
        "kernel void add(global struct Pair* pair) { *pair->a += 1; *pair->b += 10; }");
    k = kernel(program, "add");
  }
  cl_int name(const std::vector<const void*>& pointers) {
    return ::clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_PTRS, pointers.size() * sizeof(void*),
                                 pointers.empty() ? nullptr : pointers.data());
  }
  struct Pair {
    cl_int* a;
    cl_int* b;
  };
  Program program;
  Kernel k;
};

TEST_F(clSetKernelExecInfo, GivenNamedAllocationsThenKernelsOfAllDevicesReachThem) {
  const auto pair = allocate<Pair>(1);
  const auto a = allocate<cl_int>(10);
  const auto b = allocate<cl_int>(10);
  write(pair.get(), {{a.get() + 1, b.get() + 2}});
  write(a.get(), numbers(10));
  write(b.get(), numbers(10));
  EXPECT_CL(clSetKernelArgSVMPointer(k, 0, pair.get()));
  ASSERT_CL(name({a.get(), b.get() + 5, a.get() + 1}));
  for (size_t i = 0; i < with_svm.size(); ++i) {
    const Queue on = make_queue(0, with_svm[i]);
    EXPECT_CL(launch(on, k, 1));
    EXPECT_CL(clFinish(on));
    EXPECT_EQ((std::vector<cl_int>{1, 3 + static_cast<cl_int>(i), 3}), read_svm(a.get(), 3));
    EXPECT_EQ((std::vector<cl_int>{1, 2, 13 + 10 * static_cast<cl_int>(i)}), read_svm(b.get(), 3));
  }
}

TEST_F(clSetKernelExecInfo, GivenListAfterListThenTheLastCounts) {
  const auto pair = allocate<Pair>(1);
  const auto a = allocate<cl_int>(1);
  auto* gone = static_cast<cl_int*>(clSVMAlloc(context, CL_MEM_READ_WRITE, 64, 0));
  write(pair.get(), {{a.get(), a.get()}});
  write(a.get(), {0});
  EXPECT_CL(clSetKernelArgSVMPointer(k, 0, pair.get()));
  EXPECT_CL(name({gone}));
  EXPECT_CL(name({}));
  EXPECT_CL(name({a.get(), gone}));
  clSVMFree(context, gone);  // no kernel can access it any more
  EXPECT_CL(launch(queue, k, 1));
  EXPECT_EQ(std::vector<cl_int>{11}, read_svm(a.get(), 1));
}

TEST_F(clSetKernelExecInfo, GivenNoValueOrWrongSizeThenInvalidValue) {
  const auto data = allocate<cl_int>(1);
  void* pointers[] = {data.get()};
  int other = 0;
  EXPECT_EQ(CL_INVALID_VALUE,
            ::clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof pointers, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, ::clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_PTRS, 0, pointers));
  EXPECT_EQ(CL_INVALID_VALUE, ::clSetKernelExecInfo(k, CL_KERNEL_EXEC_INFO_SVM_PTRS, 7, pointers));
  EXPECT_EQ(CL_INVALID_VALUE, ::clSetKernelExecInfo(k, 0x7FFF, sizeof pointers, pointers));
  EXPECT_EQ(CL_INVALID_VALUE, name({data.get(), &other}));
  EXPECT_EQ(CL_INVALID_VALUE, name({nullptr}));
}

TEST_F(clSetKernelExecInfo, GivenFineGrainSystemThatNoDeviceHasThenInvalidOperation) {
  for (const cl_device_id each : devices())
    if ((info<cl_device_svm_capabilities>(clGetDeviceInfo, each, CL_DEVICE_SVM_CAPABILITIES) &
         CL_DEVICE_SVM_FINE_GRAIN_SYSTEM) != 0)
      GTEST_SKIP() << "a device uses all of the host's memory";
  const cl_bool yes = CL_TRUE;
  const cl_bool no = CL_FALSE;
  constexpr auto kSystem = CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM;
  EXPECT_EQ(CL_INVALID_OPERATION, ::clSetKernelExecInfo(k, kSystem, sizeof yes, &yes));
  EXPECT_CL(::clSetKernelExecInfo(k, kSystem, sizeof no, &no));
  EXPECT_EQ(CL_INVALID_VALUE, ::clSetKernelExecInfo(k, kSystem, 1, &no));
  EXPECT_EQ(CL_INVALID_VALUE, ::clSetKernelExecInfo(k, kSystem, sizeof no, nullptr));
}

TEST_F(clSetKernelExecInfo, GivenNullKernelThenInvalidKernel) {
  void* pointers[] = {nullptr};
  EXPECT_EQ(CL_INVALID_KERNEL,
            ::clSetKernelExecInfo(nullptr, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof pointers, pointers));
}

}  // namespace clique::test::suite_clSetKernelExecInfo
