#pragma once

#include <sys/eventfd.h>

#include <mutex>
#include <utility>
#include <vector>

#include "protocol/fd.hpp"
#include "protocol/throw_errno.hpp"

namespace clique::daemon {

/// What the threads of a desk have done, until the daemon's loop takes it. Thread-safe.
template <typename Answer>
class Answers {
 public:
  /// Throws std::system_error.
  Answers() {
    if (!news_) throw_errno("eventfd");
  }

  void add(Answer answer) {
    const std::lock_guard lock(mutex_);
    done_.push_back(std::move(answer));
    ::eventfd_write(news_.get(), 1);
  }
  /// A descriptor that is readable while take() has something to return.
  int fd() const { return news_.get(); }
  std::vector<Answer> take() {
    eventfd_t count = 0;
    ::eventfd_read(news_.get(), &count);
    const std::lock_guard lock(mutex_);
    return std::exchange(done_, {});
  }

 private:
  const Fd news_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::mutex mutex_;
  std::vector<Answer> done_;  // guarded by the mutex
};

}  // namespace clique::daemon
