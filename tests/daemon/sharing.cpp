// Sessions that are paced because they use one device: nothing of what they do may change.
#include "harness.hpp"
#include "ids.hpp"

namespace clique::test {
namespace {

constexpr const char* kSharingKernels = R"(
  kernel void endless(global volatile int* flag) { while (flag[0] == 0) flag[1]++; }
  kernel void add(global int* data) { data[get_global_id(0)] += 1; }
)";
constexpr int kKernels = 500;

class SharedDevice : public testing::Test {
 protected:
  static constexpr CommandId kFill = 99, kLaunch = 100, kRead = 900;

  SharedDevice() {
    set_up(busy_);
    set_up(client_);
    client_.send(CreateKernel{kKernel, kProgram, "add"},
                 RunKernel{command(kLaunch), kKernel, {object_arg(0, kBuffer)}, {}, {4}, {}});
    client_.ended(kLaunch);
    expected_ = 1;
    // From now on the other one keeps the device busy. It comes second, since kernels of a session that was
    // alone do not count.
    busy_.send(CreateKernel{kKernel, kProgram, "endless"},
               RunKernel{command(kLaunch), kKernel, {object_arg(0, kBuffer)}, {}, {1}, {}},
               WatchEvent{kLaunch});
    EXPECT_GT(busy_.next<EventState>().status, 0);
  }

  static void set_up(Client& client) {
    ASSERT_EQ(client.set_up(kSharingKernels).status, 0);
    client.send(CreateBuffer{kBuffer, kContext, kReadWrite, 64},
                FillBuffer{command(kFill, 0), kBuffer, Bytes(4), 0, 64});
  }

  /// Adds kernels to a batch, which may not wait for each other.
  void add_kernels(Batch& batch, const std::vector<CommandId>& waits = {}, ObjectId queue = kInOrder) {
    for (int i = 0; i < kKernels; ++i)
      batch.add(RunKernel{
          command(0, 0, i == 0 ? waits : std::vector<CommandId>{}, queue), kKernel, {}, {}, {4}, {}});
    expected_ += kKernels;
  }
  void expect_all() {
    client_.send(ReadBuffer{command(kRead, 0), 0, kBuffer, 0, 4});
    std::int32_t sum = 0;
    std::memcpy(&sum, client_.data(kRead).data(), sizeof sum);
    EXPECT_EQ(sum, expected_);
  }

  const Node node_;
  Client busy_{node_, "the other"};
  Client client_{node_};
  std::int32_t expected_ = 0;
};

TEST_F(SharedDevice, GivenABatchOfManyKernelsThenAllOfThemRunInOrder) {
  constexpr CommandId kMarker = 200;
  Batch batch;
  add_kernels(batch);
  batch.add(Marker{command(kMarker)});
  protocol::send(client_.commands, batch);
  EXPECT_EQ(client_.ended(kMarker).status, 0);
  expect_all();
}

TEST_F(SharedDevice, GivenKernelsThatWaitForWhatComesBehindThemThenAllOfThemRun) {
  constexpr CommandId kMarker = 200;
  Batch batch;
  batch.add(AwaitRemote{kRemote, kContext});
  add_kernels(batch, {kRemote});
  batch.add(SetRemote{kRemote, 0});
  batch.add(Marker{command(kMarker)});
  protocol::send(client_.commands, batch);
  EXPECT_EQ(client_.ended(kMarker).status, 0);
  expect_all();
}

TEST_F(SharedDevice, GivenKernelsThatWaitIndirectlyThenAllOfThemRun) {
  constexpr CommandId kFirstMarker = 150, kSecondMarker = 200;
  Batch batch;
  batch.add(AwaitRemote{kRemote, kContext});
  batch.add(Marker{command(kFirstMarker, Command::kReport, {kRemote}, kOutOfOrder)});
  add_kernels(batch, {kFirstMarker});
  batch.add(SetRemote{kRemote, 0});
  batch.add(Marker{command(kSecondMarker)});
  protocol::send(client_.commands, batch);
  EXPECT_EQ(client_.ended(kSecondMarker).status, 0);
  expect_all();
}

TEST_F(SharedDevice, GivenKernelsWhoseWaitFailsThenTheyDoNotRun) {
  constexpr CommandId kHeld = 150;
  Batch batch;
  batch.add(AwaitRemote{kRemote, kContext});
  batch.add(RunKernel{command(kHeld, Command::kReport, {kRemote}), kKernel, {}, {}, {4}, {}});
  batch.add(SetRemote{kRemote, -5});
  protocol::send(client_.commands, batch);
  EXPECT_LT(client_.ended(kHeld).status, 0);
  EXPECT_EQ(client_.finish(kOutOfOrder).status, 0);
  expect_all();
}

TEST_F(SharedDevice, GivenAClientThatEndsWhileItsKernelsWaitThenItsWorkerEnds) {
  const pid_t worker = node_.worker_of("a test");
  Batch batch;
  add_kernels(batch);
  add_kernels(batch);
  batch.add(Goodbye{});
  protocol::send(client_.commands, batch);
  EXPECT_TRUE(eventually([&] { return !alive(worker); }));
}

}  // namespace
}  // namespace clique::test
