#include "daemon/compiler/tool/common/options.hpp"

#include <CL/cl.h>
#include <gtest/gtest.h>

namespace clique::daemon::compiler {
namespace {

using Kind = Request::Kind;
using Words = std::vector<std::string>;

std::int32_t status_of(Kind kind, const std::string& text) {
  try {
    parse_options(kind, text);
  } catch (const InvalidOptions& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("error: ")) << error.what();
    return error.status();
  }
  return CL_SUCCESS;
}

TEST(Options, GivenQuotesWhenSplitThenWordsKeepTheirSpaces) {
  EXPECT_EQ(split_options("-DA=1  -D B\t-I \"a b\""), (Words{"-DA=1", "-D", "B", "-I", "a b"}));
  EXPECT_EQ(split_options(R"(-DS=\"x\" '-DT=a\b' "-DU=\"q\"" -I C:\dir)"),
            (Words{R"(-DS="x")", R"(-DT=a\b)", R"(-DU="q")", "-I", "C:dir"}));
  EXPECT_EQ(split_options("  "), Words{});
  EXPECT_EQ(split_options("\"\""), Words{""});
}

TEST(Options, GivenPreprocessorOptionsWhenParsedThenEachIsOneWord) {
  const Options options = parse_options(Kind::Build, "-DA -D B=2 -I dir -Iother -U C");
  EXPECT_EQ(options.preprocessor, (Words{"-DA", "-DB=2", "-Idir", "-Iother", "-UC"}));
}

TEST(Options, GivenEveryOptionOfTheSpecificationWhenBuildingThenAllAreTaken) {
  const Options options = parse_options(
      Kind::Build,
      "-cl-single-precision-constant -cl-denorms-are-zero -cl-fp32-correctly-rounded-divide-sqrt "
      "-cl-opt-disable "
      "-cl-mad-enable -cl-no-signed-zeros -cl-unsafe-math-optimizations -cl-finite-math-only "
      "-cl-fast-relaxed-math -cl-strict-aliasing -cl-uniform-work-group-size -cl-no-subgroup-ifp -w -Werror "
      "-cl-std=CL3.0 -cl-kernel-arg-info -g");
  EXPECT_TRUE(options.single_precision_constant && options.denorms_are_zero &&
              options.correctly_rounded_divide_sqrt && options.opt_disable && options.mad_enable &&
              options.no_signed_zeros && options.unsafe_math && options.finite_math_only &&
              options.fast_relaxed_math && options.strict_aliasing && options.uniform_work_group_size &&
              options.debug);
  EXPECT_EQ(options.warnings, (Words{"-w", "-Werror"}));
  EXPECT_EQ(options.language, 300U);
}

TEST(Options, GivenNoLanguageWhenParsedThenItIsOpenClC12) {
  EXPECT_EQ(parse_options(Kind::Build, "").language, 120U);
  EXPECT_EQ(parse_options(Kind::Compile, "-cl-std=CL2.0").language, 200U);
}

TEST(Options, GivenUnknownOptionWhenParsedThenTheStatusIsOfTheCall) {
  EXPECT_EQ(status_of(Kind::Build, "-cl-no-such-option"), CL_INVALID_BUILD_OPTIONS);
  EXPECT_EQ(status_of(Kind::Compile, "--foo"), CL_INVALID_COMPILER_OPTIONS);
  EXPECT_EQ(status_of(Kind::Link, "-cl-mad-enable"), CL_INVALID_LINKER_OPTIONS);
  // Only what clBuildProgram builds from source is divided.
  EXPECT_EQ(status_of(Kind::Compile, "-clique-check-footprints"), CL_INVALID_COMPILER_OPTIONS);
  EXPECT_TRUE(parse_options(Kind::Build, "-clique-check-footprints").check_footprints);
  EXPECT_EQ(status_of(Kind::Build, "-cl-std=CL4.0"), CL_INVALID_BUILD_OPTIONS);
  EXPECT_EQ(status_of(Kind::Build, "-cl-std=CLC++"), CL_INVALID_BUILD_OPTIONS);
  EXPECT_EQ(status_of(Kind::Build, "-D"), CL_INVALID_BUILD_OPTIONS);
  EXPECT_EQ(status_of(Kind::Build, "-create-library"), CL_INVALID_BUILD_OPTIONS);
  EXPECT_EQ(status_of(Kind::Build, "file.cl"), CL_INVALID_BUILD_OPTIONS);
}

TEST(Options, GivenLinkerOptionsWhenLinkingThenAllAreTaken) {
  const Options options = parse_options(
      Kind::Link,
      "-create-library -enable-link-options -cl-denorms-are-zero -cl-no-signed-zeros -cl-finite-math-only "
      "-cl-unsafe-math-optimizations -cl-fast-relaxed-math -cl-no-subgroup-ifp");
  EXPECT_TRUE(options.create_library && options.enable_link_options && options.denorms_are_zero &&
              options.no_signed_zeros && options.finite_math_only && options.unsafe_math &&
              options.fast_relaxed_math);
  EXPECT_EQ(status_of(Kind::Link, "-enable-link-options"), CL_INVALID_LINKER_OPTIONS);
}

TEST(Options, GivenNvidiasOptionsWhenParsedThenTheyAreTaken) {
  EXPECT_EQ(parse_options(Kind::Build, "-cl-nv-verbose -cl-nv-maxrregcount=32").max_registers, 32U);
  EXPECT_EQ(parse_options(Kind::Build, "-cl-nv-maxrregcount 64").max_registers, 64U);
  EXPECT_TRUE(parse_options(Kind::Build, "-cl-nv-opt-level=0").opt_disable);
  EXPECT_EQ(status_of(Kind::Build, "-cl-nv-maxrregcount=many"), CL_INVALID_BUILD_OPTIONS);
}

}  // namespace
}  // namespace clique::daemon::compiler
