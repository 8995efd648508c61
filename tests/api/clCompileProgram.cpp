// clCompileProgram: OpenCL 3.0, section 5.8.6.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "helpers.hpp"

namespace clique::test::suite_clCompileProgram {

class clCompileProgram : public ApiTest {
 protected:
  struct Header {
    const char* name;
    const char* source;
  };

  static constexpr char good[] = "kernel void k(global int* out) { *out = 1; }";

  Program create(const char* source) {
    cl_int err = CL_SUCCESS;
    Program program(clCreateProgramWithSource(context, 1, &source, nullptr, &err));
    EXPECT_EQ(CL_SUCCESS, err);
    return program;
  }
  static cl_int compile(cl_program program, const char* options = "") {
    return ::clCompileProgram(program, 0, nullptr, options, 0, nullptr, nullptr, nullptr, nullptr);
  }
  cl_int compile_with(cl_program program, const std::vector<Header>& headers, const char* options = "") {
    std::vector<Program> owned;
    std::vector<cl_program> programs;
    std::vector<const char*> names;
    for (const Header& header : headers) {
      owned.push_back(create(header.source));
      programs.push_back(owned.back());
      names.push_back(header.name);
    }
    return ::clCompileProgram(program, 0, nullptr, options, static_cast<cl_uint>(headers.size()),
                              programs.data(), names.data(), nullptr, nullptr);
  }
  template <typename T>
  static T build_info(cl_program program, cl_program_build_info name) {
    const auto getter = [](cl_program p, cl_program_build_info n, size_t size, void* value,
                           size_t* returned) {
      return clGetProgramBuildInfo(p, devices().front(), n, size, value, returned);
    };
    return info<T>(getter, program, name);
  }
  /// Returns what kernel k of the compiled program stores once it is linked.
  int result_of(cl_program compiled) {
    cl_int err = CL_SUCCESS;
    const Program linked(clLinkProgram(context, 0, nullptr, "", 1, &compiled, nullptr, nullptr, &err));
    EXPECT_EQ(CL_SUCCESS, err);
    const Kernel k = kernel(linked, "k");
    const Mem out = buffer<int>(1);
    set_args(k, out);
    EXPECT_CL(launch(queue, k, 1));
    return read<int>(out, 1).front();
  }
};

TEST_F(clCompileProgram, GivenSourceThenProgramIsCompiledObject) {
  const Program program = create(good);
  ASSERT_CL(compile(program));
  EXPECT_EQ(CL_BUILD_SUCCESS, build_info<cl_build_status>(program, CL_PROGRAM_BUILD_STATUS));
  EXPECT_EQ(cl_program_binary_type{CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT},
            build_info<cl_program_binary_type>(program, CL_PROGRAM_BINARY_TYPE));
  EXPECT_EQ(1, result_of(program));
}

TEST_F(clCompileProgram, GivenOptionsThenSourceSeesThem) {
  const Program program = create("kernel void k(global int* out) { *out = VALUE; }");
  ASSERT_CL(compile(program, "-DVALUE=31"));
  EXPECT_EQ("-DVALUE=31", build_info<std::string>(program, CL_PROGRAM_BUILD_OPTIONS));
  EXPECT_EQ(31, result_of(program));
}

TEST_F(clCompileProgram, GivenEmbeddedHeadersThenTheyAreIncludedByName) {
  const Program program = create(R"(
#include "value.h"
#include <other.h>
kernel void k(global int* out) { *out = value() + OTHER; })");
  ASSERT_CL(
      compile_with(program, {{"value.h", "int value() { return 40; }\n"}, {"other.h", "#define OTHER 2\n"}}));
  EXPECT_EQ(42, result_of(program));
}

TEST_F(clCompileProgram, GivenHeaderNamesWithDirectoriesThenTheyAreFound) {
  const Program program = create(R"(
#include "deep/er/value.h"
#include "other/value.h"
kernel void k(global int* out) { *out = DEEP + OTHER; })");
  ASSERT_CL(compile_with(program,
                         {{"deep/er/value.h", "#define DEEP 5\n"}, {"other/value.h", "#define OTHER 6\n"}}));
  EXPECT_EQ(11, result_of(program));
}

TEST_F(clCompileProgram, GivenHeaderThatIncludesAnotherThenBothAreFound) {
  const Program program = create("#include \"outer.h\"\nkernel void k(global int* out) { *out = OUTER; }");
  ASSERT_CL(compile_with(program, {{"outer.h", "#include \"inner.h\"\n#define OUTER (INNER + 1)\n"},
                                   {"inner.h", "#define INNER 8\n"}}));
  EXPECT_EQ(9, result_of(program));
}

TEST_F(clCompileProgram, GivenFileWithTheNameOfAHeaderThenTheHeaderIsIncluded) {
  std::string folder = std::filesystem::temp_directory_path() / "clique-include-XXXXXX";
  ASSERT_NE(nullptr, ::mkdtemp(folder.data()));
  std::ofstream(folder + "/value.h") << "#define VALUE 1\n";
  std::ofstream(folder + "/file.h") << "#include \"value.h\"\n#define FILE (VALUE + 100)\n";
  const Program program = create("#include \"file.h\"\nkernel void k(global int* out) { *out = FILE; }");
  const std::string options = "-I" + folder;
  EXPECT_CL(compile_with(program, {{"value.h", "#define VALUE 2\n"}}, options.c_str()));
  EXPECT_EQ(102, result_of(program));
  EXPECT_CL(compile(program, options.c_str()));
  EXPECT_EQ(101, result_of(program));
  std::filesystem::remove_all(folder);
}

TEST_F(clCompileProgram, GivenHeaderThatIsNotIncludedThenItDoesNotMatter) {
  const Program program = create(good);
  ASSERT_CL(compile_with(program, {{"unused.h", "#error included\n"}}));
  EXPECT_EQ(1, result_of(program));
}

TEST_F(clCompileProgram, GivenSameHeaderNameWithOtherContentThenLaterCompilationSeesIt) {
  const Program program = create("#include \"value.h\"\nkernel void k(global int* out) { *out = VALUE; }");
  ASSERT_CL(compile_with(program, {{"value.h", "#define VALUE 1\n"}}));
  EXPECT_EQ(1, result_of(program));
  ASSERT_CL(compile_with(program, {{"value.h", "#define VALUE 2\n"}}));
  EXPECT_EQ(2, result_of(program));
}

TEST_F(clCompileProgram, GivenErrorInSourceThenCompileFailureWithLog) {
  const Program program = create("\n\nkernel void k() { missing_name = 1; }");
  EXPECT_EQ(CL_COMPILE_PROGRAM_FAILURE, compile(program));
  EXPECT_EQ(CL_BUILD_ERROR, build_info<cl_build_status>(program, CL_PROGRAM_BUILD_STATUS));
  const std::string log = build_info<std::string>(program, CL_PROGRAM_BUILD_LOG);
  EXPECT_NE(std::string::npos, log.find("missing_name")) << log;
  EXPECT_NE(std::string::npos, log.find(":3:")) << log;
}

TEST_F(clCompileProgram, GivenMissingHeaderThenCompileFailure) {
  const Program program = create("#include \"no_such_header.h\"\nkernel void k() {}");
  EXPECT_EQ(CL_COMPILE_PROGRAM_FAILURE, compile(program));
  EXPECT_NE(std::string::npos,
            build_info<std::string>(program, CL_PROGRAM_BUILD_LOG).find("no_such_header.h"));
}

TEST_F(clCompileProgram, GivenUndefinedFunctionThenCompiles) {
  EXPECT_CL(compile(create("int elsewhere(int);\nkernel void k(global int* out) { *out = elsewhere(1); }")));
}

TEST_F(clCompileProgram, GivenCallbackThenItIsCalledWithProgram) {
  const Program program = create(good);
  Calls<cl_program> calls;
  const auto notify = [](cl_program done, void* data) { static_cast<Calls<cl_program>*>(data)->add(done); };
  ASSERT_CL(::clCompileProgram(program, 0, nullptr, "", 0, nullptr, nullptr, notify, &calls));
  EXPECT_EQ(std::vector<cl_program>{program}, calls.wait_for(1));
  EXPECT_EQ(1, result_of(program));
}

TEST_F(clCompileProgram, GivenCompiledOnlyThenItHasNoKernelsYet) {
  const Program program = create(good);
  ASSERT_CL(compile(program));
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, clCreateKernel(program, "k", &err));
  EXPECT_EQ(CL_INVALID_PROGRAM_EXECUTABLE, err);
}

