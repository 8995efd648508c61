#include "daemon/backend/cuda/gpu/clock.hpp"

#include <cmath>
#include <ctime>

namespace clique::daemon::cuda {

namespace {
constexpr std::int64_t kSecond = 1'000'000'000;
/// How long a base is used, in ns.
constexpr std::int64_t kBaseLife = kSecond;
/// How long to wait for an event in an empty stream, which takes microseconds, if there is an older base; in
/// ns.
constexpr std::int64_t kPatience = kSecond / 100;
constexpr int kTries = 4;
}  // namespace

std::int64_t host_clock() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * kSecond + time.tv_nsec;
}

Stopwatch::~Stopwatch() {
  if (clock_ == nullptr) return;
  if (begin_ != nullptr) clock_->give_back(begin_);
  if (end_ != nullptr) clock_->give_back(end_);
}

void Stopwatch::stop(CUstream stream) {
  if (clock_ == nullptr) return;
  end_ = clock_->take();
  CLIQUE_CUDA(EventRecord(end_, stream));
}

std::pair<std::int64_t, std::int64_t> Stopwatch::times() const {
  const auto time = [this](CUevent event) -> std::int64_t {
    float milliseconds = 0;
    if (!base_ || event == nullptr ||
        driver().EventElapsedTime(&milliseconds, base_->event, event) != CUDA_SUCCESS)
      return 0;
    return base_->time + std::llround(double{milliseconds} * 1e6);
  };
  return {time(begin_), time(end_)};
}

Stopwatch GpuClock::start(CUstream stream) {
  if (!base_ || host_clock() - base_->time > kBaseLife) {
    if (auto base = make_base()) base_ = std::move(base);
  }
  Stopwatch watch;
  watch.clock_ = this;
  watch.base_ = base_;
  watch.begin_ = take();
  CLIQUE_CUDA(EventRecord(watch.begin_, stream));
  return watch;
}

std::shared_ptr<const Stopwatch::Base> GpuClock::make_base() {
  if (stream_ == nullptr) CLIQUE_CUDA(StreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
  auto* base = new Base{take(), 0};
  std::shared_ptr<const Base> owner(base, [this](const Base* gone) {
    give_back(gone->event);
    delete gone;
  });
  // The event happens between two readings of the host's clock. Of several tries, the one with the closest
  // readings is the best.
  const std::int64_t patience = base_ ? kPatience : kSecond;
  std::int64_t best = patience;
  for (int i = 0; i < kTries; ++i) {
    const std::int64_t before = host_clock();
    std::int64_t after = before;
    CLIQUE_CUDA(EventRecord(base->event, stream_));
    CUresult done = CUDA_ERROR_NOT_READY;
    while (done == CUDA_ERROR_NOT_READY && after - before < patience) {
      done = driver().EventQuery(base->event);
      after = host_clock();
    }
    if (done != CUDA_SUCCESS) return nullptr;
    base->time = before + (after - before) / 2;
    // Recording the event again moves it, so a good try must be the last one.
    if (after - before <= best + best / 4 && i > 0) break;
    best = std::min(best, after - before);
  }
  return owner;
}

CUevent GpuClock::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      CUevent event = free_.back();
      free_.pop_back();
      return event;
    }
  }
  CUevent event = nullptr;
  CLIQUE_CUDA(EventCreate(&event, CU_EVENT_DEFAULT));
  return event;
}

void GpuClock::give_back(CUevent event) {
  const std::lock_guard lock(mutex_);
  free_.push_back(event);
}

}  // namespace clique::daemon::cuda
