// Programs in languages that the node's OpenCL drivers do not take.
#include <CL/cl.h>

#include "harness.hpp"
#include "ids.hpp"

namespace clique::test {
namespace {

class Languages : public testing::Test {
 protected:
  Languages() { client_.set_up("kernel void k() {}"); }
  static void expect_refused(const ProgramBuilt& built, cl_int status) {
    EXPECT_EQ(built.status, status);
    ASSERT_EQ(built.devices.size(), 1U);
    EXPECT_EQ(built.devices[0].build_status, CL_BUILD_ERROR);
    EXPECT_NE(built.devices[0].log.find("error: "), std::string::npos) << built.devices[0].log;
    EXPECT_TRUE(built.kernels.empty());
  }
  // Through OpenCL drivers only, whatever the device is.
  Node node_{{"--nvidia", "opencl"}};
  Client client_{node_};
};

TEST_F(Languages, GivenCudaWhenBuiltThenItIsRefusedWithALog) {
  client_.send(BuildProgram{kRequest, kProgram, {0}, "-x cuda -DA=1"});
  expect_refused(client_.next<ProgramBuilt>(), CL_INVALID_BUILD_OPTIONS);
  // As OpenCL C it builds, all the same.
  client_.send(BuildProgram{kRequest, kProgram, {0}, ""});
  EXPECT_EQ(client_.next<ProgramBuilt>().status, CL_SUCCESS);
}

TEST_F(Languages, GivenCudaWhenCompiledThenItIsRefusedWithALog) {
  client_.send(CompileProgram{kRequest, kProgram, {0}, "-x cuda", {}, {}});
  expect_refused(client_.next<ProgramBuilt>(), CL_INVALID_COMPILER_OPTIONS);
}

}  // namespace
}  // namespace clique::test
