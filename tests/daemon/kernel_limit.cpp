// What `--kernel-timeout` does on a node's OpenCL driver.
#include "harness.hpp"

namespace clique::test {
namespace {

constexpr const char* kSource = R"(
  kernel void endless(global volatile int* flag) { while (flag[0] == 0) flag[1]++; }
  kernel void add(global int* data) { data[get_global_id(0)] += 1; }
)";

TEST(KernelLimit, GivenAKernelThatNeverEndsThenOnlyItsSessionEnds) {
  const Node node({"--kernel-timeout", "1"});
  Client bystander(node, "a bystander");
  bystander.set_up(kSource);
  Client client(node, "a culprit");
  const pid_t worker = node.worker_of("a culprit");
  ASSERT_EQ(client.set_up(kSource).status, 0);
  client.send(CreateBuffer{5, 1, 1, 64}, FillBuffer{command(99), 5, Bytes(4), 0, 64},
              CreateKernel{6, 4, "endless"}, CreateKernel{7, 4, "add"},
              RunKernel{command(100, 0), 7, {object_arg(0, 5)}, {}, {4}, {}},
              FillBuffer{command(101), 5, Bytes(4), 0, 64},
              RunKernel{command(102), 6, {object_arg(0, 5)}, {}, {1}, {}},
              RunKernel{command(103), 7, {}, {}, {1}, {}});
  EXPECT_EQ(client.ended(101).status, 0);
  // CL_OUT_OF_RESOURCES
  EXPECT_EQ(client.ended(102).status, -5);
  EXPECT_EQ(client.ended(103).status, -5);
  const std::string reason = client.next<SessionEnded>().reason;
  EXPECT_NE(reason.find("kernel 'endless' ran for more than 1 s"), std::string::npos) << reason;
  EXPECT_TRUE(node.logged("kernel 'endless' ran for more than 1 s"));
  EXPECT_TRUE(eventually([&] { return !alive(worker); }));
  EXPECT_EQ(bystander.finish().status, 0);
}

TEST(KernelLimit, GivenAKernelThatWaitsForSomethingElseThenThatTimeDoesNotCount) {
  const Node node({"--kernel-timeout", "1"});
  Client client(node);
  ASSERT_EQ(client.set_up(kSource).status, 0);
  client.send(CreateBuffer{5, 1, 1, 64}, CreateKernel{7, 4, "add"}, AwaitRemote{900, 1},
              RunKernel{command(100, Command::kReport, {900}), 7, {object_arg(0, 5)}, {}, {4}, {}});
  EXPECT_FALSE(client.reports.comes<SessionEnded>(std::chrono::milliseconds(2500)));
  client.send(SetRemote{900, 0});
  EXPECT_EQ(client.ended(100).status, 0);
}

}  // namespace
}  // namespace clique::test
