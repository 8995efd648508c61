// printf in kernels: what the compiler makes of its calls.
#include "fixture.hpp"

namespace clique::daemon::compiler {
namespace {

using Strings = std::vector<std::string>;

TEST(Printf, GivenCallsWhenBuiltThenEachFormatIsKeptOnce) {
  const ProgramBinary binary = built(R"(
    __constant char named[] = "named %s\n";
    __kernel void k(int n) {
      printf("one %d\n", n);
      printf("two %s %s\n", "a", "b");
      printf("one %d\n", n + 1);
      printf(named, n > 2 ? "a" : "c");
      printf("plain");
    })");
  EXPECT_EQ(binary.formats, (Strings{"one %d\n", "two %s %s\n", "named %s\n", "plain"}));
  EXPECT_EQ(binary.strings, (Strings{"a", "b", "c"}));
  ASSERT_EQ(binary.kernels.at(0).hidden.size(), 1U);
  EXPECT_EQ(binary.kernels[0].hidden[0].what, static_cast<std::uint8_t>(Hidden::PrintfBuffer));
}

TEST(Printf, GivenProgramWithoutItWhenBuiltThenThereIsNoBuffer) {
  const ProgramBinary binary = built("__kernel void k(__global int* x) { *x = 1; }");
  EXPECT_TRUE(binary.kernels.at(0).hidden.empty());
  EXPECT_TRUE(binary.formats.empty());
}

TEST(Printf, GivenVectorsWhenBuiltThenARecordHasEveryElement) {
  const auto sizes = [](const std::string& call) {
    const std::string ptx = ptx_of(built("__kernel void k(float3 f, char4 c, double d) { " + call + " }"));
    std::size_t stores = 0;
    for (const char* store : {"st.global.u64", "st.global.f64"})
      for (std::size_t at = ptx.find(store); at != std::string::npos; at = ptx.find(store, at + 1)) ++stores;
    return stores;
  };
  // LLVM does not store two numbers at once, because the record is only known to be aligned to 8 bytes.
  EXPECT_EQ(sizes("printf(\"%v3hlf\", f);"), 3U);
  EXPECT_EQ(sizes("printf(\"%v4hhd %f\", c, d);"), 5U);
}

TEST(Printf, GivenItInCalledFunctionsWhenBuiltThenItWorks) {
  const ProgramBinary binary = built(R"(
    __attribute__((noinline)) int show(int a) { return printf("%d", a); }
    __kernel void a(__global int* x) { *x = show(*x); }
    __kernel void b(__global int* x) { *x = 1; })");
  EXPECT_EQ(kernel_named(binary, "a").hidden.size(), 1U);
  EXPECT_EQ(kernel_named(binary, "b").hidden.size(), 0U);
}

}  // namespace
}  // namespace clique::daemon::compiler
