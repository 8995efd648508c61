// clSVMFree: OpenCL 3.0, section 5.6.1.
#include "svm.hpp"

namespace clique::test::suite_clSVMFree {

class clSVMFree : public SvmTest {};

TEST_F(clSVMFree, GivenNoAllocationThenNothingHappens) {
  const auto data = allocate<cl_int>(2);
  write(data.get(), {1, 2});
  int other = 0;
  ::clSVMFree(context, nullptr);
  ::clSVMFree(context, &other);
  ::clSVMFree(context, data.get() + 1);
  ::clSVMFree(nullptr, data.get());
  EXPECT_EQ((std::vector<cl_int>{1, 2}), read_svm(data.get(), 2));
}

TEST_F(clSVMFree, GivenFreedAllocationThenItIsNoneAnyMore) {
  void* data = clSVMAlloc(context, CL_MEM_READ_WRITE, 64, 0);
  const cl_int one = 1;
  EXPECT_CL(clEnqueueSVMMemFill(queue, data, &one, sizeof one, 64, 0, nullptr, nullptr));
  EXPECT_CL(clFinish(queue));
  ::clSVMFree(context, data);
  EXPECT_EQ(CL_INVALID_VALUE, clEnqueueSVMMemFill(queue, data, &one, sizeof one, 64, 0, nullptr, nullptr));
  ::clSVMFree(context, data);
}

TEST_F(clSVMFree, GivenFreedArgumentThenInvalidKernelArgs) {
  const Program program = build("kernel void k(global int* data) { *data = 1; }");
  const Kernel k = kernel(program, "k");
  void* data = clSVMAlloc(context, CL_MEM_READ_WRITE, 64, 0);
  EXPECT_CL(clSetKernelArgSVMPointer(k, 0, data));
  EXPECT_CL(launch(queue, k, 1));
  EXPECT_CL(clFinish(queue));
  ::clSVMFree(context, data);
  EXPECT_EQ(CL_INVALID_KERNEL_ARGS, launch(queue, k, 1));
}

TEST_F(clSVMFree, GivenKernelUnderWayThenItStillHasItsMemory) {
  const Program program = build("kernel void k(global int* data, global int* out) { *out = *data; }");
  const Kernel k = kernel(program, "k");
  const Mem out = buffer<cl_int>(1);
  auto* data = static_cast<cl_int*>(clSVMAlloc(context, CL_MEM_READ_WRITE, 64, 0));
  write(data, {3});
  Gate gate(context);
  EXPECT_CL(clSetKernelArgSVMPointer(k, 0, data));
  EXPECT_CL(clSetKernelArg(k, 1, sizeof(cl_mem), out.ptr()));
  EXPECT_CL(launch(queue, k, 1, {gate}));
  ::clSVMFree(context, data);
  gate.open();
  EXPECT_EQ(std::vector<cl_int>{3}, read<cl_int>(out, 1));
}

TEST_F(clSVMFree, GivenManyAllocationsThenEachHasItsContent) {
  for (int round = 0; round < 20; ++round) {
    std::vector<cl_int*> all;
    for (int i = 0; i < 50; ++i) {
      all.push_back(static_cast<cl_int*>(clSVMAlloc(context, CL_MEM_READ_WRITE, 4 + i * 100, 0)));
      ASSERT_NE(nullptr, all.back());
      EXPECT_CL(clEnqueueSVMMemFill(queue, all.back(), &i, sizeof i, sizeof i, 0, nullptr, nullptr));
    }
    for (int i = 0; i < 50; ++i) EXPECT_EQ(std::vector<cl_int>{i}, read_svm(all[i], 1));
    for (cl_int* each : all) ::clSVMFree(context, each);
  }
}

}  // namespace clique::test::suite_clSVMFree
