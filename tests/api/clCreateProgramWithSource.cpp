// clCreateProgramWithSource: OpenCL 3.0, section 5.8.1.
#include "helpers.hpp"

namespace clique::test::suite_clCreateProgramWithSource {

class clCreateProgramWithSource : public ApiTest {
 protected:
  Program create(cl_uint count, const char** strings, const size_t* lengths) {
    cl_int err = CL_SUCCESS;
    Program program(::clCreateProgramWithSource(context, count, strings, lengths, &err));
    EXPECT_EQ(CL_SUCCESS, err);
    EXPECT_NE(nullptr, program.get());
    return program;
  }
  void expect_error(cl_int expected, cl_uint count, const char** strings) {
    cl_int err = CL_SUCCESS;
    EXPECT_EQ(nullptr, ::clCreateProgramWithSource(context, count, strings, nullptr, &err));
    EXPECT_EQ(expected, err);
  }
};

TEST_F(clCreateProgramWithSource, GivenSourceWhenCreatedThenProgramIsUnbuiltForAllDevicesOfContext) {
  const char* source = "kernel void k() {}";
  const Program program = create(1, &source, nullptr);
  EXPECT_EQ(1U, info<cl_uint>(clGetProgramInfo, program.get(), CL_PROGRAM_REFERENCE_COUNT));
  EXPECT_EQ(context.get(), info<cl_context>(clGetProgramInfo, program.get(), CL_PROGRAM_CONTEXT));
  EXPECT_EQ(devices(), info<std::vector<cl_device_id>>(clGetProgramInfo, program.get(), CL_PROGRAM_DEVICES));
  for (cl_device_id one : devices()) {
    cl_build_status status = CL_BUILD_ERROR;
    EXPECT_CL(clGetProgramBuildInfo(program, one, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, nullptr));
    EXPECT_EQ(CL_BUILD_NONE, status);
  }
}

TEST_F(clCreateProgramWithSource, GivenSeveralStringsWhenCreatedThenSourceIsTheirConcatenation) {
  const char* strings[] = {"kernel void k(global int* out) {\n", "#define VALUE 4XXX", "2\n *out = VALUE",
                           ";\n}XXX"};
  const size_t lengths[] = {0, 15, 0, 3};  // zero: this string ends at its terminator
  const Program program = create(4, strings, lengths);
  EXPECT_EQ("kernel void k(global int* out) {\n#define VALUE 42\n *out = VALUE;\n}",
            info<std::string>(clGetProgramInfo, program.get(), CL_PROGRAM_SOURCE));
  ASSERT_CL(clBuildProgram(program, 0, nullptr, nullptr, nullptr, nullptr));
  const Mem out = buffer<int>(1);
  const Kernel k = kernel(program, "k");
  set_args(k, out);
  ASSERT_CL(launch(queue, k, 1));
  EXPECT_EQ(42, read<int>(out, 1).front());
}

TEST_F(clCreateProgramWithSource, GivenNoLengthsWhenCreatedThenAllStringsEndAtTheirTerminators) {
  const char* strings[] = {"kernel void a() {}\n", "kernel void b() {}\n", ""};
  const Program program = create(3, strings, nullptr);
  EXPECT_EQ("kernel void a() {}\nkernel void b() {}\n",
            info<std::string>(clGetProgramInfo, program.get(), CL_PROGRAM_SOURCE));
}

TEST_F(clCreateProgramWithSource, GivenStringsChangedAfterCreationThenProgramKeepsWhatItWasGiven) {
  std::string text = "kernel void first() {}";
  const char* source = text.c_str();
  const Program program = create(1, &source, nullptr);
  std::fill(text.begin(), text.end(), '#');
  EXPECT_EQ("kernel void first() {}", info<std::string>(clGetProgramInfo, program.get(), CL_PROGRAM_SOURCE));
  EXPECT_CL(clBuildProgram(program, 0, nullptr, nullptr, nullptr, nullptr));
}

TEST_F(clCreateProgramWithSource, GivenSourceWithErrorsWhenCreatedThenSucceeds) {
  const char* source = "this is no OpenCL C";
  create(1, &source, nullptr);
}

TEST_F(clCreateProgramWithSource, GivenNoErrcodeRetThenProgramIsReturned) {
  const char* source = "kernel void k() {}";
  const Program program(::clCreateProgramWithSource(context, 1, &source, nullptr, nullptr));
  EXPECT_NE(nullptr, program.get());
}

TEST_F(clCreateProgramWithSource, GivenNullContextThenInvalidContext) {
  const char* source = "kernel void k() {}";
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, ::clCreateProgramWithSource(nullptr, 1, &source, nullptr, &err));
  EXPECT_EQ(CL_INVALID_CONTEXT, err);
}

TEST_F(clCreateProgramWithSource, GivenNoStringsThenInvalidValue) {
  const char* source = "kernel void k() {}";
  const char* with_hole[] = {source, nullptr};
  expect_error(CL_INVALID_VALUE, 0, &source);
  expect_error(CL_INVALID_VALUE, 1, nullptr);
  expect_error(CL_INVALID_VALUE, 2, with_hole);
}

}  // namespace clique::test::suite_clCreateProgramWithSource
