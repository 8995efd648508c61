// Streams and events.
#include "streams.hpp"

#include <cstdint>
#include <cstdlib>
#include <optional>

using namespace fake_cuda;

namespace {

/// Any thread uses it. Recording it again moves it, even before the earlier place in a stream has been
/// reached.
class Event {
 public:
  /// @returns which recording this is, for reached()
  std::uint64_t record() {
    const std::lock_guard lock(mutex_);
    return ++recorded_;
  }
  void reached(std::uint64_t recording) {
    const std::lock_guard lock(mutex_);
    if (recording != recorded_) return;
    reached_ = recording;
    time_ = Clock::now();
  }
  /// When it happened. @returns nothing before it has
  std::optional<Clock::time_point> time() const {
    const std::lock_guard lock(mutex_);
    return reached_ == recorded_ ? std::optional(time_) : std::nullopt;
  }

 private:
  mutable std::mutex mutex_;
  std::uint64_t recorded_ = 0;
  std::uint64_t reached_ = 0;
  Clock::time_point time_;
};

}  // namespace

EXPORT cuStreamCreate(CUstream* stream, unsigned /*flags*/) {
  *stream = new CUstream_st;
  streams.add(*stream);
  return CUDA_SUCCESS;
}
EXPORT cuStreamDestroy_v2(CUstream /*stream*/) {
  return CUDA_SUCCESS;
}
EXPORT cuStreamQuery(CUstream stream) {
  if (broken != CUDA_SUCCESS) return broken;
  return stream->idle() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
EXPORT cuStreamSynchronize(CUstream stream) {
  std::unique_lock lock(stream->mutex);
  stream->changed.wait(lock, [stream] { return stream->work.empty() && !stream->busy; });
  return broken;
}
EXPORT cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned /*flags*/) {
  return stream->put([=] {
    std::atomic_ref(*reinterpret_cast<std::uint32_t*>(address)).store(value, std::memory_order_release);
  });
}
EXPORT cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags) {
  if (flags != CU_STREAM_WAIT_VALUE_GEQ) return CUDA_ERROR_INVALID_VALUE;
  return stream->put([=] {
    const std::atomic_ref word(*reinterpret_cast<std::uint32_t*>(address));
    while (static_cast<std::int32_t>(word.load(std::memory_order_acquire) - value) < 0 &&
           broken == CUDA_SUCCESS)
      std::this_thread::sleep_for(std::chrono::microseconds(20));
  });
}

EXPORT cuEventCreate(CUevent* event, unsigned /*flags*/) {
  // Like the real driver's, they live as long as the context.
  static std::mutex mutex;
  static auto* const all = new std::deque<std::unique_ptr<Event>>;
  const std::lock_guard lock(mutex);
  *event = reinterpret_cast<CUevent>(all->emplace_back(std::make_unique<Event>()).get());
  return CUDA_SUCCESS;
}
EXPORT cuEventRecord(CUevent event, CUstream stream) {
  auto* known = reinterpret_cast<Event*>(event);
  return stream->put([known, recording = known->record()] { known->reached(recording); });
}
EXPORT cuEventQuery(CUevent event) {
  if (broken != CUDA_SUCCESS) return broken;
  // FAKE_CUDA_LATE: how long after an event has happened one learns of it, in ms.
  static const char* const late = std::getenv("FAKE_CUDA_LATE");
  static const std::chrono::milliseconds delay(late == nullptr ? 0 : std::atoi(late));
  const auto time = reinterpret_cast<Event*>(event)->time();
  return time && Clock::now() - *time >= delay ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
EXPORT cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  const auto first = reinterpret_cast<Event*>(begin)->time();
  const auto last = reinterpret_cast<Event*>(end)->time();
  if (!first || !last) return CUDA_ERROR_NOT_READY;
  *milliseconds = std::chrono::duration<float, std::milli>(*last - *first).count();
  return CUDA_SUCCESS;
}
