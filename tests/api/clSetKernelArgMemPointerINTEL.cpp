// clSetKernelArgMemPointerINTEL: cl_intel_unified_shared_memory.
#include "usm.hpp"

namespace clique::test::suite_clSetKernelArgMemPointerINTEL {

class clSetKernelArgMemPointerINTEL : public UsmTest {
 protected:
  void SetUp() override {
    UsmTest::SetUp();
    if (IsSkipped()) return;
    program = build(
        "kernel void add(global int* data, int value) { if (data) *data += value; }"
        "struct Pair { global int* a; global int* b; };"
        "kernel void follow(global struct Pair* pair) { *pair->a += 1; *pair->b += 10; }");
    add = kernel(program, "add");
    follow = kernel(program, "follow");
  }
  cl_int reach_all(cl_bool any) const {
    return ::clSetKernelExecInfo(follow, CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL, sizeof any, &any);
  }
  struct Pair {
    cl_int* a;
    cl_int* b;
  };
  Program program;
  Kernel add;
  Kernel follow;
};

TEST_F(clSetKernelArgMemPointerINTEL, GivenPointerAnywhereInAllocationThenKernelGetsIt) {
  const auto data = on_device<cl_int>(3);
  write_usm(data.get(), {1, 2, 3});
  for (int i = 0; i < 3; ++i) {
    EXPECT_CL(set_arg(add, 0, data.get() + i));
    EXPECT_CL(::clSetKernelArg(add, 1, sizeof i, &i));
    EXPECT_CL(launch(queue, add, 1));
  }
  EXPECT_CL(set_arg(add, 0, nullptr));
  EXPECT_CL(launch(queue, add, 1));
  EXPECT_EQ((std::vector<cl_int>{1, 3, 5}), read_usm(data.get(), 3));
}

TEST_F(clSetKernelArgMemPointerINTEL, GivenWrongArgumentsThenErrors) {
  const auto data = on_device<cl_int>(3);
  cl_int other = 0;
  EXPECT_EQ(CL_INVALID_KERNEL, set_arg(nullptr, 0, data.get()));
  EXPECT_EQ(CL_INVALID_ARG_INDEX, set_arg(add, 2, data.get()));
  EXPECT_EQ(CL_INVALID_ARG_VALUE, set_arg(add, 1, data.get())) << "not a pointer";
  EXPECT_EQ(CL_INVALID_ARG_VALUE, set_arg(add, 0, &other));
}

TEST_F(clSetKernelArgMemPointerINTEL, GivenNamedAllocationsThenTheKernelReachesThem) {
  const auto pair = on_device<Pair>(1);
  const auto a = on_device<cl_int>(2);
  const auto b = on_device<cl_int>(2);
  write_usm(pair.get(), {{a.get() + 1, b.get()}});
  write_usm(a.get(), {1, 2});
  write_usm(b.get(), {3, 4});
  EXPECT_CL(set_arg(follow, 0, pair.get()));
  const void* const reached[] = {a.get(), b.get() + 1};
  EXPECT_CL(::clSetKernelExecInfo(follow, CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL, sizeof reached, reached));
  EXPECT_CL(launch(queue, follow, 1));
  EXPECT_EQ((std::vector<cl_int>{1, 3}), read_usm(a.get(), 2));
  EXPECT_EQ((std::vector<cl_int>{13, 4}), read_usm(b.get(), 2));
}

TEST_F(clSetKernelArgMemPointerINTEL, GivenIndirectAccessThenTheKernelReachesAllAllocations) {
  const auto pair = on_device<Pair>(1);
  EXPECT_CL(set_arg(follow, 0, pair.get()));
  EXPECT_CL(reach_all(CL_TRUE));
  // The allocations of each launch come after the call, and those of the launch before are gone.
  for (cl_int first : {10, 20}) {
    const auto a = on_device<cl_int>(1);
    const auto b = on_device<cl_int>(1);
    write_usm(a.get(), {first});
    write_usm(b.get(), {first});
    write_usm(pair.get(), {{a.get(), b.get()}});
    EXPECT_CL(launch(queue, follow, 1));
    EXPECT_EQ(std::vector<cl_int>{first + 1}, read_usm(a.get(), 1));
    EXPECT_EQ(std::vector<cl_int>{first + 10}, read_usm(b.get(), 1));
  }
  EXPECT_CL(reach_all(CL_FALSE));
}

TEST_F(clSetKernelArgMemPointerINTEL, GivenHostAndSharedAllocationsThenKernelsReachThemAnyhow) {
  use_mapping_device();
  if (IsSkipped()) return;
  const auto pair = on_host<Pair>(1);
  const auto a = on_host<cl_int>(1);
  const auto b = shared<cl_int>(2);
  *pair.get() = {a.get(), b.get() + 1};
  EXPECT_CL(set_arg(follow, 0, pair.get()));
  const cl_bool any = CL_TRUE;
  for (const cl_kernel_exec_info name :
       {CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL, CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL})
    EXPECT_CL(::clSetKernelExecInfo(follow, name, sizeof any, &any));
  for (int i = 0; i < 3; ++i) {
    a[0] = i;
    b[1] = i;
    EXPECT_CL(launch(queue, follow, 1));
    EXPECT_CL(::clFinish(queue));
    EXPECT_EQ(i + 1, a[0]);
    EXPECT_EQ(i + 10, b[1]);
  }
  const void* const reached[] = {a.get(), b.get()};
  EXPECT_CL(::clSetKernelExecInfo(follow, CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL, sizeof reached, reached));
  EXPECT_CL(launch(queue, follow, 1));
  EXPECT_CL(::clFinish(queue));
  EXPECT_EQ(4, a[0]);
}

TEST_F(clSetKernelArgMemPointerINTEL, GivenIndirectAccessToKindsThatNoDeviceHasThenInvalidOperation) {
  const cl_bool any = CL_TRUE;
  EXPECT_EQ(CL_INVALID_VALUE,
            ::clSetKernelExecInfo(follow, CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL, 1, &any));
  for (const cl_device_id each : devices())
    if (maps_host_memory(each)) GTEST_SKIP() << "a device has host and shared allocations";
  for (const cl_kernel_exec_info name :
       {CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL, CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL})
    EXPECT_EQ(CL_INVALID_OPERATION, ::clSetKernelExecInfo(follow, name, sizeof any, &any));
}

}  // namespace clique::test::suite_clSetKernelArgMemPointerINTEL
