// Programs in CUDA C++, compiled by a real clique-compiler with a fake NVRTC (fake_nvrtc.cpp).
#include <CL/cl.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "fixture.hpp"

namespace clique::daemon::compiler {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

constexpr const char* kSource =
    ".target sm_90\n.visible .entry _Z3addPii(.param .u64 p, .param .u32 n) { ret; }\n";

Request cuda_request(const std::string& source, const std::string& options = "-x cuda") {
  return build_request(source, options);
}

/// This process opens NVRTC itself as well, for its version, and does so only once. So all tests use the fake
/// one.
class CudaSource : public testing::Test {
 protected:
  Setting nvrtc_{"CLIQUE_NVRTC", FAKE_NVRTC};
  CompilerProcess compiler_{find_compiler(), Cache("")};
};

TEST_F(CudaSource, GivenKernelThenItIsDescribed) {
  const Result result = compiler_.run(cuda_request(kSource), kLimit);
  ASSERT_EQ(result.status, CL_SUCCESS) << result.log;
  const ProgramBinary binary = parse_program_binary(result.binary);
  EXPECT_EQ(binary.type, std::uint32_t{CL_PROGRAM_BINARY_TYPE_EXECUTABLE});
  EXPECT_EQ(binary.architecture, "sm_90");
  ASSERT_EQ(binary.kernels.size(), 1U);
  EXPECT_EQ(binary.kernels[0].name, "add");
  EXPECT_EQ(binary.kernels[0].symbol(), "_Z3addPii");
  EXPECT_TRUE(contains(ptx_of(binary), "--gpu-architecture=compute_90 "));
}

TEST_F(CudaSource, GivenArchitecturesThenTheLatestThatNvrtcKnowsIsTaken) {
  Request request = cuda_request(kSource);
  const auto architecture = [&](const char* device, const char* options) {
    request.architecture = device;
    request.options = options;
    const Result result = compiler_.run(request, kLimit);
    return result.status == CL_SUCCESS ? parse_program_binary(result.binary).architecture : result.log;
  };
  EXPECT_EQ(architecture("sm_89", "-x cuda"), "sm_75");
  EXPECT_EQ(architecture("sm_120", "-x cuda"), "sm_100");
  EXPECT_EQ(architecture("sm_90", "-x cuda -arch=sm_90a"), "sm_90a");
  EXPECT_TRUE(contains(architecture("sm_70", "-x cuda"), "no longer compiles for this GPU (sm_70)"));
}

TEST_F(CudaSource, GivenErrorsThenTheLogIsNvrtcs) {
  const Result result = compiler_.run(cuda_request("fail"), kLimit);
  EXPECT_EQ(result.status, CL_BUILD_PROGRAM_FAILURE);
  EXPECT_TRUE(contains(result.log, "program.cu(1): error: what the source asks for\n"));
  EXPECT_TRUE(result.binary.empty());
}

TEST_F(CudaSource, GivenWarningsThenTheyAreErrorsOnlyWhereAskedFor) {
  const std::string source = std::string("// warn\n") + kSource;
  const Result warned = compiler_.run(cuda_request(source), kLimit);
  EXPECT_EQ(warned.status, CL_SUCCESS);
  EXPECT_TRUE(contains(warned.log, "warning #1-D"));
  const Result refused = compiler_.run(cuda_request(source, "-x cuda -Werror"), kLimit);
  EXPECT_EQ(refused.status, CL_BUILD_PROGRAM_FAILURE);
  EXPECT_TRUE(refused.binary.empty());
}

TEST_F(CudaSource, GivenOptionsThatAreRefusedThenTheStatusSaysSo) {
  EXPECT_EQ(compiler_.run(cuda_request(kSource, "-x cuda --include-path=."), kLimit).status,
            CL_INVALID_BUILD_OPTIONS);
  Request request = cuda_request(kSource);
  request.kind = Request::Kind::Compile;
  EXPECT_EQ(compiler_.run(request, kLimit).status, CL_INVALID_COMPILER_OPTIONS);
}

TEST_F(CudaSource, GivenFilesOfTheClientThenNvrtcGetsThemByTheNamesInTheSource) {
  Request request = cuda_request(std::string("#include \"outer.h\"\n#include <cuda_fp16.h>\n") + kSource,
                                 "-x cuda -I include");
  request.folder = "/home/client";
  request.file_paths = {"/home/client/include/inner.h", "/home/client/include/outer.h",
                        "/home/client/unused.h"};
  request.files = {"// inner\n", "#include \"inner.h\"\n", "// unused\n"};
  const Result result = compiler_.run(request, kLimit);
  ASSERT_EQ(result.status, CL_SUCCESS) << result.log;
  const std::string ptx = ptx_of(parse_program_binary(result.binary));
  EXPECT_TRUE(contains(ptx, "\n#include \"/home/client/include/outer.h\"\n#include <cuda_fp16.h>\n"));
  EXPECT_TRUE(
      contains(ptx, "// header /home/client/include/outer.h: #include \"/home/client/include/inner.h\"\n"));
  EXPECT_TRUE(contains(ptx, "// header /home/client/include/inner.h: // inner\n"));
  EXPECT_FALSE(contains(ptx, "unused"));
  EXPECT_FALSE(contains(ptx, "-I"));
}

TEST_F(CudaSource, GivenFilesOfTheNodeThenNvrtcDoesNotLookForThem) {
  const std::string file = "/etc/passwd";
  for (const std::string& include :
       {"#include \"" + file + "\"", "#include <" + file + ">", std::string("#include \"../../etc/passwd\""),
        "#define F \"" + file + "\"\n#include F", "#define F(x) #x\n#include F(" + file + ")",
        "#if __has_include(\"" + file + "\")\n#endif"}) {
    const Result result = compiler_.run(cuda_request(include + "\n" + kSource), kLimit);
    ASSERT_EQ(result.status, CL_SUCCESS) << result.log;
    const std::string ptx = ptx_of(parse_program_binary(result.binary));
    EXPECT_TRUE(contains(ptx, "\"/proc/self/fd/none/")) << include;
    EXPECT_FALSE(contains(ptx, "#include \"/etc")) << include;
    EXPECT_FALSE(contains(ptx, "<")) << include;
  }
}

TEST_F(CudaSource, GivenNvrtcCrashesThenTheBuildFailsAndTheNextSucceeds) {
  const Result crashed = compiler_.run(cuda_request("crash"), kLimit);
  EXPECT_EQ(crashed.status, CL_BUILD_PROGRAM_FAILURE);
  EXPECT_TRUE(contains(crashed.log, "clique-compiler crashed"));
  EXPECT_EQ(compiler_.run(cuda_request(kSource), kLimit).status, CL_SUCCESS);
}

TEST_F(CudaSource, GivenNvrtcNeverEndsThenItIsStopped) {
  const Result result = compiler_.run(cuda_request("hang"), seconds(1));
  EXPECT_EQ(result.status, CL_BUILD_PROGRAM_FAILURE);
  EXPECT_TRUE(contains(result.log, "took more than 1 seconds"));
}

TEST_F(CudaSource, GivenNoNvrtcThenTheLogSaysWhatToInstall) {
  const Setting none("CLIQUE_NVRTC", "/nonexistent/libnvrtc.so.13");
  CompilerProcess compiler(find_compiler(), Cache(""));
  const Result result = compiler.run(cuda_request(kSource), kLimit);
  EXPECT_EQ(result.status, CL_COMPILER_NOT_AVAILABLE);
  EXPECT_TRUE(contains(result.log, "/nonexistent/libnvrtc.so.13"));
}

TEST_F(CudaSource, GivenBuiltOnceWhenAskedAgainThenTheCacheAnswers) {
  const fs::path folder = fs::path(testing::TempDir()) / "clique-cuda-source-cache";
  fs::remove_all(folder);
  CompilerProcess first(find_compiler(), Cache(folder));
  const Result built = first.run(cuda_request(kSource), kLimit);
  ASSERT_EQ(built.status, CL_SUCCESS) << built.log;
  // A new compiler process would not find NVRTC any more, so that only the cache can answer.
  const Setting none("CLIQUE_NVRTC", "/nonexistent/libnvrtc.so.13");
  CompilerProcess second(find_compiler(), Cache(folder));
  EXPECT_EQ(second.run(cuda_request(kSource), kLimit).binary, built.binary);
  EXPECT_EQ(second.run(cuda_request(kSource, "-x cuda -DA"), kLimit).status, CL_COMPILER_NOT_AVAILABLE);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace clique::daemon::compiler
