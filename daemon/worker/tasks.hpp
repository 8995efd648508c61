#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "protocol/fd.hpp"

namespace clique::daemon {

/// Functions that other threads have called on the session's main thread.
class Tasks {
 public:
  Tasks();

  /// Has `task` called on the main thread, which it wakes up. Any thread.
  void post(std::function<void()> task);
  /// Calls all tasks that were posted. Main thread. @returns whether there were any.
  bool run();
  /// Readable while tasks wait.
  int fd() const { return wakeup_.get(); }

 private:
  Fd wakeup_;
  std::mutex mutex_;
  std::vector<std::function<void()>> tasks_;
};

}  // namespace clique::daemon
