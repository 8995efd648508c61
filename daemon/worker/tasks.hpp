#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "protocol/fd.hpp"

namespace clique::daemon {

/// Work that other threads hand to the session's main thread.
class Tasks {
 public:
  Tasks();

  /// Has `task` called on the main thread soon. Any thread.
  void post(std::function<void()> task);
  /// Calls what was posted. Main thread. @returns whether there was anything.
  bool run();
  /// Readable while tasks wait.
  int fd() const { return wakeup_.get(); }

 private:
  Fd wakeup_;
  std::mutex mutex_;
  std::vector<std::function<void()>> tasks_;
};

}  // namespace clique::daemon
