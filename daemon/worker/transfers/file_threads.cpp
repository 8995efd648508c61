#include "daemon/worker/transfers/file_threads.hpp"

#include <algorithm>
#include <utility>

namespace clique::daemon {

namespace {
/// One thread copies less from the page cache than memory could take; more than a few wait for each other.
constexpr unsigned kFewest = 2;
constexpr unsigned kMost = 4;
}  // namespace

FileThreads::~FileThreads() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  posted_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void FileThreads::post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
    const std::size_t wanted = std::clamp(std::thread::hardware_concurrency(), kFewest, kMost);
    while (threads_.size() < wanted) threads_.emplace_back([this] { serve(); });
  }
  posted_.notify_one();
}

void FileThreads::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    posted_.wait(lock, [this] { return ending_ || !work_.empty(); });
    if (ending_) return;
    std::function<void()> work = std::move(work_.front());
    work_.pop_front();
    lock.unlock();
    work();
    // Objects that it owns may post further work when they are released.
    work = nullptr;
    lock.lock();
  }
}

void FileTurns::post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
    if (std::exchange(busy_, true)) return;
  }
  serve();
}

void FileTurns::serve() {
  threads_.post([self = shared_from_this()] {
    std::function<void()> work;
    {
      const std::lock_guard lock(self->mutex_);
      work = std::move(self->work_.front());
      self->work_.pop_front();
    }
    work();
    // Objects that it owns may post further work when they are released.
    work = nullptr;
    {
      const std::lock_guard lock(self->mutex_);
      self->busy_ = !self->work_.empty();
      if (!self->busy_) return;
    }
    self->serve();
  });
}

}  // namespace clique::daemon
