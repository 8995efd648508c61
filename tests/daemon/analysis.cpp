// Analyses of programs, as messages ask for them.
#include <CL/cl.h>

#include "harness.hpp"
#include "ids.hpp"

namespace clique::test {
namespace {

class Analysis : public testing::Test {
 protected:
  ProgramAnalysed analyse(const std::string& source, const std::string& options = "") {
    Client client(node_);
    client.set_up(source);
    client.send(AnalyseProgram{kRequest, kProgram, 0, options, 0});
    return client.next<ProgramAnalysed>();
  }
  Node node_{{"--nvidia", "opencl"}};
};

TEST_F(Analysis, GivenSourceThenItsKernelsAreDescribed) {
  const auto answer = analyse("kernel void k(global int* a) { a[get_global_id(0)] = WHAT; }", "-DWHAT=3");
  EXPECT_EQ(answer.failure, "");
  ASSERT_EQ(answer.footprints.size(), 1U);
  EXPECT_EQ(answer.footprints[0].kernel, "k");
  ASSERT_EQ(answer.footprints[0].accesses.size(), 1U);
  EXPECT_TRUE(answer.footprints[0].accesses[0].writes);
}

TEST_F(Analysis, GivenMacrosThatTheDriverHasThenNothingIsKnown) {
  const auto answer = analyse(
      "#ifdef __x86_64__\n#define AT 1\n#else\n#define AT 0\n#endif\n"
      "kernel void k(global int* a) { a[AT] = 1; }");
  EXPECT_NE(answer.failure.find("predefined macros"), std::string::npos) << answer.failure;
  EXPECT_TRUE(answer.footprints.empty());
}

TEST_F(Analysis, GivenMacrosOfTheLanguageThenKernelsAreDescribed) {
  const auto answer = analyse(
      "#if __OPENCL_VERSION__ >= 120 && defined(__ENDIAN_LITTLE__) && !defined(MINE)\n"
      "kernel void k(global int* a) { a[0] = INT_MAX; }\n#endif");
  EXPECT_EQ(answer.failure, "");
  EXPECT_EQ(answer.footprints.size(), 1U);
}

TEST_F(Analysis, GivenErrorsThenTheAnswerTellsThem) {
  const auto answer = analyse("kernel void k() { missing(); }");
  EXPECT_NE(answer.failure.find("missing"), std::string::npos) << answer.failure;
}

}  // namespace
}  // namespace clique::test