TEST_F(clCompileProgram, GivenUnknownOptionThenInvalidCompilerOptions) {
  EXPECT_EQ(CL_INVALID_COMPILER_OPTIONS, compile(create(good), "-no-such-option"));
}

TEST_F(clCompileProgram, GivenAttachedKernelThenInvalidOperation) {
  const Program program = build(good);
  Kernel k = kernel(program, "k");
  EXPECT_EQ(CL_INVALID_OPERATION, compile(program));
  k.reset();
  EXPECT_CL(compile(program));
}

TEST_F(clCompileProgram, GivenProgramWithoutSourceThenInvalidOperation) {
  const Program built = build(good);
  std::vector<std::vector<unsigned char>> binaries;
  std::vector<unsigned char*> pointers;
  for (size_t size : info<std::vector<size_t>>(clGetProgramInfo, built.get(), CL_PROGRAM_BINARY_SIZES)) {
    binaries.emplace_back(size);
    pointers.push_back(binaries.back().data());
  }
  ASSERT_CL(clGetProgramInfo(built, CL_PROGRAM_BINARIES, pointers.size() * sizeof pointers[0],
                             pointers.data(), nullptr));
  const unsigned char* data = binaries.front().data();
  const size_t size = binaries.front().size();
  const Program from_binary(clCreateProgramWithBinary(context, 1, &device, &size, &data, nullptr, nullptr));
  ASSERT_NE(nullptr, from_binary.get());
  EXPECT_EQ(CL_INVALID_OPERATION, compile(from_binary));
}

