// A GPU that fails, and drivers that do not start.
#include "session.hpp"

namespace clique::test {
namespace {

TEST(CudaFaults, GivenAKernelThatFaultsThenOnlyItsSessionEnds) {
  FakeNode node;
  FakeGpuClient bystander(node, "a bystander");
  FakeGpuClient client(node, "a culprit");
  client.send(CreateBuffer{5, 1, 1, 64}, RunKernel{command(100), 12, {}, {}, {1}, {1}},
              RunKernel{command(101), 11, {value_arg(0, 1)}, {}, {1}, {1}}, Finish{77, 2});
  EXPECT_EQ(client.ended(100).status, CL_OUT_OF_RESOURCES);
  EXPECT_EQ(client.ended(101).status, CL_OUT_OF_RESOURCES);
  EXPECT_EQ(client.next<Finished>().status, CL_OUT_OF_RESOURCES);
  const std::string reason = client.next<SessionEnded>().reason;
  EXPECT_NE(reason.find("CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos) << reason;
  EXPECT_NE(reason.find("'fault'"), std::string::npos) << reason;
  EXPECT_TRUE(node.logged("'fault'"));
  bystander.make_zeros(5);
  EXPECT_EQ(bystander.first(5), 0);
}

TEST(CudaFaults, GivenSeveralGpusThenEachHasAWorker) {
  ::setenv("FAKE_CUDA_GPUS", "3", 1);
  FakeNode node;
  ::unsetenv("FAKE_CUDA_GPUS");
  EXPECT_EQ(hello(node.endpoint()).workers.size(), 3U);
}

TEST(CudaFaults, GivenAnOldDriverThenItIsNotUsed) {
  ::setenv("FAKE_CUDA_VERSION", "12030", 1);
  const auto [output, status] =
      run_cliqued({"--config", "/dev/null", "--listen", "127.0.0.1:0", "--devices", "fake"});
  ::unsetenv("FAKE_CUDA_VERSION");
  EXPECT_NE(status, 0);
  EXPECT_NE(output.find("'fake' is no device"), std::string::npos) << output;
}

TEST(CudaFaults, GivenNvidiaOpenClThenCudaIsNotUsed) {
  const auto [output, status] = run_cliqued(
      {"--config", "/dev/null", "--listen", "127.0.0.1:0", "--devices", "fake", "--nvidia", "opencl"});
  EXPECT_NE(status, 0);
  EXPECT_NE(output.find("'fake' is no device"), std::string::npos) << output;
  EXPECT_NE(run_cliqued({"--config", "/dev/null", "--nvidia", "both"}).first.find("'both' is no way"),
            std::string::npos);
}

}  // namespace
}  // namespace clique::test
