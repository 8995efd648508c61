#include "daemon/backend/cuda/gpu/clock.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <optional>

namespace clique::daemon::cuda {

namespace {
constexpr std::int64_t kSecond = 1'000'000'000;
/// How long a base is used, in ns.
constexpr std::int64_t kBaseLife = kSecond;
/// How long to wait for an event in an empty stream, which takes microseconds, if there is an older base; in
/// ns.
constexpr std::int64_t kPatience = kSecond / 100;
constexpr int kTries = 4;

/// The GPU's time between two events, in ns, or none.
std::optional<std::int64_t> elapsed(CUevent from, CUevent to) {
  float milliseconds = 0;
  if (to == nullptr || driver().EventElapsedTime(&milliseconds, from, to) != CUDA_SUCCESS) return {};
  return std::llround(double{milliseconds} * 1e6);
}

void raise(std::atomic<std::int64_t>& value, std::int64_t least) {
  std::int64_t now = value;
  while (now < least && !value.compare_exchange_weak(now, least)) {
  }
}
}  // namespace

std::int64_t host_clock() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * kSecond + time.tv_nsec;
}

Stopwatch::~Stopwatch() {
  if (clock_ == nullptr) return;
  if (begin_ != nullptr) clock_->events_.give_back(begin_);
  if (end_ != nullptr) clock_->events_.give_back(end_);
}

void Stopwatch::stop(CUstream stream) {
  if (clock_ == nullptr) return;
  end_ = clock_->events_.take();
  CLIQUE_CUDA(EventRecord(end_, stream));
}

std::pair<std::int64_t, std::int64_t> Stopwatch::times(std::int64_t submitted) const {
  const auto begin = base_ ? elapsed(base_->event, begin_) : std::nullopt;
  const auto end = base_ ? elapsed(base_->event, end_) : std::nullopt;
  // Nothing begins before it is submitted, so the base is at least this late.
  if (begin) raise(base_->time, submitted - *begin);
  const auto time = [this](std::optional<std::int64_t> since) { return since ? base_->time + *since : 0; };
  return {time(begin), time(end)};
}

Stopwatch GpuClock::start(CUstream stream) {
  if (!base_ || host_clock() - base_->time > kBaseLife) {
    if (auto base = make_base()) base_ = std::move(base);
  }
  Stopwatch watch;
  watch.clock_ = this;
  watch.base_ = base_;
  watch.begin_ = events_.take();
  CLIQUE_CUDA(EventRecord(watch.begin_, stream));
  return watch;
}

std::shared_ptr<Stopwatch::Base> GpuClock::make_base() {
  if (stream_ == nullptr) CLIQUE_CUDA(StreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
  auto* base = new Base{events_.take(), 0};
  std::shared_ptr<Base> owner(base, [this](Base* gone) {
    events_.give_back(gone->event);
    delete gone;
  });
  // The event happens between two readings of the host's clock. Of several tries, the one with the closest
  // readings is the best.
  const std::int64_t patience = base_ ? kPatience : kSecond;
  std::int64_t best = patience;
  std::int64_t before = 0;
  std::int64_t after = 0;
  for (int i = 0; i < kTries; ++i) {
    before = after = host_clock();
    CLIQUE_CUDA(EventRecord(base->event, stream_));
    CUresult done = CUDA_ERROR_NOT_READY;
    while (done == CUDA_ERROR_NOT_READY && after - before < patience) {
      done = driver().EventQuery(base->event);
      after = host_clock();
    }
    if (done != CUDA_SUCCESS) return nullptr;
    // Recording the event again moves it, so a good try must be the last one.
    if (after - before <= best + best / 4 && i > 0) break;
    best = std::min(best, after - before);
  }
  // A base that is too early is corrected by the first command that seems to begin before it is submitted;
  // one that is too late would put the ends of commands into the future. So it is the earliest possible time,
  // unless the base before, from which commands may still be running, says more.
  base->time = before;
  if (const auto since = base_ ? elapsed(base_->event, base->event) : std::nullopt)
    base->time = std::clamp(base_->time + *since, before, before + (after - before) / 2);
  return owner;
}

}  // namespace clique::daemon::cuda