TEST_F(clCompileProgram, GivenHeadersAndCountThatDisagreeThenInvalidValue) {
  const Program program = create(good);
  const Program header = create("");
  const char* name = "value.h";
  const auto compile_raw = [&](cl_uint count, const cl_program* headers, const char** names) {
    return ::clCompileProgram(program, 0, nullptr, "", count, headers, names, nullptr, nullptr);
  };
  EXPECT_EQ(CL_INVALID_VALUE, compile_raw(0, header.ptr(), nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, compile_raw(0, nullptr, &name));
  EXPECT_EQ(CL_INVALID_VALUE, compile_raw(1, header.ptr(), nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, compile_raw(1, nullptr, &name));
}

TEST_F(clCompileProgram, GivenHeaderThatIsNoProgramThenInvalidProgram) {
  const Program program = create(good);
  const cl_program foreign = foreign_handle<cl_program>();
  const char* name = "value.h";
  EXPECT_EQ(CL_INVALID_PROGRAM,
            ::clCompileProgram(program, 0, nullptr, "", 1, &foreign, &name, nullptr, nullptr));
}

TEST_F(clCompileProgram, GivenDeviceListAndCountThatDisagreeThenInvalidValue) {
  const Program program = create(good);
  EXPECT_EQ(CL_INVALID_VALUE,
            ::clCompileProgram(program, 1, nullptr, "", 0, nullptr, nullptr, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE,
            ::clCompileProgram(program, 0, &device, "", 0, nullptr, nullptr, nullptr, nullptr));
}

TEST_F(clCompileProgram, GivenDeviceThatIsNotOfProgramThenInvalidDevice) {
  const Program program = create(good);
  const cl_device_id foreign = foreign_handle<cl_device_id>();
  EXPECT_EQ(CL_INVALID_DEVICE,
            ::clCompileProgram(program, 1, &foreign, "", 0, nullptr, nullptr, nullptr, nullptr));
}

TEST_F(clCompileProgram, GivenUserDataWithoutCallbackThenInvalidValue) {
  const Program program = create(good);
  int data = 0;
  EXPECT_EQ(CL_INVALID_VALUE,
            ::clCompileProgram(program, 0, nullptr, "", 0, nullptr, nullptr, nullptr, &data));
}

TEST_F(clCompileProgram, GivenNullProgramThenInvalidProgram) {
  EXPECT_EQ(CL_INVALID_PROGRAM, compile(nullptr));
}

}  // namespace clique::test::suite_clCompileProgram
