// clBuildProgram: OpenCL 3.0, section 5.8.4.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "helpers.hpp"

namespace clique::test::suite_clBuildProgram {

class clBuildProgram : public ApiTest {
 protected:
  struct Notified {
    cl_program program;
    cl_build_status status;
  };

  static constexpr char good[] = "kernel void k(global int* out) { *out = 1; }";
  static constexpr char bad[] = "kernel void k(global int* out) {\n\n  *out = missing_name;\n}\n";

  Program create(const char* source) {
    cl_int err = CL_SUCCESS;
    Program program(clCreateProgramWithSource(context, 1, &source, nullptr, &err));
    EXPECT_EQ(CL_SUCCESS, err);
    return program;
  }
  static cl_build_status build_status(cl_program program, cl_device_id on) {
    cl_build_status status = CL_BUILD_NONE;
    EXPECT_CL(clGetProgramBuildInfo(program, on, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, nullptr));
    return status;
  }
  static std::string build_log(cl_program program, cl_device_id on) {
    const auto getter = [on](cl_program p, cl_program_build_info name, size_t size, void* value,
                             size_t* returned) {
      return clGetProgramBuildInfo(p, on, name, size, value, returned);
    };
    return info<std::string>(getter, program, CL_PROGRAM_BUILD_LOG);
  }
  static cl_int build_all(cl_program program, const char* options) {
    return ::clBuildProgram(program, 0, nullptr, options, nullptr, nullptr);
  }
  /// Returns what kernel k of `source`, built with `options`, stores.
  int result_of(const char* source, const char* options) {
    const Program program = build(source, options);
    const Kernel k = kernel(program, "k");
    const Mem out = buffer<int>(1);
    set_args(k, out);
    EXPECT_CL(launch(queue, k, 1));
    return read<int>(out, 1).front();
  }
  static void CL_CALLBACK notify(cl_program program, void* calls) {
    static_cast<Calls<Notified>*>(calls)->add({program, build_status(program, devices().front())});
  }
};

TEST_F(clBuildProgram, GivenGoodSourceThenStatusIsSuccessOnAllDevices) {
  const Program program = create(good);
  EXPECT_CL(build_all(program, nullptr));
  for (cl_device_id one : devices()) EXPECT_EQ(CL_BUILD_SUCCESS, build_status(program, one));
}

TEST_F(clBuildProgram, GivenBuildWhenRunOnEveryDeviceThenResultsAreRight) {
  const Program program = build("kernel void k(global int* out) { *out += 5; }");
  const Kernel k = kernel(program, "k");
  for (cl_device_id one : devices()) {
    const int start = 10;
    const Mem out = buffer<int>(1, &start);
    const Queue on = make_queue(0, one);
    set_args(k, out);
    ASSERT_CL(launch(on, k, 1));
    ASSERT_CL(clFinish(on));
    EXPECT_EQ(15, read<int>(out, 1).front());
  }
}

TEST_F(clBuildProgram, GivenMacroOptionsThenSourceSeesThem) {
  const char* source = R"(
#ifdef FLAG
#define F 1000
#else
#define F 0
#endif
kernel void k(global int* out) { *out = F + A + B; })";
  EXPECT_EQ(1023, result_of(source, "-DA=20 -D B=3 -DFLAG"));
  EXPECT_EQ(7, result_of(source, "  -D A=5\t -DB=2  "));
}

TEST_F(clBuildProgram, GivenMathAndWarningOptionsThenBuildSucceeds) {
  for (const char* options :
       {"-cl-single-precision-constant", "-cl-denorms-are-zero", "-cl-opt-disable", "-cl-mad-enable",
        "-cl-no-signed-zeros", "-cl-unsafe-math-optimizations", "-cl-finite-math-only",
        "-cl-fast-relaxed-math", "-w", "-Werror", "-cl-kernel-arg-info", "-I /nowhere/at/all", ""}) {
    EXPECT_EQ(1, result_of(good, options)) << options;
  }
}

