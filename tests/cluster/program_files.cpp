// Programs that include files of the client's host, which no node has: with_nodes hides the folder from the
// nodes, and gives them a file there that only they have.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "../api/helpers.hpp"

namespace clique::test {

namespace fs = std::filesystem;

class ProgramFiles : public ApiTest {
 protected:
  static constexpr const char* kSecret = "secret_of_the_node";

  void SetUp() override {
    const char* const hidden = std::getenv("CLIQUE_TEST_HIDDEN");
    if (hidden == nullptr || *hidden == '\0') GTEST_SKIP() << "with_nodes hides no folder";
    node_folder_ = hidden;
    folder_ = node_folder_ / std::to_string(::getpid());
    fs::create_directories(folder_ / "kernels/inner");
    fs::create_directories(folder_ / "include");
    before_ = fs::current_path();
    fs::current_path(folder_);
    ApiTest::SetUp();
  }
  void TearDown() override {
    ApiTest::TearDown();
    if (before_.empty()) return;
    fs::current_path(before_);
    fs::remove_all(folder_);
  }
  static void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

  Program create(const std::string& source) {
    const char* text = source.c_str();
    cl_int err = CL_SUCCESS;
    Program program(clCreateProgramWithSource(context, 1, &text, nullptr, &err));
    EXPECT_EQ(CL_SUCCESS, err);
    return program;
  }
  static cl_int build_all(cl_program program, const std::string& options) {
    return ::clBuildProgram(program, 0, nullptr, options.c_str(), nullptr, nullptr);
  }
  static std::string log_of(cl_program program, cl_device_id on) {
    const auto getter = [on](cl_program p, cl_program_build_info name, size_t size, void* value,
                             size_t* returned) {
      return clGetProgramBuildInfo(p, on, name, size, value, returned);
    };
    return info<std::string>(getter, program, CL_PROGRAM_BUILD_LOG);
  }
  static std::string all_logs(cl_program program) {
    std::string logs;
    for (cl_device_id one : devices()) logs += log_of(program, one);
    return logs;
  }
  /// The work-group size that kernel k requires, on each device: known without running it.
  void expect_value(cl_program program, size_t value) {
    const Kernel k = kernel(program, "k");
    for (cl_device_id one : devices()) {
      size_t size[3] = {};
      EXPECT_CL(
          ::clGetKernelWorkGroupInfo(k, one, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof size, size, nullptr));
      EXPECT_EQ(value, size[0]);
    }
  }
  /// What kernel k computes, on each device.
  void expect_result(cl_program program, int value) {
    const Kernel k = kernel(program, "k");
    for (cl_device_id one : devices()) {
      // The substitute for a GPU does not compute.
      if (info<std::string>(::clGetDeviceInfo, one, CL_DEVICE_VENDOR).find("NVIDIA") != std::string::npos)
        continue;
      const Queue on = make_queue(0, one);
      const Mem out = buffer<int>(1);
      set_args(k, out);
      ASSERT_CL(launch(on, k, 1));
      ASSERT_CL(clFinish(on));
      EXPECT_EQ(value, read<int>(out, 1).front());
    }
  }
  void expect_builds_with(const std::string& source, const std::string& options, size_t value) {
    SCOPED_TRACE(source + "\n" + options);
    const Program program = create(source);
    ASSERT_EQ(CL_SUCCESS, build_all(program, options)) << all_logs(program);
    expect_value(program, value);
  }

