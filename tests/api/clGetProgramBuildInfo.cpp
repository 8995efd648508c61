// clGetProgramBuildInfo: OpenCL 3.0, section 5.8.8.
#include "checks.hpp"

namespace clique::test::suite_clGetProgramBuildInfo {

class clGetProgramBuildInfo : public ApiTest {
 protected:
  static auto getter(cl_device_id on) {
    return [on](cl_program program, cl_program_build_info name, size_t size, void* value, size_t* returned) {
      return ::clGetProgramBuildInfo(program, on, name, size, value, returned);
    };
  }
  Program create(const char* source) {
    return Program(clCreateProgramWithSource(context, 1, &source, nullptr, nullptr));
  }
};

TEST_F(clGetProgramBuildInfo, GivenUnbuiltProgramThenStatusAndTypeAreNone) {
  const Program program = create("kernel void k() {}");
  for (cl_device_id one : devices()) {
    EXPECT_EQ(CL_BUILD_NONE, info<cl_build_status>(getter(one), program.get(), CL_PROGRAM_BUILD_STATUS));
    EXPECT_EQ(cl_program_binary_type{CL_PROGRAM_BINARY_TYPE_NONE},
              info<cl_program_binary_type>(getter(one), program.get(), CL_PROGRAM_BINARY_TYPE));
    EXPECT_EQ("", info<std::string>(getter(one), program.get(), CL_PROGRAM_BUILD_LOG));
    EXPECT_EQ("", info<std::string>(getter(one), program.get(), CL_PROGRAM_BUILD_OPTIONS));
  }
}

TEST_F(clGetProgramBuildInfo, GivenBuiltProgramThenStatusTypeAndOptions) {
  const Program program = build("kernel void k() {}", "-D VALUE=1 -cl-mad-enable");
  for (cl_device_id one : devices()) {
    EXPECT_EQ(CL_BUILD_SUCCESS, info<cl_build_status>(getter(one), program.get(), CL_PROGRAM_BUILD_STATUS));
    EXPECT_EQ(cl_program_binary_type{CL_PROGRAM_BINARY_TYPE_EXECUTABLE},
              info<cl_program_binary_type>(getter(one), program.get(), CL_PROGRAM_BINARY_TYPE));
    EXPECT_EQ("-D VALUE=1 -cl-mad-enable",
              info<std::string>(getter(one), program.get(), CL_PROGRAM_BUILD_OPTIONS));
  }
}

TEST_F(clGetProgramBuildInfo, GivenProgramBuiltAgainThenOptionsAreTheLastOnes) {
  const Program program = build("kernel void k() {}", "-DFIRST");
  ASSERT_CL(clBuildProgram(program, 0, nullptr, "-DSECOND", nullptr, nullptr));
  EXPECT_EQ("-DSECOND", info<std::string>(getter(device), program.get(), CL_PROGRAM_BUILD_OPTIONS));
}

TEST_F(clGetProgramBuildInfo, GivenFailedBuildThenEveryDeviceHasErrorAndLog) {
  const Program program = create("kernel void k() { missing_name = 1; }");
  EXPECT_EQ(CL_BUILD_PROGRAM_FAILURE, clBuildProgram(program, 0, nullptr, nullptr, nullptr, nullptr));
  for (cl_device_id one : devices()) {
    EXPECT_EQ(CL_BUILD_ERROR, info<cl_build_status>(getter(one), program.get(), CL_PROGRAM_BUILD_STATUS));
  }
  const auto log = info<std::string>(getter(device), program.get(), CL_PROGRAM_BUILD_LOG);
  EXPECT_NE(std::string::npos, log.find("missing_name"));
  EXPECT_EQ(std::string::npos, log.find('\0'));
}

TEST_F(clGetProgramBuildInfo, GivenNoProgramScopeVariablesThenTheirTotalSizeIsZero) {
  const Program program = build("kernel void k() {}");
  EXPECT_EQ(size_t{0},
            info<size_t>(getter(device), program.get(), CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE));
}

TEST_F(clGetProgramBuildInfo, GivenWrongSizeOrNameThenInvalidValue) {
  const Program program = build("kernel void k() {}", "-DVALUE=1");
  for (const cl_program_build_info name :
       {CL_PROGRAM_BUILD_STATUS, CL_PROGRAM_BUILD_OPTIONS, CL_PROGRAM_BUILD_LOG, CL_PROGRAM_BINARY_TYPE,
        CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE})
    expect_info_rules(getter(device), program.get(), name);
}

TEST_F(clGetProgramBuildInfo, GivenDeviceThatIsNotOfProgramThenInvalidDevice) {
  const Program program = create("kernel void k() {}");
  cl_build_status status = CL_BUILD_NONE;
  EXPECT_EQ(CL_INVALID_DEVICE,
            ::clGetProgramBuildInfo(program, foreign_handle<cl_device_id>(), CL_PROGRAM_BUILD_STATUS,
                                    sizeof status, &status, nullptr));
  EXPECT_EQ(CL_INVALID_DEVICE, ::clGetProgramBuildInfo(program, nullptr, CL_PROGRAM_BUILD_STATUS,
                                                       sizeof status, &status, nullptr));
}

TEST_F(clGetProgramBuildInfo, GivenNullProgramThenInvalidProgram) {
  cl_build_status status = CL_BUILD_NONE;
  EXPECT_EQ(CL_INVALID_PROGRAM, ::clGetProgramBuildInfo(nullptr, device, CL_PROGRAM_BUILD_STATUS,
                                                        sizeof status, &status, nullptr));
}

}  // namespace clique::test::suite_clGetProgramBuildInfo
