// clGetKernelWorkGroupInfo: OpenCL 3.0, section 5.9.4.
#include <array>

#include "checks.hpp"

namespace clique::test::suite_clGetKernelWorkGroupInfo {

class clGetKernelWorkGroupInfo : public ApiTest {
 protected:
  static constexpr char source[] = R"(
kernel void plain(global int* out) { out[get_global_id(0)] = 1; }
kernel __attribute__((reqd_work_group_size(4, 2, 1))) void fixed(global int* out) { *out = 1; }
kernel void with_local(global int* out, local int* more) {
  local int scratch[256];
  scratch[get_local_id(0)] = more[0] + get_global_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);
  *out = scratch[0];
}
)";
  using Sizes = std::array<size_t, 3>;

  static auto getter(cl_device_id on) {
    return [on](cl_kernel k, cl_kernel_work_group_info name, size_t size, void* value, size_t* returned) {
      return ::clGetKernelWorkGroupInfo(k, on, name, size, value, returned);
    };
  }
  static Sizes compile_size(cl_kernel k, cl_device_id on) {
    Sizes sizes = {9, 9, 9};
    size_t returned = 0;
    EXPECT_CL(::clGetKernelWorkGroupInfo(k, on, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof sizes, sizes.data(),
                                         &returned));
    EXPECT_EQ(sizeof sizes, returned);
    return sizes;
  }
};

TEST_F(clGetKernelWorkGroupInfo, GivenKernelThenSizesAreWithinTheDevices) {
  const Program program = build(source);
  const Kernel plain = kernel(program, "plain");
  for (cl_device_id one : devices()) {
    const auto size = info<size_t>(getter(one), plain.get(), CL_KERNEL_WORK_GROUP_SIZE);
    EXPECT_GE(size, 1U);
    EXPECT_LE(size, info<size_t>(clGetDeviceInfo, one, CL_DEVICE_MAX_WORK_GROUP_SIZE));
    const auto multiple =
        info<size_t>(getter(one), plain.get(), CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE);
    EXPECT_GE(multiple, 1U);
    EXPECT_LE(info<cl_ulong>(getter(one), plain.get(), CL_KERNEL_PRIVATE_MEM_SIZE), cl_ulong{1} << 32);
    EXPECT_LE(info<cl_ulong>(getter(one), plain.get(), CL_KERNEL_LOCAL_MEM_SIZE),
              info<cl_ulong>(clGetDeviceInfo, one, CL_DEVICE_LOCAL_MEM_SIZE));
  }
}

TEST_F(clGetKernelWorkGroupInfo, GivenReportedSizeThenAGroupOfThatSizeRuns) {
  const Program program = build(source);
  const Kernel plain = kernel(program, "plain");
  const auto size = info<size_t>(getter(device), plain.get(), CL_KERNEL_WORK_GROUP_SIZE);
  const std::vector<int> zeros(size, 0);
  const Mem out = buffer<int>(size, zeros.data());
  set_args(plain, out);
  ASSERT_CL(clEnqueueNDRangeKernel(queue, plain, 1, nullptr, &size, &size, 0, nullptr, nullptr));
  EXPECT_EQ(std::vector<int>(size, 1), read<int>(out, size));
}

TEST_F(clGetKernelWorkGroupInfo, GivenRequiredWorkGroupSizeThenItIsTheCompileSize) {
  const Program program = build(source);
  for (cl_device_id one : devices()) {
    EXPECT_EQ((Sizes{4, 2, 1}), compile_size(kernel(program, "fixed"), one));
    EXPECT_EQ((Sizes{0, 0, 0}), compile_size(kernel(program, "plain"), one));
  }
}

TEST_F(clGetKernelWorkGroupInfo, GivenLocalMemoryThenVariablesAndArgumentsCount) {
  if (info<std::string>(clGetDeviceInfo, device, CL_DEVICE_VERSION).find("PoCL") != std::string::npos &&
      info<std::string>(clGetDeviceInfo, device, CL_DRIVER_VERSION).starts_with("6."))
    GTEST_SKIP() << "PoCL 6 reports no local memory for any kernel";
  const Program program = build(source);
  const Kernel k = kernel(program, "with_local");
  const auto before = info<cl_ulong>(getter(device), k.get(), CL_KERNEL_LOCAL_MEM_SIZE);
  EXPECT_GE(before, 1024U);
  ASSERT_CL(clSetKernelArg(k, 1, 512, nullptr));
  EXPECT_GE(info<cl_ulong>(getter(device), k.get(), CL_KERNEL_LOCAL_MEM_SIZE), before + 512);
}

TEST_F(clGetKernelWorkGroupInfo, GivenNullDeviceThenItMeansTheOnlyOneOrIsInvalid) {
  const Program program = build(source);
  const Kernel plain = kernel(program, "plain");
  size_t size = 0;
  const cl_int err =
      ::clGetKernelWorkGroupInfo(plain, nullptr, CL_KERNEL_WORK_GROUP_SIZE, sizeof size, &size, nullptr);
  EXPECT_EQ(devices().size() == 1 ? CL_SUCCESS : CL_INVALID_DEVICE, err);
}

TEST_F(clGetKernelWorkGroupInfo, GivenNeitherCustomDeviceNorBuiltInKernelThenGlobalWorkSizeIsInvalidValue) {
  if (info<cl_device_type>(clGetDeviceInfo, device, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CUSTOM)
    GTEST_SKIP() << "a custom device";
  const Program program = build(source);
  size_t sizes[3] = {};
  EXPECT_EQ(CL_INVALID_VALUE,
            ::clGetKernelWorkGroupInfo(kernel(program, "plain"), device, CL_KERNEL_GLOBAL_WORK_SIZE,
                                       sizeof sizes, sizes, nullptr));
}

TEST_F(clGetKernelWorkGroupInfo, GivenWrongSizeOrNameThenInvalidValue) {
  const Program program = build(source);
  const Kernel plain = kernel(program, "plain");
  for (const cl_kernel_work_group_info name :
       {CL_KERNEL_WORK_GROUP_SIZE, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, CL_KERNEL_LOCAL_MEM_SIZE,
        CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, CL_KERNEL_PRIVATE_MEM_SIZE})
    expect_info_rules(getter(device), plain.get(), name);
}

TEST_F(clGetKernelWorkGroupInfo, GivenDeviceThatIsNotOfKernelThenInvalidDevice) {
  const Program program = build(source);
  size_t size = 0;
  EXPECT_EQ(CL_INVALID_DEVICE,
            ::clGetKernelWorkGroupInfo(kernel(program, "plain"), foreign_handle<cl_device_id>(),
                                       CL_KERNEL_WORK_GROUP_SIZE, sizeof size, &size, nullptr));
}

TEST_F(clGetKernelWorkGroupInfo, GivenNullKernelThenInvalidKernel) {
  size_t size = 0;
  EXPECT_EQ(CL_INVALID_KERNEL, ::clGetKernelWorkGroupInfo(nullptr, device, CL_KERNEL_WORK_GROUP_SIZE,
                                                          sizeof size, &size, nullptr));
}

}  // namespace clique::test::suite_clGetKernelWorkGroupInfo
