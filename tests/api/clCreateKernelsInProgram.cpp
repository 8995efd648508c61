// clCreateKernelsInProgram: OpenCL 3.0, section 5.9.1.
#include "helpers.hpp"

namespace clique::test::suite_clCreateKernelsInProgram {

class clCreateKernelsInProgram : public ApiTest {
 protected:
  static constexpr char source[] = R"(
kernel void one(global int* out) { *out += 1; }
kernel void ten(global int* out) { *out += 10; }
kernel void hundred(global int* out) { *out += 100; }
)";
};

TEST_F(clCreateKernelsInProgram, GivenProgramThenCountAndAllKernelsAreReturned) {
  const Program program = build(source);
  cl_uint count = 0;
  ASSERT_CL(::clCreateKernelsInProgram(program, 0, nullptr, &count));
  ASSERT_EQ(3U, count);
  cl_kernel handles[5] = {};
  ASSERT_CL(::clCreateKernelsInProgram(program, 5, handles, &count));
  ASSERT_EQ(3U, count);
  EXPECT_EQ(nullptr, handles[3]);
  std::vector<std::string> names;
  const int zero = 0;
  const Mem out = buffer<int>(1, &zero);
  for (cl_uint i = 0; i < count; ++i) {
    const Kernel owned(handles[i]);
    names.push_back(info<std::string>(clGetKernelInfo, handles[i], CL_KERNEL_FUNCTION_NAME));
    EXPECT_EQ(1U, info<cl_uint>(clGetKernelInfo, handles[i], CL_KERNEL_REFERENCE_COUNT));
    set_args(handles[i], out);
    ASSERT_CL(launch(queue, handles[i], 1));
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ((std::vector<std::string>{"hundred", "one", "ten"}), names);
  EXPECT_EQ(111, read<int>(out, 1).front());
}

TEST_F(clCreateKernelsInProgram, GivenNoCountPointerThenKernelsAreReturned) {
  const Program program = build("kernel void k() {}");
  Kernel k;
  EXPECT_CL(::clCreateKernelsInProgram(program, 1, k.out(), nullptr));
  EXPECT_NE(nullptr, k.get());
}

TEST_F(clCreateKernelsInProgram, GivenTooLittleRoomThenInvalidValue) {
  const Program program = build(source);
  cl_kernel handles[2] = {};
  EXPECT_EQ(CL_INVALID_VALUE, ::clCreateKernelsInProgram(program, 2, handles, nullptr));
  EXPECT_CL(clBuildProgram(program, 0, nullptr, "", nullptr, nullptr)) << "a kernel was left attached";
}

TEST_F(clCreateKernelsInProgram, GivenUnbuiltProgramThenInvalidProgramExecutable) {
  const char* text = source;
  const Program program(clCreateProgramWithSource(context, 1, &text, nullptr, nullptr));
  cl_uint count = 0;
  EXPECT_EQ(CL_INVALID_PROGRAM_EXECUTABLE, ::clCreateKernelsInProgram(program, 0, nullptr, &count));
}

TEST_F(clCreateKernelsInProgram, GivenNullProgramThenInvalidProgram) {
  cl_uint count = 0;
  EXPECT_EQ(CL_INVALID_PROGRAM, ::clCreateKernelsInProgram(nullptr, 0, nullptr, &count));
}

}  // namespace clique::test::suite_clCreateKernelsInProgram
