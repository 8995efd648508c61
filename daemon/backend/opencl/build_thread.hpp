#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "daemon/backend/opencl/objects.hpp"

namespace clique::daemon::opencl {

/// Builds programs, one after the other, so that commands go on meanwhile.
class BuildThread {
 public:
  BuildThread();
  ~BuildThread();
  BuildThread(const BuildThread&) = delete;
  BuildThread& operator=(const BuildThread&) = delete;

  /// Has `job` done on the thread after those before it. It may use and set the program's members.
  void post(std::shared_ptr<Program> program, std::function<void()> job);

  /// Waits until no job of the program is left: its members may then be used.
  void wait(const Program& program);

 private:
  struct Job {
    std::shared_ptr<Program> program;
    std::function<void()> work;
  };
  void run();

  std::mutex mutex_;  // guards what follows, and Program::jobs
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace clique::daemon::opencl
