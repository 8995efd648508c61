#include "daemon/compiler/nvrtc/ptx_kernels.hpp"

#include <CL/cl.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace clique::daemon::compiler {
namespace {

constexpr std::string_view kHeader = ".version 8.4\n.target sm_90\n.address_size 64\n";

std::vector<Kernel> kernels(const std::string& ptx) {
  return kernels_of_ptx(std::string(kHeader) + ptx);
}

TEST(PtxKernels, GivenParametersOfEveryKindThenSizesAndPlacesAreTold) {
  const auto found = kernels(R"(
    .visible .entry saxpy(
      .param .f32 saxpy_param_0,
      .param .u64 saxpy_param_1,
      .param .u64 .ptr .global .align 16 saxpy_param_2,
      .param .u8 saxpy_param_3,
      .param .align 8 .b8 saxpy_param_4[16],
      .param .align 4 .b8 saxpy_param_5[12],
      .param .f64 saxpy_param_6
    )
    { ret; })");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "saxpy");
  EXPECT_EQ(found[0].symbol(), "saxpy");
  ASSERT_EQ(found[0].args.size(), 7U);
  const ArgKind kinds[] = {ArgKind::Value, ArgKind::Any,   ArgKind::Global, ArgKind::Value,
                           ArgKind::Value, ArgKind::Value, ArgKind::Value};
  const std::uint32_t sizes[] = {4, 8, 8, 1, 16, 12, 8};
  const std::uint32_t offsets[] = {0, 8, 16, 24, 32, 48, 64};
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(found[0].args[i].kind, kinds[i]) << i;
    EXPECT_EQ(found[0].args[i].size, sizes[i]) << i;
    EXPECT_EQ(found[0].args[i].offset, offsets[i]) << i;
  }
  EXPECT_EQ(found[0].params_size, 72U);
  EXPECT_TRUE(found[0].one_grid);
  EXPECT_TRUE(found[0].uniform_groups);
}

TEST(PtxKernels, GivenLimitsOfAGroupThenOnlyARequiredSizeIsRequired) {
  const auto found = kernels(R"(
    .entry limited() .maxntid 128, 1, 1 .minnctapersm 2 { ret; }
    .entry fixed() .reqntid 32, 4 { ret; })");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].required_group, (std::array<std::uint32_t, 3>{0, 0, 0}));
  EXPECT_EQ(found[1].required_group, (std::array<std::uint32_t, 3>{32, 4, 1}));
}

TEST(PtxKernels, GivenDynamicMemoryThenItsUsersHaveAnArgumentMore) {
  const auto found = kernels(R"(
    .extern .shared .align 16 .b8 tile[];
    .shared .align 4 .b8 own[256];
    .func (.param .b32 result) deeper(.param .b32 x) { mov.u64 %rd1, tile; ret; }
    .func other() { call.uni deeper, (x); ret; }
    .entry direct(.param .u64 p) { mov.u64 %rd1, tile; ret; }
    .entry through() { { call.uni other, (); } ret; }
    // tile is only in a comment here /* and here: tile */
    .entry none() { mov.u64 %rd1, own; ret; })");
  ASSERT_EQ(found.size(), 3U);
  ASSERT_EQ(found[0].args.size(), 2U);
  EXPECT_EQ(found[0].args[1].kind, ArgKind::Dynamic);
  EXPECT_EQ(found[0].args[1].description.address, std::uint32_t{CL_KERNEL_ARG_ADDRESS_LOCAL});
  EXPECT_EQ(found[0].params_size, 8U);
  ASSERT_EQ(found[1].args.size(), 1U);
  EXPECT_EQ(found[1].args[0].kind, ArgKind::Dynamic);
  EXPECT_TRUE(found[2].args.empty());
}

TEST(PtxKernels, GivenPrintfThenItsUsersAreKnown) {
  const auto found = kernels(R"(
    .extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b) ;
    .func say() { call.uni (r), vprintf, (a, b); ret; }
    .entry loud() { call.uni say, (); ret; }
    .entry quiet() { ret; })");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(found[0].driver_prints);
  EXPECT_FALSE(found[1].driver_prints);
}

TEST(PtxKernels, GivenNamesOfCppThenKernelsAreCalledAsDeclared) {
  const auto found = kernels(R"(
    .entry _Z5scalePff() { ret; }
    .weak .entry _ZN2ns2tkIfLi3EEEvPT_() { ret; }
    .weak .entry _ZN2ns2tkIiLi3EEEvPT_() { ret; }
    .entry _ZN12_GLOBAL__N_16hiddenEPi() { ret; }
    .entry plain() { ret; })");
  ASSERT_EQ(found.size(), 5U);
  EXPECT_EQ(found[0].name, "scale");
  EXPECT_EQ(found[0].entry, "_Z5scalePff");
  EXPECT_EQ(found[1].name, "ns::tk<float, 3>");
  EXPECT_EQ(found[2].name, "ns::tk<int, 3>");
  EXPECT_EQ(found[3].name, "(anonymous namespace)::hidden");
  EXPECT_EQ(found[4].name, "plain");
  EXPECT_EQ(found[4].entry, "");
}

TEST(PtxKernels, GivenOverloadsThenKernelsAreCalledLikeTheirEntries) {
  const auto found = kernels(".entry _Z3addPi() { ret; }\n.entry _Z3addPf() { ret; }\n");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].name, "_Z3addPi");
  EXPECT_EQ(found[0].symbol(), "_Z3addPi");
  EXPECT_EQ(found[1].name, "_Z3addPf");
  const auto mixed = kernels(".entry add() { ret; }\n.entry _Z3addPf() { ret; }\n");
  ASSERT_EQ(mixed.size(), 2U);
  EXPECT_EQ(mixed[0].name, "add");
  EXPECT_EQ(mixed[1].name, "_Z3addPf");
}

TEST(PtxKernels, GivenDeclarationsAndDataThenOnlyDefinedEntriesAreKernels) {
  const auto found = kernels(R"(
    .extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b) ;
    .const .align 4 .b8 table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    .global .align 1 .b8 $str[4] = {46, 101, 110, 116};
    .entry declared(.param .u32 x);
    .entry k(.param .u32 x) { .pragma "nounroll"; ret; })");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "k");
}

TEST(PtxKernels, GivenTextThatIsCutThenItIsRefused) {
  const std::string whole = ".extern .shared .b8 s[];\n.entry k(.param .u64 p) { mov.u64 %rd1, s; ret; }";
  ASSERT_EQ(kernels(whole).size(), 1U);
  for (const char* end : {".shared .b8", "p)", "ret;"})
    EXPECT_THROW(kernels(whole.substr(0, whole.find(end) + std::string_view(end).size())), std::runtime_error)
        << end;
  EXPECT_THROW(kernels(".entry k(.param .texref t) { ret; }"), std::runtime_error);
}

}  // namespace
}  // namespace clique::daemon::compiler
