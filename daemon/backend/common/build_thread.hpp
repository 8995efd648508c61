#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace clique::daemon {

/// What jobs of a BuildThread work on.
struct Buildable {
  int jobs = 0;  ///< not yet done, guarded by the BuildThread
};

/// Builds programs, one after the other, so that commands go on meanwhile.
class BuildThread {
 public:
  /// @param begin called first on the thread
  explicit BuildThread(std::function<void()> begin = {});
  ~BuildThread();
  BuildThread(const BuildThread&) = delete;
  BuildThread& operator=(const BuildThread&) = delete;

  /// Has `job` done on the thread after those before it. It may use and set the program's members.
  void post(std::shared_ptr<Buildable> program, std::function<void()> job);

  /// Waits until no job of the program is left: its members may then be used.
  void wait(const Buildable& program);

 private:
  struct Job {
    std::shared_ptr<Buildable> program;
    std::function<void()> work;
  };
  void run();

  std::mutex mutex_;  // guards what follows, and Buildable::jobs
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace clique::daemon
