#include "daemon/compiler/nvrtc/options.hpp"

#include <CL/cl.h>
#include <gtest/gtest.h>

#include "daemon/compiler/contract/build_options.hpp"

namespace clique::daemon::compiler {
namespace {

using Kind = Request::Kind;
using Words = std::vector<std::string>;

std::int32_t nvrtc_status_of(Kind kind, const std::string& text) {
  try {
    nvrtc_options(kind, text);
  } catch (const InvalidOptions& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("error: ")) << error.what();
    return error.status();
  }
  return CL_SUCCESS;
}

TEST(NvrtcOptions, GivenLanguageThenItIsRecognised) {
  EXPECT_TRUE(is_cuda_source("-x cuda"));
  EXPECT_TRUE(is_cuda_source("-DA=1 -x \"cuda\" -w"));
  EXPECT_FALSE(is_cuda_source(""));
  EXPECT_FALSE(is_cuda_source("-x cl"));
  EXPECT_FALSE(is_cuda_source("-D -xcuda"));
  EXPECT_FALSE(is_cuda_source("\"-x cuda\""));
}

TEST(NvrtcOptions, GivenOptionsOfOpenClThenNvrtcGetsItsOwn) {
  EXPECT_EQ(nvrtc_options(Kind::Build,
                          "-x cuda -DA -D B=2 -U C -cl-fast-relaxed-math -cl-denorms-are-zero -cl-mad-enable "
                          "-cl-fp32-correctly-rounded-divide-sqrt -g -w -std=c++17")
                .words,
            (Words{"-DA", "-DB=2", "-UC", "--use_fast_math", "--ftz=true", "--fmad=true", "--prec-div=true",
                   "--prec-sqrt=true", "--generate-line-info", "--disable-warnings", "--std=c++17"}));
}

TEST(NvrtcOptions, GivenFoldersOfTheClientThenNvrtcDoesNotGetThem) {
  EXPECT_EQ(nvrtc_options(Kind::Build, "-x cuda -I . -Ifolder -I /etc -DA").words, Words{"-DA"});
}

TEST(NvrtcOptions, GivenWerrorThenWarningsAreErrors) {
  EXPECT_FALSE(nvrtc_options(Kind::Build, "-x cuda").warnings_are_errors);
  EXPECT_TRUE(nvrtc_options(Kind::Build, "-x cuda -Werror").warnings_are_errors);
}

TEST(NvrtcOptions, GivenArchitectureThenItIsAskedFor) {
  EXPECT_EQ(nvrtc_options(Kind::Build, "-x cuda").architecture, "");
  EXPECT_EQ(nvrtc_options(Kind::Build, "-x cuda -arch=sm_90a").architecture, "90a");
  EXPECT_EQ(nvrtc_options(Kind::Build, "-x cuda -arch=compute_80").architecture, "80");
  for (const char* wrong : {"-arch=", "-arch=native", "-arch=sm_", "-arch=sm_90x", "-arch=sm_90;"})
    EXPECT_EQ(nvrtc_status_of(Kind::Build, std::string("-x cuda ") + wrong), CL_INVALID_BUILD_OPTIONS)
        << wrong;
}

TEST(NvrtcOptions, GivenOptionsThatMeanNothingToItThenTheyAreRefused) {
  for (const char* wrong :
       {"-I", "-cl-std=CL3.0", "-cl-kernel-arg-info", "-cl-finite-math-only", "-D", "-x cl",
        "--include-path=/etc", "--gpu-architecture=sm_90", "-cl-no-such-option", "file.cu"})
    EXPECT_EQ(nvrtc_status_of(Kind::Build, std::string("-x cuda ") + wrong), CL_INVALID_BUILD_OPTIONS)
        << wrong;
}

TEST(NvrtcOptions, GivenCompilationOrLinkThenItIsRefused) {
  EXPECT_EQ(nvrtc_status_of(Kind::Compile, "-x cuda"), CL_INVALID_COMPILER_OPTIONS);
  EXPECT_EQ(nvrtc_status_of(Kind::Link, "-x cuda"), CL_INVALID_LINKER_OPTIONS);
}

}  // namespace
}  // namespace clique::daemon::compiler
