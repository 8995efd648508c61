// What `--kernel-timeout` does on a node's OpenCL driver.
#include "harness.hpp"
#include "ids.hpp"

namespace clique::test {
namespace {

constexpr const char* kLimitKernels = R"(
  kernel void endless(global volatile int* flag) { while (flag[0] == 0) flag[1]++; }
  kernel void add(global int* data) { data[get_global_id(0)] += 1; }
)";

TEST(KernelLimit, GivenAKernelThatNeverEndsThenOnlyItsSessionEnds) {
  constexpr CommandId kFirstFill = 99, kFirstLaunch = 100, kSecondFill = 101, kSecondLaunch = 102,
                      kThirdLaunch = 103;
  const Node node({"--kernel-timeout", "1"});
  Client bystander(node, "a bystander");
  bystander.set_up(kLimitKernels);
  Client client(node, "a culprit");
  const pid_t worker = node.worker_of("a culprit");
  ASSERT_EQ(client.set_up(kLimitKernels).status, 0);
  client.send(CreateBuffer{kBuffer, kContext, kReadWrite, 64},
              FillBuffer{command(kFirstFill), kBuffer, Bytes(4), 0, 64},
              CreateKernel{kKernel, kProgram, "endless"}, CreateKernel{kOtherKernel, kProgram, "add"},
              RunKernel{command(kFirstLaunch, 0), kOtherKernel, {object_arg(0, kBuffer)}, {}, {4}, {}},
              FillBuffer{command(kSecondFill), kBuffer, Bytes(4), 0, 64},
              RunKernel{command(kSecondLaunch), kKernel, {object_arg(0, kBuffer)}, {}, {1}, {}},
              RunKernel{command(kThirdLaunch), kOtherKernel, {}, {}, {1}, {}});
  EXPECT_EQ(client.ended(kSecondFill).status, 0);
  // CL_OUT_OF_RESOURCES
  EXPECT_EQ(client.ended(kSecondLaunch).status, -5);
  EXPECT_EQ(client.ended(kThirdLaunch).status, -5);
  const std::string reason = client.next<SessionEnded>().reason;
  EXPECT_NE(reason.find("kernel 'endless' ran for more than 1 s"), std::string::npos) << reason;
  EXPECT_TRUE(eventually([&] { return node.logged("kernel 'endless' ran for more than 1 s"); }));
  EXPECT_TRUE(eventually([&] { return !alive(worker); }));
  EXPECT_EQ(bystander.finish().status, 0);
}

TEST(KernelLimit, GivenAKernelThatWaitsForSomethingElseThenThatTimeDoesNotCount) {
  constexpr CommandId kLaunch = 100, kSomethingElse = 900;
  const Node node({"--kernel-timeout", "1"});
  Client client(node);
  ASSERT_EQ(client.set_up(kLimitKernels).status, 0);
  client.send(CreateBuffer{kBuffer, kContext, kReadWrite, 64}, CreateKernel{kOtherKernel, kProgram, "add"},
              AwaitRemote{kSomethingElse, kContext},
              RunKernel{command(kLaunch, Command::kReport, {kSomethingElse}),
                        kOtherKernel,
                        {object_arg(0, kBuffer)},
                        {},
                        {4},
                        {}});
  EXPECT_FALSE(client.reports.comes<SessionEnded>(std::chrono::milliseconds(2500)));
  client.send(SetRemote{kSomethingElse, 0});
  EXPECT_EQ(client.ended(kLaunch).status, 0);
}

}  // namespace
}  // namespace clique::test
