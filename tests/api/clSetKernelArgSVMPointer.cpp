// clSetKernelArgSVMPointer: OpenCL 3.0, section 5.9.2.
#include "svm.hpp"

namespace clique::test::suite_clSetKernelArgSVMPointer {

class clSetKernelArgSVMPointer : public SvmTest {
 protected:
  void SetUp() override {
    SvmTest::SetUp();
    if (IsSkipped()) return;
    program = build(
        "kernel void k(global int* data, int value) { if (data) *data += value; }"
        "kernel void other(local int* l, constant int* c, global int* out) { *l = *c; *out = *l; }");
    k = kernel(program, "k");
    const int five = 5;
    EXPECT_CL(clSetKernelArg(k, 1, sizeof five, &five));
  }
  Program program;
  Kernel k;
};

TEST_F(clSetKernelArgSVMPointer, GivenPointerAnywhereInAllocationThenKernelGetsIt) {
  const auto data = allocate<cl_int>(3);
  write(data.get(), {1, 2, 3});
  for (int i = 0; i < 3; ++i) {
    EXPECT_CL(::clSetKernelArgSVMPointer(k, 0, data.get() + i));
    EXPECT_CL(launch(queue, k, 1));
  }
  EXPECT_EQ((std::vector<cl_int>{6, 7, 8}), read_svm(data.get(), 3));
}

TEST_F(clSetKernelArgSVMPointer, GivenOtherKindsOfArgumentsInBetweenThenTheLastCounts) {
  const auto data = allocate<cl_int>(1);
  write(data.get(), {1});
  const cl_int hundred = 100;
  const Mem mem = buffer(1, &hundred);
  for (int i = 0; i < 2; ++i) {
    EXPECT_CL(clSetKernelArg(k, 0, sizeof(cl_mem), mem.ptr()));
    EXPECT_CL(launch(queue, k, 1));
    EXPECT_CL(::clSetKernelArgSVMPointer(k, 0, data.get()));
    EXPECT_CL(launch(queue, k, 1));
    EXPECT_CL(::clSetKernelArgSVMPointer(k, 0, nullptr));
    EXPECT_CL(launch(queue, k, 1));
  }
  EXPECT_EQ(std::vector<cl_int>{11}, read_svm(data.get(), 1));
  EXPECT_EQ(std::vector<cl_int>{110}, read<cl_int>(mem, 1));
}

TEST_F(clSetKernelArgSVMPointer, GivenConstantMemoryThenKernelReadsIt) {
  const Kernel other = kernel(program, "other");
  const auto data = allocate<cl_int>(2, CL_MEM_READ_ONLY);
  const auto out = allocate<cl_int>(1);
  write(data.get(), {1, 2});
  EXPECT_CL(clSetKernelArg(other, 0, sizeof(cl_int), nullptr));
  EXPECT_CL(::clSetKernelArgSVMPointer(other, 1, data.get() + 1));
  EXPECT_CL(::clSetKernelArgSVMPointer(other, 2, out.get()));
  EXPECT_CL(launch(queue, other, 1));
  EXPECT_EQ(std::vector<cl_int>{2}, read_svm(out.get(), 1));
}

TEST_F(clSetKernelArgSVMPointer, GivenCloneThenItHasThePointer) {
  const auto data = allocate<cl_int>(1);
  write(data.get(), {1});
  EXPECT_CL(::clSetKernelArgSVMPointer(k, 0, data.get()));
  cl_int err = CL_SUCCESS;
  const Kernel clone(clCloneKernel(k, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  EXPECT_CL(launch(queue, clone, 1));
  EXPECT_EQ(std::vector<cl_int>{6}, read_svm(data.get(), 1));
}

TEST_F(clSetKernelArgSVMPointer, GivenIndexBeyondArgumentsThenInvalidArgIndex) {
  const auto data = allocate<cl_int>(1);
  EXPECT_EQ(CL_INVALID_ARG_INDEX, ::clSetKernelArgSVMPointer(k, 2, data.get()));
}

TEST_F(clSetKernelArgSVMPointer, GivenOtherPointerOrArgumentThenInvalidArgValue) {
  const auto data = allocate<cl_int>(1);
  int other = 0;
  EXPECT_EQ(CL_INVALID_ARG_VALUE, ::clSetKernelArgSVMPointer(k, 0, &other));
  EXPECT_EQ(CL_INVALID_ARG_VALUE, ::clSetKernelArgSVMPointer(k, 0, data.get() + 1));
  EXPECT_EQ(CL_INVALID_ARG_VALUE, ::clSetKernelArgSVMPointer(k, 1, data.get()));
  EXPECT_EQ(CL_INVALID_ARG_VALUE, ::clSetKernelArgSVMPointer(kernel(program, "other"), 0, data.get()));
}

TEST_F(clSetKernelArgSVMPointer, GivenNullKernelThenInvalidKernel) {
  EXPECT_EQ(CL_INVALID_KERNEL, ::clSetKernelArgSVMPointer(nullptr, 0, nullptr));
}

}  // namespace clique::test::suite_clSetKernelArgSVMPointer
