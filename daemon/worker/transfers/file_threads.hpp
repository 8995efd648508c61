#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace clique::daemon {

/// Threads that read and write files, which the main thread must not wait for. They are started when the
/// first work is posted. Any thread.
class FileThreads {
 public:
  FileThreads() = default;
  FileThreads(const FileThreads&) = delete;
  FileThreads& operator=(const FileThreads&) = delete;
  /// Waits for the work that has begun. A worker never gets here: it leaves its process.
  ~FileThreads();

  /// Has `work` called on one of the threads; in the order of the posts, as far as several threads have one.
  void post(std::function<void()> work);

 private:
  void serve();

  std::mutex mutex_;  // guards all below
  std::condition_variable posted_;
  std::deque<std::function<void()>> work_;
  std::vector<std::thread> threads_;
  bool ending_ = false;
};

/// Work on the threads of a FileThreads, one piece after the other, in the order of the posts. Any thread.
class FileTurns : public std::enable_shared_from_this<FileTurns> {
 public:
  /// @param threads have to outlive all work
  explicit FileTurns(FileThreads& threads) : threads_(threads) {}

  void post(std::function<void()> work);

 private:
  /// Has a thread do the first piece, and then the next one, after what other posts have come meanwhile.
  void serve();

  FileThreads& threads_;
  std::mutex mutex_;  // guards all below
  std::deque<std::function<void()>> work_;
  bool busy_ = false;  // a thread does a piece, or is about to
};

}  // namespace clique::daemon
