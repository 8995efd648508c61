// clGetKernelSubGroupInfo: OpenCL 3.0, section 5.9.4.
#include "helpers.hpp"

namespace clique::test::suite_clGetKernelSubGroupInfo {

class clGetKernelSubGroupInfo : public ApiTest {
 protected:
  static constexpr char source[] = "kernel void k() {}";

  bool supported() { return info<cl_uint>(clGetDeviceInfo, device, CL_DEVICE_MAX_NUM_SUB_GROUPS) != 0; }
  cl_int query(cl_kernel k, cl_device_id on, cl_kernel_sub_group_info name, const std::vector<size_t>& input,
               size_t& value) {
    return ::clGetKernelSubGroupInfo(k, on, name, input.size() * sizeof(size_t), input.data(), sizeof value,
                                     &value, nullptr);
  }
};

TEST_F(clGetKernelSubGroupInfo, GivenDeviceWithoutSubGroupsThenInvalidOperation) {
  if (supported()) GTEST_SKIP() << "the device has sub-groups";
  const Program program = build(source);
  size_t value = 0;
  EXPECT_EQ(CL_INVALID_OPERATION,
            query(kernel(program, "k"), device, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, {64}, value));
}

TEST_F(clGetKernelSubGroupInfo, GivenLocalSizeThenSizeTimesCountCoversIt) {
  if (!supported()) GTEST_SKIP() << "the device has no sub-groups";
  const Program program = build(source);
  const Kernel k = kernel(program, "k");
  size_t size = 0;
  size_t count = 0;
  ASSERT_CL(query(k, device, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, {64}, size));
  ASSERT_CL(query(k, device, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, {64}, count));
  EXPECT_GE(size * count, 64U);
  EXPECT_LE(size, 64U);
}

TEST_F(clGetKernelSubGroupInfo, GivenWrongInputThenInvalidValue) {
  if (!supported()) GTEST_SKIP() << "the device has no sub-groups";
  const Program program = build(source);
  const Kernel k = kernel(program, "k");
  size_t value = 0;
  EXPECT_EQ(CL_INVALID_VALUE, query(k, device, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, {}, value));
  EXPECT_EQ(CL_INVALID_VALUE, query(k, device, 0x7FFF, {64}, value));
  EXPECT_EQ(CL_INVALID_DEVICE,
            query(k, foreign_handle<cl_device_id>(), CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, {64}, value));
}

TEST_F(clGetKernelSubGroupInfo, GivenNullKernelThenInvalidKernel) {
  size_t value = 0;
  EXPECT_EQ(CL_INVALID_KERNEL, query(nullptr, device, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, {64}, value));
}

}  // namespace clique::test::suite_clGetKernelSubGroupInfo