  fs::path node_folder_;
  fs::path folder_;
  fs::path before_;
};

constexpr const char* kKernel =
    "\nkernel __attribute__((reqd_work_group_size(VALUE, 1, 1))) void k(global int* out) { *out = VALUE; }\n";

TEST_F(ProgramFiles, GivenFoldersOfOptionsThenTheirFilesAreFound) {
  write("include/value.h", "#define VALUE 2\n");
  const std::string source = std::string("#include \"value.h\"") + kKernel;
  expect_builds_with(source, "-I include", 2);
  expect_builds_with(source, "-Iinclude", 2);
  expect_builds_with(source, "-I " + (folder_ / "include").string(), 2);
  expect_builds_with(source, "-I kernels -I kernels/../include", 2);
  expect_builds_with(std::string("#include <value.h>") + kKernel, "-I include", 2);
}

TEST_F(ProgramFiles, GivenRelativeAndNestedIncludesThenTheyAreFound) {
  write("kernels/outer.h", "#include \"inner/inner.h\"\n");
  write("kernels/inner/inner.h", "#include \"../../include/value.h\"\n#include <angled.h>\n");
  write("include/value.h", "#define VALUE (ONE + 3)\n");
  write("include/angled.h", "#ifndef ONE\n#define ONE 1\n#include \"angled.h\"\n#endif\n");
  expect_builds_with(std::string("#include \"kernels/outer.h\"") + kKernel, "-I include", 4);
  expect_builds_with("#include \"" + (folder_ / "kernels/outer.h").string() + "\"" + kKernel, "-Iinclude", 4);
}

TEST_F(ProgramFiles, GivenComputedIncludesThenTheyAreFound) {
  write("include/value.h", "#define VALUE 8\n");
  const std::string stringized = std::string("#include TEXT(FOLDER/value.h)") + kKernel;
  expect_builds_with(
      stringized, "-D FOLDER=" + (folder_ / "include").string() + " -D SPELL(x)=#x -D TEXT(x)=SPELL(x)", 8);
  expect_builds_with(std::string("#define FILE \"include/value.h\"\n#include FILE") + kKernel, "", 8);
}

TEST_F(ProgramFiles, GivenProgramWhenRunThenItComputesWithItsFiles) {
  write("include/value.h", "int value() { return 41; }\n");
  const Program program =
      create("#include \"value.h\"\nkernel void k(global int* out) { *out = value() + 1; }");
  ASSERT_EQ(CL_SUCCESS, build_all(program, "-I include")) << all_logs(program);
  expect_result(program, 42);
}

/// As John the Ripper builds its formats: its source includes files by names alone, which are in the folder
/// `opencl` of the working directory; these include others of it, some under names that options define.
TEST_F(ProgramFiles, GivenTheFilesOfAFormatOfJohnTheRipperThenItComputes) {
  fs::create_directory("opencl");
  write("opencl/opencl_device_info.h",
        "#if gpu(DEVICE_INFO)\n#define STEP 3\n#else\n#define STEP 2\n#endif\n");
  write("opencl/opencl_misc.h",
        "#ifndef OPENCL_MISC\n#define OPENCL_MISC\n#define gpu(info) ((info) & 2)\n"
        "#include \"opencl_device_info.h\"\n#endif\n");
  write("opencl/opencl_sha2_plain.h", "#include \"opencl_misc.h\"\nuint turn(uint x) { return x + STEP; }\n");
  write("opencl/opencl_sha2.h",
        "#define SPELL(x) #x\n#define TEXT(x) SPELL(x)\n#include TEXT(SHA2_FILE)\n#include "
        "\"opencl_misc.h\"\n");
  const Program program = create(
      "#include \"opencl_misc.h\"\n#include \"opencl_sha2.h\"\n"
      "kernel void k(global int* out) { *out = convert_int(turn(40)); }\n");
  ASSERT_EQ(
      CL_SUCCESS,
      build_all(program,
                "-I opencl -cl-mad-enable -D__CPU__ -DDEVICE_INFO=33 -DDEV_VER_MAJOR=3 -D_OPENCL_COMPILER "
                "-DSHA2_FILE=opencl_sha2_plain.h"))
      << all_logs(program);
  expect_result(program, 42);
}

TEST_F(ProgramFiles, GivenFileThatChangesThenTheNextProgramHasTheNewText) {
  const std::string source = std::string("# include \"value.h\"") + kKernel;
  for (size_t value : {1, 2, 4}) {
    write("value.h", "#define VALUE " + std::to_string(value) + "\n");
    expect_builds_with(source, "", value);
  }
}

TEST_F(ProgramFiles, GivenErrorInFileThenTheLogNamesTheClientsFile) {
  write("include/bad.h", "\n\nint f() { return missing_name; }\n");
  const Program program = create("#include \"bad.h\"\nkernel void k() {}\n");
  ASSERT_EQ(CL_BUILD_PROGRAM_FAILURE, build_all(program, "-I include"));
  for (cl_device_id one : devices()) {
    const std::string log = log_of(program, one);
    EXPECT_NE(std::string::npos, log.find("include/bad.h:3:")) << log;
    EXPECT_NE(std::string::npos, log.find("missing_name")) << log;
    EXPECT_EQ(std::string::npos, log.find("/proc/self/fd")) << log;
  }
}

TEST_F(ProgramFiles, GivenFileThatOnlyTheNodeHasThenNoIncludeReadsIt) {
  const std::string file = node_folder_ / "only_on_the_node.h";
  ASSERT_FALSE(fs::exists(file));
  // From the folders where compilers run and keep sources.
  std::string up;
  for (int i = 0; i < 20; ++i) up += "../";
  const std::string climbing = up + file.substr(1);
  const std::string name = "only_on_the_node.h";
  const std::string guarded =
      "\n#ifdef FOUND_ON_THE_NODE\n#error secret_of_the_node\n#endif\nkernel void k() {}\n";
  for (const std::string& include :
       {"#include \"" + file + "\"", "#include <" + file + ">", "#include \"" + climbing + "\"",
        "#include <" + climbing + ">", "#include \"" + name + "\"", "#include <" + name + ">",
        "#include_next \"" + file + "\"", "#import \"" + file + "\"", "%:include \"" + file + "\"",
        "?\?=include \"" + file + "\"", "#inc\\\nlude \"" + file + "\"",
        "/* */ # /* \n */ include /* */ \"" + file + "\"", "/*\n*/#include \"" + file + "\"",
        "\xEF\xBB\xBF#include \"" + file + "\"", "#define F \"" + file + "\"\n#include F",
        "#define F(x) #x\n#include F(" + file + ")",
        "#define F \"" + file + "\"\n#undef F\n#define F \"" + climbing + "\"\n#include F",
        "#define G() F\n#define F \"" + file + "\"\n#include G()"}) {
    SCOPED_TRACE(include);
    for (const std::string& options : {std::string(), "-I " + node_folder_.string(),
                                       "-I / -I. -I" + climbing.substr(0, climbing.rfind('/'))}) {
      const Program program = create(include + guarded);
      build_all(program, options);
      const std::string logs = all_logs(program);
      EXPECT_EQ(std::string::npos, logs.find(kSecret)) << logs;
    }
  }
}

TEST_F(ProgramFiles, GivenFileThatOnlyTheNodeHasThenThereIsNoSignOfIt) {
  const std::string file = node_folder_ / "only_on_the_node.h";
  for (const std::string& question :
       {"__has_include(\"" + file + "\")", "__has_include(<" + file + ">)",
        std::string("__has_include( FILE )"), "__has_include /* */ (STRING(" + file + "))"}) {
    SCOPED_TRACE(question);
    const Program program = create("#define FILE \"" + file + "\"\n#define STRING(x) #x\n#if " + question +
                                   "\n#error it is there\n#endif\nkernel void k() {}\n");
    build_all(program, "");
    const std::string logs = all_logs(program);
    EXPECT_EQ(std::string::npos, logs.find("it is there")) << logs;
  }
}

TEST_F(ProgramFiles, GivenOptionsThatNameFilesThenTheyAreRefused) {
  const std::string file = node_folder_ / "only_on_the_node.h";
  for (const std::string& options :
       {"-include " + file, "-imacros " + file, "@" + file, file, "-Xclang -include -Xclang " + file}) {
    SCOPED_TRACE(options);
    const Program program = create("kernel void k() {}\n");
    EXPECT_EQ(CL_INVALID_BUILD_OPTIONS, build_all(program, options));
    const std::string logs = all_logs(program);
    EXPECT_EQ(std::string::npos, logs.find(kSecret)) << logs;
  }
}

TEST_F(ProgramFiles, GivenCompiledProgramWithHeadersThenHeadersComeBeforeFiles) {
  write("include/value.h", "#define VALUE 16\n");
  write("include/file.h", "#include \"value.h\"\n");
  const Program header = create("#define VALUE 32\n");
  const Program compiled = create(std::string("#include \"file.h\"") + kKernel);
  const char* const name = "value.h";
  const char* names[] = {name};
  ASSERT_EQ(CL_SUCCESS,
            ::clCompileProgram(compiled, 0, nullptr, "-I include", 1, header.ptr(), names, nullptr, nullptr))
      << all_logs(compiled);
  cl_int err = CL_SUCCESS;
  const Program linked(clLinkProgram(context, 0, nullptr, "", 1, compiled.ptr(), nullptr, nullptr, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  expect_value(linked, 32);
}

}  // namespace clique::test
