// What programs in CUDA C++ can include, with the NVRTC of this host. Skipped where there is none.
#include <CL/cl.h>

#include "fixture.hpp"

namespace clique::daemon::compiler {
namespace {

class CudaIncludes : public testing::Test {
 protected:
  void SetUp() override {
    if (run("extern \"C\" __global__ void k() {}").status == CL_COMPILER_NOT_AVAILABLE)
      GTEST_SKIP() << "this host has no NVRTC";
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ + "/disk.h") << "#error secret_of_the_node\n";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  Result run(const std::string& source, const std::string& options = "") {
    Request request = build_request(source, "-x cuda " + options);
    request.folder = "/home/client";
    request.file_paths = {"/home/client/include/inner/value.h", "/home/client/include/outer.h"};
    request.files = {"#pragma once\n#define VALUE 7\nint bad() { return missing_name; }\n",
                     "#include \"inner/value.h\"\n#include <cuda_fp16.h>\n"};
    return compiler_.run(request, kLimit);
  }

  const std::string folder_ = testing::TempDir() + "clique-cuda-includes-" + std::to_string(::getpid());
  CompilerProcess compiler_{find_compiler(), Cache("")};
};

TEST_F(CudaIncludes, GivenFilesOfTheClientThenTheLogNamesThem) {
  const Result result =
      run("#include \"outer.h\"\nextern \"C\" __global__ void k(int* x) { *x = VALUE; }", "-I include");
  EXPECT_EQ(result.status, CL_BUILD_PROGRAM_FAILURE);
  EXPECT_TRUE(contains(result.log, "/home/client/include/inner/value.h(3): error"));
  EXPECT_TRUE(contains(result.log, "missing_name"));
}

TEST_F(CudaIncludes, GivenHeadersOfTheToolkitThenTheyAreFound) {
  const Result result =
      run("#include <cuda_fp16.h>\nextern \"C\" __global__ void k(__half* x) { *x = __half(1); }");
  if (result.log.find("open source file") != std::string::npos)
    GTEST_SKIP() << "this host has no headers of CUDA";
  EXPECT_EQ(result.status, CL_SUCCESS) << result.log;
}

TEST_F(CudaIncludes, GivenFileOfTheNodeThenItIsNotFound) {
  const std::string file = folder_ + "/disk.h";
  for (const std::string& include :
       {"#include \"" + file + "\"", "#include <" + file + ">",
        "#include \"../../../../../../../.." + file + "\"", "#define F \"" + file + "\"\n#include F",
        "#define F(x) #x\n#include F(" + file + ")", "#inc\\\nlude \"" + file + "\"",
        std::string("#include \"disk.h\"")}) {
    for (const std::string& options : {std::string(), "-I " + folder_}) {
      const Result result = run(include + "\nextern \"C\" __global__ void k() {}", options);
      EXPECT_EQ(result.status, CL_BUILD_PROGRAM_FAILURE) << include;
      EXPECT_TRUE(contains(result.log, "open source file"));
      EXPECT_EQ(result.log.find("secret_of_the_node"), std::string::npos) << result.log;
      EXPECT_EQ(result.log.find("/proc/self/fd"), std::string::npos) << result.log;
    }
  }
  const Result asked = run("#if __has_include(\"" + file + "\")\n#error it is there\n#endif\n");
  EXPECT_EQ(asked.log.find("it is there"), std::string::npos) << asked.log;
}

}  // namespace
}  // namespace clique::daemon::compiler
