// GPUs that fail, and drivers that do not start.
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "session.hpp"

namespace clique::test {
namespace {

/// How long a kernel that never ends runs, in milliseconds: longer than any test waits.
constexpr int kForever = 600'000;

TEST(CudaFaults, GivenAKernelThatFaultsThenOnlyItsSessionEnds) {
  constexpr CommandId kFaulting = 100, kBehind = 101;
  FakeNode node;
  FakeGpuClient bystander(node, "a bystander");
  FakeGpuClient client(node, "a culprit");
  client.send(CreateBuffer{kBuffer, kContext, kReadWrite, 64},
              RunKernel{command(kFaulting), kFault, {}, {}, {1}, {1}},
              RunKernel{command(kBehind), kWait, {value_arg(0, 1)}, {}, {1}, {1}},
              Finish{kRequest, kInOrder});
  EXPECT_EQ(client.ended(kFaulting).status, CL_OUT_OF_RESOURCES);
  EXPECT_EQ(client.ended(kBehind).status, CL_OUT_OF_RESOURCES);
  EXPECT_EQ(client.next<Finished>().status, CL_OUT_OF_RESOURCES);
  const std::string reason = client.next<SessionEnded>().reason;
  EXPECT_NE(reason.find("CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos) << reason;
  EXPECT_NE(reason.find("'fault'"), std::string::npos) << reason;
  EXPECT_TRUE(eventually([&] { return node.logged("'fault'"); }));
  bystander.make_zeros(kBuffer);
  EXPECT_EQ(bystander.first(kBuffer), 0);
}

TEST(CudaFaults, GivenAKernelOverTheLimitThenOnlyItsSessionEnds) {
  constexpr CommandId kEndless = 200, kBehind = 201;
  const FakeNode node(1);
  FakeGpuClient bystander(node, "a bystander");
  FakeGpuClient client(node, "a culprit");
  const pid_t worker = node.worker_of("a culprit");
  // The limit is for each kernel, so many short ones do not exceed it.
  for (CommandId id = 100; id < 120; ++id)
    client.send(RunKernel{command(id), kWait, {value_arg(0, 100)}, {}, {1}, {1}});
  client.send(RunKernel{command(kEndless), kWait, {value_arg(0, kForever)}, {}, {1}, {1}},
              RunKernel{command(kBehind), kWait, {value_arg(0, 1)}, {}, {1}, {1}},
              Finish{kRequest, kInOrder});
  for (CommandId id = 100; id < 120; ++id) EXPECT_EQ(client.ended(id).status, CL_SUCCESS);
  EXPECT_EQ(client.ended(kEndless).status, CL_OUT_OF_RESOURCES);
  EXPECT_EQ(client.ended(kBehind).status, CL_OUT_OF_RESOURCES);
  EXPECT_EQ(client.next<Finished>().status, CL_OUT_OF_RESOURCES);
  const std::string reason = client.next<SessionEnded>().reason;
  EXPECT_NE(reason.find("kernel 'wait' ran for more than 1 s"), std::string::npos) << reason;
  EXPECT_TRUE(eventually([&] { return node.logged("kernel 'wait' ran for more than 1 s"); }));
  EXPECT_TRUE(eventually([&] { return !alive(worker); }));
  bystander.make_zeros(kBuffer);
  EXPECT_EQ(bystander.first(kBuffer), 0);
}

TEST(CudaFaults, GivenAKernelThatWaitsForSomethingElseThenThatTimeDoesNotCount) {
  constexpr CommandId kLaunch = 100, kSomethingElse = 900;
  const FakeNode node(1);
  FakeGpuClient client(node);
  client.send(
      AwaitRemote{kSomethingElse, kContext},
      RunKernel{
          command(kLaunch, Command::kReport, {kSomethingElse}), kWait, {value_arg(0, 1)}, {}, {1}, {1}});
  EXPECT_FALSE(client.reports.comes<SessionEnded>(std::chrono::milliseconds(2500)));
  client.send(SetRemote{kSomethingElse, CL_COMPLETE});
  EXPECT_EQ(client.ended(kLaunch).status, CL_SUCCESS);
}

/// Blocks the worker's main thread: destroying an image's array, the driver waits for a kernel that never
/// ends.
void occupy(FakeGpuClient& client) {
  constexpr ObjectId kReleased = 20;
  constexpr CommandId kLaunch = 100;
  client.send(CreateImage{
      kReleased, kContext, CL_MEM_READ_WRITE, CL_R, CL_FLOAT, CL_MEM_OBJECT_IMAGE2D, {8, 8, 1}, 0, 0, 0});
  client.finish();
  client.send(RunKernel{command(kLaunch), kWait, {value_arg(0, kForever)}, {}, {1}, {1}},
              WatchEvent{kLaunch});
  client.next<EventState>([](const EventState& state) { return state.status == CL_RUNNING; });
  client.send(Release{{kReleased}, {}});
}

TEST(CudaFaults, GivenADriverThatDoesNotReturnWhenTheClientVanishesThenItsWorkerEnds) {
  const FakeNode node;
  pid_t worker = -1;
  {
    FakeGpuClient client(node, "vanisher");
    worker = node.worker_of("vanisher");
    occupy(client);
  }
  EXPECT_TRUE(eventually([&] { return !alive(worker); }));
}

TEST(CudaFaults, GivenADriverThatDoesNotReturnWhenTheKernelIsOverTheLimitThenItsWorkerEnds) {
  const FakeNode node(1);
  FakeGpuClient client(node, "a culprit");
  const pid_t worker = node.worker_of("a culprit");
  occupy(client);
  EXPECT_TRUE(eventually([&] { return !alive(worker); }));
}

/// A GPU whose memory another process holds while a file exists.
class FullGpu {
 public:
  FullGpu() {
    std::ofstream(file_).put('1');
    ::setenv("FAKE_CUDA_FULL_WHILE", file_.c_str(), 1);
    node_.emplace();
    ::unsetenv("FAKE_CUDA_FULL_WHILE");
  }
  ~FullGpu() { free(); }
  FullGpu(const FullGpu&) = delete;
  FullGpu& operator=(const FullGpu&) = delete;

  /// The other process gives its memory back.
  void free() { std::filesystem::remove(file_); }
  /// The status of a command that needs memory for a buffer.
  cl_int fill() {
    constexpr CommandId kFill = 100;
    FakeGpuClient client(*node_);
    client.send(CreateBuffer{kBuffer, kContext, CL_MEM_READ_WRITE, 8U << 20U},
                FillBuffer{command(kFill), kBuffer, Bytes{1}, 0, 8U << 20U}, Finish{kRequest, kInOrder});
    return client.ended(kFill).status;
  }

 private:
  const std::filesystem::path file_ =
      std::filesystem::temp_directory_path() / ("clique-full-gpu-" + std::to_string(::getpid()));
  std::optional<FakeNode> node_;
};

TEST(CudaFaults, GivenMemoryThatIsFreedSoonThenAllocationsWaitForIt) {
  FullGpu gpu;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    gpu.free();
  });
  EXPECT_EQ(gpu.fill(), CL_SUCCESS);
  other.join();
}

TEST(CudaFaults, GivenMemoryThatIsNotFreedThenAllocationsFail) {
  FullGpu gpu;
  EXPECT_EQ(gpu.fill(), CL_MEM_OBJECT_ALLOCATION_FAILURE);
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
  EXPECT_NE(output.find("'fake' is neither 'all' nor an index"), std::string::npos) << output;
}

TEST(CudaFaults, GivenNvidiaOpenClThenCudaIsNotUsed) {
  const auto [output, status] = run_cliqued(
      {"--config", "/dev/null", "--listen", "127.0.0.1:0", "--devices", "fake", "--nvidia", "opencl"});
  EXPECT_NE(status, 0);
  EXPECT_NE(output.find("'fake' is neither 'all' nor an index"), std::string::npos) << output;
  EXPECT_NE(run_cliqued({"--config", "/dev/null", "--nvidia", "both"}).first.find("'both' is not a way"),
            std::string::npos);
}

}  // namespace
}  // namespace clique::test
