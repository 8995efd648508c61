// Kernels that check what they access (-clique-check-footprints).
#include <CL/cl.h>

#include <algorithm>

#include "fixture.hpp"

namespace clique::daemon::compiler {
namespace {

constexpr const char* kOption = "-clique-check-footprints";

/// How many calls of the function that checks an access the program has.
std::size_t checks_in(const std::string& ptx, const std::string& check = "__clique_check_access") {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = ptx.find(check + ", \n", at)) != std::string::npos; ++at) ++count;
  return count;
}

std::size_t checks_of(const std::string& body, const std::string& parameters) {
  return checks_in(ptx_of(built("__kernel void k(" + parameters + ") { " + body + " }", kOption)));
}

TEST(AccessChecks, GivenAccessesThenEachHasACheck) {
  EXPECT_EQ(
      checks_of("a[get_global_id(0)] = b[get_global_id(0) + 1];", "__global int* a, __global const int* b"),
      2U);
  EXPECT_EQ(checks_of("atomic_add(a + get_local_id(0), 2);", "__global int* a"), 1U);
  EXPECT_EQ(
      checks_of("vstore4(vload4(0, b), get_global_id(0), a);", "__global float* a, __constant float* b"), 2U);
  EXPECT_EQ(checks_of("a[0] = n > get_global_id(0) ? a[n] : 0;", "__global int* a, int n"), 2U)
      << "a load under a condition";
}

TEST(AccessChecks, GivenMemoryOfTheWorkItemOrGroupThenItIsNotChecked) {
  EXPECT_EQ(checks_of("l[get_local_id(0)] = n; barrier(CLK_LOCAL_MEM_FENCE); int p[9]; p[n] = n; p[1] = 3;"
                      "if (l[0] + p[n / 2] == 7) a[0] = 1;",
                      "__global int* a, __local int* l, int n"),
            1U);
}

TEST(AccessChecks, GivenPointerThatMayBePrivateThenItIsCheckedIfItIsGlobal) {
  const std::string ptx = ptx_of(built(R"(
    __kernel void k(__global int* a, int n) {
      int p[8];
      for (int i = 0; i < 8; ++i) p[i] = n * i;
      int* either = n > 3 ? p : (int*)a;
      for (int i = 0; i < n; ++i) either[(i * 5) % 8] += i;
      a[0] = p[n & 7];
    })",
                                       "-cl-std=CL3.0 -clique-check-footprints"));
  EXPECT_TRUE(contains(ptx, "isspacep.global"));
  EXPECT_EQ(ptx.find("llvm.nvvm"), std::string::npos) << "an intrinsic function that the GPU does not have";
}

TEST(AccessChecks, GivenFunctionThatIsNotInlinedThenItsAccessesAreChecked) {
  const std::string ptx = ptx_of(built(R"(
    __attribute__((noinline)) int sum(__global const int* from, int n) {
      int result = 0;
      for (int i = 0; i < n; ++i) result += from[i];
      return result;
    }
    __kernel void k(__global int* a, __global const int* b, int n) { a[0] = sum(b, n) + sum(a, n); })",
                                       kOption));
  EXPECT_GE(checks_in(ptx), 3U);
  EXPECT_EQ(ptx.find(".func sum"), std::string::npos) << ptx;
}

TEST(AccessChecks, GivenPixelsThenEachHasACheck) {
  const std::string ptx = ptx_of(built(R"(
    int4 pixel(read_only image2d_t i, int n) { return read_imagei(i, (int2)(n, 2)); }
    __kernel void k(__global int* a, read_only image2d_t i, write_only image3d_t o, sampler_t s, int n) {
      a[0] = pixel(i, n).x + read_imagei(i, s, (int2)(n, 3)).x + read_imagei(i, s, (float2)(n, 3)).x;
      write_imagei(o, (int4)(n, 1, 2, 0), (int4)(get_image_width(i)));
    })",
                                       kOption));
  EXPECT_EQ(checks_in(ptx), 1U);
  EXPECT_EQ(checks_in(ptx, "__clique_check_pixel"), 3U)
      << "reads with floating-point coordinates may read all pixels";
}

TEST(AccessChecks, GivenKernelThenItsLastHiddenArgumentIsWhatItMayAccess) {
  const ProgramBinary binary =
      built("__kernel void k(__global int* a) { a[get_global_id(0)] = 1; }", kOption);
  const Kernel& kernel = kernel_named(binary, "k");
  ASSERT_FALSE(kernel.hidden.empty());
  EXPECT_EQ(kernel.hidden.back().what, static_cast<std::uint8_t>(Hidden::AccessChecks));
  EXPECT_EQ(kernel.hidden.back().offset + 8, kernel.params_size);
}

TEST(AccessChecks, GivenNoOptionThenNothingIsChecked) {
  const ProgramBinary binary = built("__kernel void k(__global int* a) { a[get_global_id(0)] = 1; }");
  EXPECT_EQ(ptx_of(binary).find("check_access"), std::string::npos);
  const auto& hidden = kernel_named(binary, "k").hidden;
  EXPECT_TRUE(std::none_of(hidden.begin(), hidden.end(), [](const HiddenArg& each) {
    return each.what == static_cast<std::uint8_t>(Hidden::AccessChecks);
  }));
}

TEST(AccessChecks, GivenOptionThatIsWrongThenItIsRefused) {
  EXPECT_EQ(build("__kernel void k() {}", "-clique-check-footprints=x").status, CL_INVALID_BUILD_OPTIONS);
  EXPECT_EQ(build("__kernel void k() {}", "-clique-check-footprints=1").status, CL_SUCCESS);
}

}  // namespace
}  // namespace clique::daemon::compiler
