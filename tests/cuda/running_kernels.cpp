// Which kernels a small read need not avoid. The GPU's progress and the time are what the test says.
#include "daemon/backend/cuda/execution/running_kernels.hpp"

#include <gtest/gtest.h>

#include <array>
#include <deque>

namespace clique::daemon::cuda {
namespace {

using namespace std::chrono_literals;

class CudaRunningKernels : public testing::Test {
 protected:
  /// Submits the next kernel of the stream.
  void submit(unsigned stream) { kernels_.submitted(streams_[stream], ++submitted_[stream]); }
  /// All kernels of the stream have ended.
  void end(unsigned stream) { words_[stream] = submitted_[stream]; }
  bool block(unsigned stream) { return kernels_.block(streams_[stream]); }
  /// As many kernels as it takes, each of which lasts for this long.
  void run_some(unsigned stream, std::chrono::microseconds time) {
    constexpr int kMany = 20;
    for (int i = 0; i < kMany; ++i) {
      submit(stream);
      now_ += time;
      end(stream);
      block(kReads);
    }
  }

  static constexpr unsigned kStreams = 40;
  static constexpr unsigned kReads = 0;  // has no kernels itself

  const Driver& driver_ = open_driver();
  RunningKernels::Clock::time_point now_{1h};
  std::array<std::uint32_t, kStreams> words_{};
  std::array<std::uint32_t, kStreams> submitted_{};
  std::deque<Stream> streams_;
  RunningKernels kernels_{[this] { return now_; }};

  CudaRunningKernels() {
    for (unsigned i = 0; i < kStreams; ++i) streams_.emplace_back(i, &words_[i], 0);
  }
};

TEST_F(CudaRunningKernels, GivenOneOfTheSameStreamThenItDoesNotBlock) {
  submit(1);
  EXPECT_FALSE(block(1));
  EXPECT_TRUE(block(kReads)) << "it is another's, and may be long";
  end(1);
  EXPECT_FALSE(block(kReads));
}

TEST_F(CudaRunningKernels, GivenAStreamOfShortOnesThenTheNextDoesNotBlockUntilItIsLong) {
  run_some(1, 10us);
  submit(1);
  EXPECT_FALSE(block(kReads));
  now_ += 1ms;
  EXPECT_TRUE(block(kReads)) << "this one is long";
  end(1);
  EXPECT_FALSE(block(kReads));
  submit(1);
  EXPECT_TRUE(block(kReads)) << "so may the next one be";
}

TEST_F(CudaRunningKernels, GivenAStreamOfLongOnesThenTheNextBlocks) {
  run_some(1, 10ms);
  submit(1);
  EXPECT_TRUE(block(kReads));
}

TEST_F(CudaRunningKernels, GivenOneStreamOfShortOnesThenThoseOfOthersStillBlock) {
  run_some(1, 10us);
  submit(1);
  submit(2);
  EXPECT_TRUE(block(kReads));
  end(2);
  EXPECT_FALSE(block(kReads));
}

TEST_F(CudaRunningKernels, GivenAnotherQueueThenItsKernelsAreNotExpectedToBeShort) {
  run_some(1, 10us);
  RunningKernels::forget(streams_[1]);
  submit(1);
  EXPECT_TRUE(block(kReads));
}

TEST_F(CudaRunningKernels, GivenVeryManyStreamsThenTheyBlockUntilMostHaveEnded) {
  for (unsigned stream = 1; stream < kStreams; ++stream) run_some(stream, 10us);
  for (unsigned stream = 1; stream < kStreams; ++stream) submit(stream);
  EXPECT_TRUE(block(kReads));
  for (unsigned stream = 1; stream < kStreams; ++stream) end(stream);
  // Each look gets some of them out of the way.
  for (unsigned looks = 0; looks < kStreams && block(kReads);) ++looks;
  EXPECT_FALSE(block(kReads));
}

}  // namespace
}  // namespace clique::daemon::cuda
