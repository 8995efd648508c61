// clLinkProgram: OpenCL 3.0, section 5.8.6.
#include "helpers.hpp"

namespace clique::test::suite_clLinkProgram {

class clLinkProgram : public ApiTest {
 protected:
  static constexpr char kernel_source[] =
      "int twice(int);\nint next(int);\nkernel void k(global int* out) { *out = twice(next(*out)); }";
  static constexpr char twice_source[] = "int twice(int x) { return 2 * x; }";
  static constexpr char next_source[] = "int next(int x) { return x + 1; }";
  static constexpr char whole_source[] = "kernel void k(global int* out) { *out += 7; }";

  Program compiled(const char* source) {
    cl_int err = CL_SUCCESS;
    Program program(clCreateProgramWithSource(context, 1, &source, nullptr, &err));
    EXPECT_EQ(CL_SUCCESS, err);
    EXPECT_CL(clCompileProgram(program, 0, nullptr, "", 0, nullptr, nullptr, nullptr, nullptr));
    return program;
  }
  Program link(const std::vector<cl_program>& programs, const char* options, cl_int* err) {
    return Program(::clLinkProgram(context, 0, nullptr, options, static_cast<cl_uint>(programs.size()),
                                   programs.data(), nullptr, nullptr, err));
  }
  Program linked(const std::vector<cl_program>& programs, const char* options = "") {
    cl_int err = CL_SUCCESS;
    Program program = link(programs, options, &err);
    EXPECT_EQ(CL_SUCCESS, err);
    return program;
  }
  static cl_program_binary_type binary_type(cl_program program) {
    cl_program_binary_type type = CL_PROGRAM_BINARY_TYPE_NONE;
    EXPECT_CL(clGetProgramBuildInfo(program, devices().front(), CL_PROGRAM_BINARY_TYPE, sizeof type, &type,
                                    nullptr));
    return type;
  }
  int result_of(cl_program program, int start, cl_device_id on = nullptr) {
    const Kernel k = kernel(program, "k");
    const Mem out = buffer<int>(1, &start);
    const Queue q = make_queue(0, on);
    set_args(k, out);
    EXPECT_CL(launch(q, k, 1));
    EXPECT_CL(clFinish(q));
    return read<int>(out, 1).front();
  }
  /// Calls the function with one valid input and these arguments.
  void expect_error(cl_int expected, cl_context in, cl_uint count, const cl_device_id* list,
                    const char* options, void(CL_CALLBACK* notify)(cl_program, void*) = nullptr,
                    void* data = nullptr) {
    const Program object = compiled(whole_source);
    cl_int err = CL_SUCCESS;
    const Program result(::clLinkProgram(in, count, list, options, 1, object.ptr(), notify, data, &err));
    EXPECT_EQ(expected, err);
    EXPECT_EQ(nullptr, result.get());
  }
  void expect_input_error(cl_int expected, cl_uint count, const cl_program* programs) {
    cl_int err = CL_SUCCESS;
    const Program result(::clLinkProgram(context, 0, nullptr, "", count, programs, nullptr, nullptr, &err));
    EXPECT_EQ(expected, err);
    EXPECT_EQ(nullptr, result.get());
  }
};

TEST_F(clLinkProgram, GivenOneObjectThenExecutableRuns) {
  const Program program = linked({compiled(whole_source)});
  EXPECT_EQ(cl_program_binary_type{CL_PROGRAM_BINARY_TYPE_EXECUTABLE}, binary_type(program));
  EXPECT_EQ(1U, info<cl_uint>(clGetProgramInfo, program.get(), CL_PROGRAM_REFERENCE_COUNT));
  EXPECT_EQ(context.get(), info<cl_context>(clGetProgramInfo, program.get(), CL_PROGRAM_CONTEXT));
  EXPECT_EQ(devices(), info<std::vector<cl_device_id>>(clGetProgramInfo, program.get(), CL_PROGRAM_DEVICES));
  EXPECT_EQ(10, result_of(program, 3));
}

TEST_F(clLinkProgram, GivenSeveralObjectsThenTheyCallEachOtherOnAllDevices) {
  const Program program = linked({compiled(kernel_source), compiled(twice_source), compiled(next_source)});
  for (cl_device_id one : devices()) EXPECT_EQ(12, result_of(program, 5, one));
}

TEST_F(clLinkProgram, GivenLibraryThenKernelLinksAgainstIt) {
  const Program library = linked({compiled(twice_source), compiled(next_source)}, "-create-library");
  EXPECT_EQ(cl_program_binary_type{CL_PROGRAM_BINARY_TYPE_LIBRARY}, binary_type(library));
  const Program program = linked({compiled(kernel_source), library});
  EXPECT_EQ(cl_program_binary_type{CL_PROGRAM_BINARY_TYPE_EXECUTABLE}, binary_type(program));
  EXPECT_EQ(22, result_of(program, 10));
}

TEST_F(clLinkProgram, GivenKernelsInSeveralObjectsThenExecutableHasThemAll) {
  const Program program = linked({compiled("kernel void a() {}"), compiled("kernel void b() {}")});
  EXPECT_EQ(size_t{2}, info<size_t>(clGetProgramInfo, program.get(), CL_PROGRAM_NUM_KERNELS));
  EXPECT_NE(nullptr, kernel(program, "a").get());
  EXPECT_NE(nullptr, kernel(program, "b").get());
}

TEST_F(clLinkProgram, GivenInputsReleasedAfterLinkThenExecutableRuns) {
  Program object = compiled(whole_source);
  const Program program = linked({object});
  object.reset();
  EXPECT_EQ(8, result_of(program, 1));
}

TEST_F(clLinkProgram, GivenOneObjectLinkedTwiceThenBothExecutablesRun) {
  const Program object = compiled(whole_source);
  const Program first = linked({object});
  const Program second = linked({object});
  EXPECT_NE(first.get(), second.get());
  EXPECT_EQ(7, result_of(first, 0));
  EXPECT_EQ(8, result_of(second, 1));
}

TEST_F(clLinkProgram, GivenLinkOptionsThenTheyAreReported) {
  const Program library = linked({compiled(whole_source)}, "-create-library");
  const auto getter = [this](cl_program p, cl_program_build_info name, size_t size, void* value,
                             size_t* returned) {
    return clGetProgramBuildInfo(p, device, name, size, value, returned);
  };
  EXPECT_EQ("-create-library", info<std::string>(getter, library.get(), CL_PROGRAM_BUILD_OPTIONS));
  EXPECT_EQ(CL_BUILD_SUCCESS, info<cl_build_status>(getter, library.get(), CL_PROGRAM_BUILD_STATUS));
}

TEST_F(clLinkProgram, GivenOneDeviceThenProgramHasThatOne) {
  const cl_device_id last = devices().back();
  const Program object = compiled(whole_source);
  cl_int err = CL_SUCCESS;
  const Program program(::clLinkProgram(context, 1, &last, "", 1, object.ptr(), nullptr, nullptr, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  EXPECT_EQ(9, result_of(program, 2, last));
}

TEST_F(clLinkProgram, GivenSymbolDefinedTwiceThenLinkFailure) {
  cl_int err = CL_SUCCESS;
  link({compiled(kernel_source), compiled(twice_source), compiled(next_source), compiled(next_source)}, "",
       &err);
  EXPECT_EQ(CL_LINK_PROGRAM_FAILURE, err);
}

TEST_F(clLinkProgram, GivenCallbackThenItIsCalledWithTheLinkedProgram) {
  const Program object = compiled(whole_source);
  Calls<cl_program> calls;
  const auto notify = [](cl_program done, void* data) { static_cast<Calls<cl_program>*>(data)->add(done); };
  cl_int err = CL_SUCCESS;
  const Program program(::clLinkProgram(context, 0, nullptr, "", 1, object.ptr(), notify, &calls, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  ASSERT_EQ(std::vector<cl_program>{program}, calls.wait_for(1));
  EXPECT_EQ(8, result_of(program, 1));
}

TEST_F(clLinkProgram, GivenNoInputsThenInvalidValue) {
  const Program object = compiled(whole_source);
  expect_input_error(CL_INVALID_VALUE, 0, nullptr);
  expect_input_error(CL_INVALID_VALUE, 0, object.ptr());
  expect_input_error(CL_INVALID_VALUE, 1, nullptr);
}

TEST_F(clLinkProgram, GivenInputThatIsNoProgramThenInvalidProgram) {
  const Program object = compiled(whole_source);
  const cl_program with_foreign[] = {object, foreign_handle<cl_program>()};
  const cl_program with_null[] = {object, nullptr};
  expect_input_error(CL_INVALID_PROGRAM, 2, with_foreign);
  expect_input_error(CL_INVALID_PROGRAM, 2, with_null);
}

TEST_F(clLinkProgram, GivenInputThatIsNotCompiledThenInvalidOperation) {
  const char* source = whole_source;
  const Program program(clCreateProgramWithSource(context, 1, &source, nullptr, nullptr));
  expect_input_error(CL_INVALID_OPERATION, 1, program.ptr());
}

TEST_F(clLinkProgram, GivenUnknownOptionThenInvalidLinkerOptions) {
  expect_error(CL_INVALID_LINKER_OPTIONS, context, 0, nullptr, "-no-such-option");
}

TEST_F(clLinkProgram, GivenDeviceListAndCountThatDisagreeThenInvalidValue) {
  expect_error(CL_INVALID_VALUE, context, 1, nullptr, "");
  expect_error(CL_INVALID_VALUE, context, 0, &device, "");
}

TEST_F(clLinkProgram, GivenDeviceThatIsNotOfContextThenInvalidDevice) {
  const cl_device_id foreign = foreign_handle<cl_device_id>();
  expect_error(CL_INVALID_DEVICE, context, 1, &foreign, "");
}

TEST_F(clLinkProgram, GivenUserDataWithoutCallbackThenInvalidValue) {
  int data = 0;
  expect_error(CL_INVALID_VALUE, context, 0, nullptr, "", nullptr, &data);
}

TEST_F(clLinkProgram, GivenNullContextThenInvalidContext) {
  expect_error(CL_INVALID_CONTEXT, nullptr, 0, nullptr, "");
}

}  // namespace clique::test::suite_clLinkProgram
