// clGetKernelInfo: OpenCL 3.0, section 5.9.4.
#include "checks.hpp"

namespace clique::test::suite_clGetKernelInfo {

class clGetKernelInfo : public ApiTest {
 protected:
  static constexpr char source[] = R"(
kernel void none() {}
kernel __attribute__((reqd_work_group_size(2, 1, 1))) void some(global int* a, local float* b, int c) {}
)";
};

TEST_F(clGetKernelInfo, GivenKernelThenAllThatWasDeclaredIsReported) {
  const Program program = build(source);
  const Kernel some = kernel(program, "some");
  EXPECT_EQ("some", info<std::string>(::clGetKernelInfo, some.get(), CL_KERNEL_FUNCTION_NAME));
  EXPECT_EQ(3U, info<cl_uint>(::clGetKernelInfo, some.get(), CL_KERNEL_NUM_ARGS));
  EXPECT_EQ(1U, info<cl_uint>(::clGetKernelInfo, some.get(), CL_KERNEL_REFERENCE_COUNT));
  EXPECT_EQ(context.get(), info<cl_context>(::clGetKernelInfo, some.get(), CL_KERNEL_CONTEXT));
  EXPECT_EQ(program.get(), info<cl_program>(::clGetKernelInfo, some.get(), CL_KERNEL_PROGRAM));
  const Kernel none = kernel(program, "none");
  EXPECT_EQ(0U, info<cl_uint>(::clGetKernelInfo, none.get(), CL_KERNEL_NUM_ARGS));
}

TEST_F(clGetKernelInfo, GivenRequiredWorkGroupSizeThenAttributesNameIt) {
  const Program program = build(source);
  const Kernel some = kernel(program, "some");
  auto attributes = info<std::string>(::clGetKernelInfo, some.get(), CL_KERNEL_ATTRIBUTES);
  attributes.erase(std::remove(attributes.begin(), attributes.end(), ' '), attributes.end());
  EXPECT_NE(std::string::npos, attributes.find("reqd_work_group_size(2,1,1)")) << attributes;
}

TEST_F(clGetKernelInfo, GivenNoAttributesThenTheyAreEmpty) {
  const Program program = build(source);
  const Kernel none = kernel(program, "none");
  EXPECT_EQ("", info<std::string>(::clGetKernelInfo, none.get(), CL_KERNEL_ATTRIBUTES));
}

TEST_F(clGetKernelInfo, GivenWrongSizeOrNameThenInvalidValue) {
  const Program program = build(source);
  const Kernel some = kernel(program, "some");
  for (const cl_kernel_info name : {CL_KERNEL_FUNCTION_NAME, CL_KERNEL_NUM_ARGS, CL_KERNEL_REFERENCE_COUNT,
                                    CL_KERNEL_CONTEXT, CL_KERNEL_PROGRAM, CL_KERNEL_ATTRIBUTES})
    expect_info_rules(::clGetKernelInfo, some.get(), name);
}

TEST_F(clGetKernelInfo, GivenNullKernelThenInvalidKernel) {
  cl_uint value = 0;
  EXPECT_EQ(CL_INVALID_KERNEL, ::clGetKernelInfo(nullptr, CL_KERNEL_NUM_ARGS, sizeof value, &value, nullptr));
}

}  // namespace clique::test::suite_clGetKernelInfo
