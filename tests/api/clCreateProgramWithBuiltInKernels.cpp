// clCreateProgramWithBuiltInKernels: OpenCL 3.0, section 5.8.1.
#include "helpers.hpp"

namespace clique::test::suite_clCreateProgramWithBuiltInKernels {

class clCreateProgramWithBuiltInKernels : public ApiTest {
 protected:
  void expect_error(cl_int expected, cl_context in, cl_uint count, const cl_device_id* list,
                    const char* names) {
    cl_int err = CL_SUCCESS;
    EXPECT_EQ(nullptr, ::clCreateProgramWithBuiltInKernels(in, count, list, names, &err));
    EXPECT_EQ(expected, err);
  }
};

TEST_F(clCreateProgramWithBuiltInKernels, GivenReportedNameThenProgramIsForTheGivenDevice) {
  const auto names = info<std::string>(clGetDeviceInfo, device, CL_DEVICE_BUILT_IN_KERNELS);
  if (names.empty()) GTEST_SKIP() << "the device has no built-in kernels";
  const std::string name = names.substr(0, names.find(';'));
  cl_int err = CL_SUCCESS;
  const Program program(::clCreateProgramWithBuiltInKernels(context, 1, &device, name.c_str(), &err));
  ASSERT_EQ(CL_SUCCESS, err);
  EXPECT_EQ(1U, info<cl_uint>(clGetProgramInfo, program.get(), CL_PROGRAM_REFERENCE_COUNT));
  EXPECT_EQ(std::vector<cl_device_id>{device},
            info<std::vector<cl_device_id>>(clGetProgramInfo, program.get(), CL_PROGRAM_DEVICES));
}

TEST_F(clCreateProgramWithBuiltInKernels, GivenUnknownNameThenInvalidValue) {
  expect_error(CL_INVALID_VALUE, context, 1, &device, "surely.no.such.kernel");
}

TEST_F(clCreateProgramWithBuiltInKernels, GivenNoNamesThenInvalidValue) {
  expect_error(CL_INVALID_VALUE, context, 1, &device, nullptr);
}

TEST_F(clCreateProgramWithBuiltInKernels, GivenNoDevicesThenInvalidValue) {
  expect_error(CL_INVALID_VALUE, context, 0, &device, "surely.no.such.kernel");
  expect_error(CL_INVALID_VALUE, context, 1, nullptr, "surely.no.such.kernel");
}

TEST_F(clCreateProgramWithBuiltInKernels, GivenDeviceThatIsNotOfContextThenInvalidDevice) {
  const auto names = info<std::string>(clGetDeviceInfo, device, CL_DEVICE_BUILT_IN_KERNELS);
  if (names.empty()) GTEST_SKIP() << "without built-in kernels every name is CL_INVALID_VALUE, too";
  const std::string name = names.substr(0, names.find(';'));
  const cl_device_id foreign = foreign_handle<cl_device_id>();
  expect_error(CL_INVALID_DEVICE, context, 1, &foreign, name.c_str());
}

TEST_F(clCreateProgramWithBuiltInKernels, GivenNullContextThenInvalidContext) {
  expect_error(CL_INVALID_CONTEXT, nullptr, 1, &device, "surely.no.such.kernel");
}

}  // namespace clique::test::suite_clCreateProgramWithBuiltInKernels
