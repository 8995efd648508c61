#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace clique::daemon {

/// A program that jobs of a BuildThread work on.
struct Buildable {
  int jobs = 0;  ///< jobs that are not done yet; guarded by the BuildThread
};

/// Builds programs one after the other on a thread of its own, so that commands go on meanwhile.
class BuildThread {
 public:
  /// @param begin called first on the thread
  explicit BuildThread(std::function<void()> begin = {});
  ~BuildThread();
  BuildThread(const BuildThread&) = delete;
  BuildThread& operator=(const BuildThread&) = delete;

  /// Runs `job` on the thread, after the jobs before it. The job may use and set the program's members.
  void post(std::shared_ptr<Buildable> program, std::function<void()> job);

  /// Waits until all jobs of the program are done. The caller may then use the program's members.
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
