#include "daemon/backend/cuda/execution/end_observer.hpp"

#include <pthread.h>

#include <utility>

#include "daemon/backend/cuda/gpu/clock.hpp"

namespace clique::daemon::cuda {

EndObserver::EndObserver(std::function<void()> begin)
    : thread_([this, begin = std::move(begin)] {
        begin();
        run();
      }) {}

EndObserver::~EndObserver() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::shared_ptr<Sighting> EndObserver::observe(CUstream stream, std::size_t index) {
  CUevent event = events_.take();
  CLIQUE_CUDA(EventRecord(event, stream));
  auto sighting = std::make_shared<Sighting>();
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    added_.push_back({event, index, sighting});
    wake = sleeping_;
  }
  if (wake) changed_.notify_one();
  return sighting;
}

void EndObserver::run() {
  ::pthread_setname_np(::pthread_self(), "end observer");
  Polling::be_punctual();
  auto since = Polling::Clock::now();
  while (const auto added = exchange(waiting_ == 0 && !polling_.spins(Polling::Clock::now() - since))) {
    if (look() || *added > 0) {
      since = Polling::Clock::now();
      continue;
    }
    const auto idle = Polling::Clock::now() - since;
    if (polling_.spins(idle))
      Polling::spin();
    else if (waiting_ > 0)
      Polling::sleep(idle);
  }
}

std::optional<std::size_t> EndObserver::exchange(bool wait) {
  std::vector<Point> added;
  {
    std::unique_lock lock(mutex_);
    if (wait) {
      sleeping_ = true;
      changed_.wait(lock, [this] { return stop_ || !added_.empty(); });
      sleeping_ = false;
    }
    if (stop_) return std::nullopt;
    added.swap(added_);
  }
  waiting_ += added.size();
  for (Point& point : added) {
    if (streams_.size() <= point.stream) streams_.resize(point.stream + 1);
    streams_[point.stream].push_back(std::move(point));
  }
  return added.size();
}

bool EndObserver::look() {
  bool any = false;
  for (auto& points : streams_) {
    // After a fault, the driver answers with an error: nothing more is reached.
    while (!points.empty() && driver().EventQuery(points.front().event) != CUDA_ERROR_NOT_READY) {
      points.front().sighting->seen(host_clock());
      events_.give_back(points.front().event);
      points.pop_front();
      --waiting_;
      any = true;
    }
  }
  return any;
}

}  // namespace clique::daemon::cuda
