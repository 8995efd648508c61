#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>

#include "daemon/backend/opencl/native.hpp"

namespace clique::daemon::opencl {

/// Watches how long kernels run, on a thread of its own.
class KernelLimit {
 public:
  /// @param limit 0: no limit, and no thread
  /// @param exceeded called once, on the thread, with the name of the first kernel that exceeds the limit
  KernelLimit(std::chrono::seconds limit, std::function<void(const std::string& kernel)> exceeded);
  ~KernelLimit();
  KernelLimit(const KernelLimit&) = delete;
  KernelLimit& operator=(const KernelLimit&) = delete;

  bool active() const { return limit_.count() != 0; }
  /// Watches a kernel's command until it has ended. Only if active(). Any thread.
  void add(cl_event event, const std::string& kernel);

 private:
  using Clock = std::chrono::steady_clock;
  struct Running {
    Handle<cl_event> event;
    std::string kernel;
    Clock::time_point since;  ///< when it was first seen running; the epoch before that
  };
  void run();
  /// @returns the name of a kernel that has exceeded the limit; empty if none has.
  std::string look(Clock::time_point now);

  const std::chrono::seconds limit_;
  const std::function<void(const std::string&)> exceeded_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::list<Running> kernels_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace clique::daemon::opencl
