// What the CUDA backend expects of the driver's events.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>

#include "daemon/backend/cuda/gpu/driver.hpp"

namespace clique::daemon::cuda {
namespace {

/// A stream that stands still until go().
class StandingStream {
 public:
  StandingStream() {
    CLIQUE_CUDA(MemAlloc(&word_, sizeof(std::uint32_t)));
    go_with(0);
    CLIQUE_CUDA(StreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
    CLIQUE_CUDA(StreamWaitValue32(stream_, word_, 1, CU_STREAM_WAIT_VALUE_GEQ));
  }
  CUstream native() const { return stream_; }
  /// @returns when all that is in the stream is done
  void go() {
    go_with(1);
    CLIQUE_CUDA(StreamSynchronize(stream_));
  }

 private:
  void go_with(std::uint32_t value) {
    std::atomic_ref(*reinterpret_cast<std::uint32_t*>(word_)).store(value);
  }

  CUdeviceptr word_ = 0;
  CUstream stream_ = nullptr;
};

TEST(CudaEvents, GivenOneThatIsRecordedAgainThenOnlyTheLastPlaceCounts) {
  open_driver();
  StandingStream first;
  StandingStream second;
  CUevent event = nullptr;
  CLIQUE_CUDA(EventCreate(&event, CU_EVENT_DEFAULT));
  CLIQUE_CUDA(EventRecord(event, first.native()));
  CLIQUE_CUDA(EventRecord(event, second.native()));
  first.go();
  EXPECT_EQ(driver().EventQuery(event), CUDA_ERROR_NOT_READY);
  second.go();
  EXPECT_EQ(driver().EventQuery(event), CUDA_SUCCESS);
}

}  // namespace
}  // namespace clique::daemon::cuda
