// Streams and events.
#include "streams.hpp"

#include <cstdint>
#include <cstdlib>

using namespace fake_cuda;

namespace {

struct Event {
  std::atomic<bool> done{true};
  Clock::time_point time;
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
  known->done = false;
  return stream->put([known] {
    known->time = Clock::now();
    known->done = true;
  });
}
EXPORT cuEventQuery(CUevent event) {
  if (broken != CUDA_SUCCESS) return broken;
  // FAKE_CUDA_LATE: how long after an event has happened one learns of it, in ms.
  static const char* const late = std::getenv("FAKE_CUDA_LATE");
  static const std::chrono::milliseconds delay(late == nullptr ? 0 : std::atoi(late));
  const auto* known = reinterpret_cast<Event*>(event);
  return known->done && Clock::now() - known->time >= delay ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
EXPORT cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  const auto* first = reinterpret_cast<Event*>(begin);
  const auto* last = reinterpret_cast<Event*>(end);
  if (!first->done || !last->done) return CUDA_ERROR_NOT_READY;
  *milliseconds = std::chrono::duration<float, std::milli>(last->time - first->time).count();
  return CUDA_SUCCESS;
}