TEST_F(clBuildProgram, GivenLanguageVersionThenSourceSeesIt) {
  const char* source = "kernel void k(global int* out) { *out = __OPENCL_C_VERSION__; }";
  EXPECT_EQ(110, result_of(source, "-cl-std=CL1.1"));
  EXPECT_EQ(120, result_of(source, "-cl-std=CL1.2"));
}

TEST_F(clBuildProgram, GivenErrorInSourceThenBuildFailsAndLogNamesTheLine) {
  const Program program = create(bad);
  EXPECT_EQ(CL_BUILD_PROGRAM_FAILURE, build_all(program, ""));
  EXPECT_EQ(CL_BUILD_ERROR, build_status(program, device));
  const std::string log = build_log(program, device);
  EXPECT_NE(std::string::npos, log.find("missing_name")) << log;
  EXPECT_NE(std::string::npos, log.find(":3:")) << log;
}

/// A folder with files that programs include.
class IncludeFolder {
 public:
  IncludeFolder() {
    std::string name = std::filesystem::temp_directory_path() / "clique-include-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ~IncludeFolder() { std::filesystem::remove_all(path_); }
  IncludeFolder(const IncludeFolder&) = delete;
  IncludeFolder& operator=(const IncludeFolder&) = delete;
  void write(const std::string& file, const std::string& text) const {
    std::ofstream(path_ + "/" + file) << text;
  }
  std::string option() const { return "-I " + path_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST_F(clBuildProgram, GivenFolderOfOptionThenItsFilesAreIncluded) {
  const IncludeFolder folder;
  folder.write("outer.h", "#include \"inner.h\"\n");
  folder.write("inner.h", "#define VALUE 42\n");
  const char* const source = "#include <outer.h>\nkernel void k(global int* out) { *out = VALUE; }";
  EXPECT_EQ(42, result_of(source, folder.option().c_str()));
  // A later build has what the file has then.
  folder.write("inner.h", "#define VALUE 43\n");
  EXPECT_EQ(43, result_of(source, folder.option().c_str()));
}

TEST_F(clBuildProgram, GivenAbsolutePathThenTheFileIsIncluded) {
  const IncludeFolder folder;
  folder.write("value.h", "#define VALUE 44\n");
  const std::string source =
      "#include \"" + folder.path() + "/value.h\"\nkernel void k(global int* out) { *out = VALUE; }";
  EXPECT_EQ(44, result_of(source.c_str(), ""));
}

TEST_F(clBuildProgram, GivenErrorInIncludedFileThenLogNamesIt) {
  const IncludeFolder folder;
  folder.write("bad.h", "\nint f() { return missing_name; }\n");
  const Program program = create("#include \"bad.h\"\nkernel void k() {}");
  EXPECT_EQ(CL_BUILD_PROGRAM_FAILURE, build_all(program, folder.option().c_str()));
  const std::string log = build_log(program, device);
  EXPECT_NE(std::string::npos, log.find(folder.path() + "/bad.h:2:")) << log;
}

TEST_F(clBuildProgram, GivenFileThatDoesNotExistThenLogSaysSo) {
  const Program program = create("#include \"no_such_file.h\"\nkernel void k() {}");
  EXPECT_EQ(CL_BUILD_PROGRAM_FAILURE, build_all(program, ""));
  EXPECT_NE(std::string::npos, build_log(program, device).find("'no_such_file.h' file not found"));
}

TEST_F(clBuildProgram, GivenTooManyIncludedFilesThenTheBuildFailsWithALogAndWithoutCallback) {
  const IncludeFolder folder;
  std::string source = "kernel void k() {}\n";
  for (int i = 0; i < 5000; ++i) {
    folder.write(std::to_string(i) + ".h", "");
    source += "#include \"" + std::to_string(i) + ".h\"\n";
  }
  const Program program = create(source.c_str());
  Calls<Notified> calls;
  EXPECT_EQ(CL_BUILD_PROGRAM_FAILURE,
            ::clBuildProgram(program, 0, nullptr, folder.option().c_str(), notify, &calls));
  EXPECT_EQ(CL_BUILD_ERROR, build_status(program, device));
  EXPECT_NE(std::string::npos, build_log(program, device).find("more than 4096 files"))
      << build_log(program, device);
  // The program can be built again.
  EXPECT_EQ(CL_BUILD_PROGRAM_FAILURE, build_all(program, ""));
  EXPECT_TRUE(calls.wait_for(0).empty());
}

TEST_F(clBuildProgram, GivenErrorDirectiveThenLogHasItsText) {
  const Program program = create("#error the text of the error\nkernel void k() {}");
  EXPECT_EQ(CL_BUILD_PROGRAM_FAILURE, build_all(program, ""));
  EXPECT_NE(std::string::npos, build_log(program, device).find("the text of the error"));
}

TEST_F(clBuildProgram, GivenWarningWhenItIsMadeAnErrorThenBuildFails) {
  const char* source = "#warning look here\nkernel void k() {}";
  EXPECT_CL(build_all(create(source), ""));
  EXPECT_EQ(CL_BUILD_PROGRAM_FAILURE, build_all(create(source), "-Werror"));
}

TEST_F(clBuildProgram, GivenFailedBuildWhenBuiltAgainWithWorkingOptionsThenSucceeds) {
  const Program program = create(bad);
  EXPECT_EQ(CL_BUILD_PROGRAM_FAILURE, build_all(program, ""));
  EXPECT_CL(build_all(program, "-Dmissing_name=9"));
  EXPECT_EQ(CL_BUILD_SUCCESS, build_status(program, device));
  const Kernel k = kernel(program, "k");
  const Mem out = buffer<int>(1);
  set_args(k, out);
  ASSERT_CL(launch(queue, k, 1));
  EXPECT_EQ(9, read<int>(out, 1).front());
}

TEST_F(clBuildProgram, GivenBuiltProgramWhenBuiltAgainThenLaterOptionsCount) {
  const Program program = create("kernel void k(global int* out) { *out = VALUE; }");
  const Mem out = buffer<int>(1);
  for (const int value : {1, 2}) {
    ASSERT_CL(build_all(program, ("-DVALUE=" + std::to_string(value)).c_str()));
    const Kernel k = kernel(program, "k");
    set_args(k, out);
    ASSERT_CL(launch(queue, k, 1));
    EXPECT_EQ(value, read<int>(out, 1).front());
  }
}

TEST_F(clBuildProgram, GivenBuiltProgramWhenRebuildFailsThenItHasNoExecutable) {
  const Program program = create("kernel void k(global int* out) { *out = VALUE; }");
  ASSERT_CL(build_all(program, "-DVALUE=1"));
  EXPECT_EQ(CL_BUILD_PROGRAM_FAILURE, build_all(program, ""));
  EXPECT_EQ(CL_BUILD_ERROR, build_status(program, device));
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, clCreateKernel(program, "k", &err));
  EXPECT_EQ(CL_INVALID_PROGRAM_EXECUTABLE, err);
}

TEST_F(clBuildProgram, GivenOneDeviceThenOnlyThatOneIsBuilt) {
  const cl_device_id last = devices().back();
  const Program program = create(good);
  ASSERT_CL(::clBuildProgram(program, 1, &last, "", nullptr, nullptr));
  EXPECT_EQ(CL_BUILD_SUCCESS, build_status(program, last));
  if (devices().size() > 1) {
    EXPECT_EQ(CL_BUILD_NONE, build_status(program, devices().front()));
  }
  const Queue on = make_queue(0, last);
  const Kernel k = kernel(program, "k");
  const Mem out = buffer<int>(1);
  set_args(k, out);
  ASSERT_CL(launch(on, k, 1));
  ASSERT_CL(clFinish(on));
  EXPECT_EQ(1, read<int>(out, 1).front());
}

TEST_F(clBuildProgram, GivenCallbackWhenBuildSucceedsThenItIsCalledOnceWithProgramAndStatus) {
  const Program program = create(good);
  Calls<Notified> calls;
  ASSERT_CL(::clBuildProgram(program, 0, nullptr, "", notify, &calls));
  const std::vector<Notified> made = calls.wait_for(1);
  ASSERT_EQ(1U, made.size());
  EXPECT_EQ(program.get(), made.front().program);
  EXPECT_EQ(CL_BUILD_SUCCESS, made.front().status);
  EXPECT_NE(nullptr, kernel(program, "k").get());
}

TEST_F(clBuildProgram, GivenCallbackWhenBuildFailsThenItIsCalledWithErrorStatus) {
  const Program program = create(bad);
  Calls<Notified> calls;
  // A driver may build before or after the call returns.
  const cl_int err = ::clBuildProgram(program, 0, nullptr, "", notify, &calls);
  EXPECT_TRUE(err == CL_SUCCESS || err == CL_BUILD_PROGRAM_FAILURE) << err;
  const std::vector<Notified> made = calls.wait_for(1);
  ASSERT_EQ(1U, made.size());
  EXPECT_EQ(program.get(), made.front().program);
  EXPECT_EQ(CL_BUILD_ERROR, made.front().status);
  EXPECT_NE(std::string::npos, build_log(program, device).find("missing_name"));
}

TEST_F(clBuildProgram, GivenManyProgramsWithCallbacksThenEachIsCalledOnce) {
  Calls<Notified> calls;
  std::vector<Program> programs;
  for (int i = 0; i < 4; ++i) {
    programs.push_back(create(good));
    ASSERT_CL(::clBuildProgram(programs.back(), 0, nullptr, "", notify, &calls));
  }
  const std::vector<Notified> made = calls.wait_for(4);
  ASSERT_EQ(4U, made.size());
  for (const Program& program : programs) {
    EXPECT_EQ(1, std::count_if(made.begin(), made.end(),
                               [&](const Notified& one) { return one.program == program.get(); }));
  }
}

TEST_F(clBuildProgram, GivenUnknownOptionThenInvalidBuildOptions) {
  const Program program = create(good);
  EXPECT_EQ(CL_INVALID_BUILD_OPTIONS, build_all(program, "-no-such-option"));
  EXPECT_EQ(CL_INVALID_BUILD_OPTIONS, build_all(program, "-cl-no-such-option"));
  EXPECT_CL(build_all(program, ""));
}

TEST_F(clBuildProgram, GivenAttachedKernelThenInvalidOperationUntilItIsReleased) {
  const Program program = create(good);
  ASSERT_CL(build_all(program, ""));
  Kernel k = kernel(program, "k");
  EXPECT_EQ(CL_INVALID_OPERATION, build_all(program, ""));
  k.reset();
  EXPECT_CL(build_all(program, ""));
}

TEST_F(clBuildProgram, GivenDeviceListAndCountThatDisagreeThenInvalidValue) {
  const Program program = create(good);
  EXPECT_EQ(CL_INVALID_VALUE, ::clBuildProgram(program, 1, nullptr, "", nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, ::clBuildProgram(program, 0, &device, "", nullptr, nullptr));
}

TEST_F(clBuildProgram, GivenUserDataWithoutCallbackThenInvalidValue) {
  const Program program = create(good);
  int data = 0;
  EXPECT_EQ(CL_INVALID_VALUE, ::clBuildProgram(program, 0, nullptr, "", nullptr, &data));
}

TEST_F(clBuildProgram, GivenDeviceThatIsNotOfProgramThenInvalidDevice) {
  const Program program = create(good);
  const cl_device_id foreign = foreign_handle<cl_device_id>();
  const cl_device_id null = nullptr;
  EXPECT_EQ(CL_INVALID_DEVICE, ::clBuildProgram(program, 1, &foreign, "", nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_DEVICE, ::clBuildProgram(program, 1, &null, "", nullptr, nullptr));
}

TEST_F(clBuildProgram, GivenNullProgramThenInvalidProgram) {
  EXPECT_EQ(CL_INVALID_PROGRAM, build_all(nullptr, ""));
}

}  // namespace clique::test::suite_clBuildProgram
