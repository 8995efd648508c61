// The same question to several workers at the same time.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "icd/core/workers/worker.hpp"

namespace clique::icd {

/// The answers of several workers to requests that were sent at the same time. For a lost worker the answer
/// is the reason why there is no reply.
template <typename Reply>
class Replies {
 public:
  struct Answer {
    Worker* worker = nullptr;
    std::optional<Reply> reply;
    std::string failure;
    std::atomic<bool> known{false};
  };
  using Answers = std::vector<Answer>;
  /// Called once, with all answers in the order of the requests, on the thread that received the last one. If
  /// all workers are lost, that is the asking thread.
  using Done = std::function<void(Answers& answers)>;

  /// Sends each worker its request. Does not wait. The caller must not hold a lock that `done` takes.
  template <typename M>
  static std::shared_ptr<Replies> ask(std::vector<std::pair<Worker*, M>> requests, Done done = {}) {
    auto replies = std::make_shared<Replies>(requests.size(), std::move(done));
    for (std::size_t i = 0; i < requests.size(); ++i) replies->answers_[i].worker = requests[i].first;
    if (requests.empty()) {
      if (replies->done_) replies->done_(replies->answers_);
      replies->finish();
    }
    for (std::size_t i = 0; i < requests.size(); ++i) {
      Link& link = requests[i].first->link();
      link.template request<Reply>(
          std::move(requests[i].second),
          [replies, i](Reply* reply, const std::string& failure) { replies->take(i, reply, failure); });
      link.flush();
    }
    return replies;
  }

  Replies(std::size_t count, Done done) : answers_(count), open_(count), done_(std::move(done)) {}

  /// Returns once all workers have answered, or are lost, and `done` has returned. Receives while it waits.
  Answers& wait() {
    for (Answer& answer : answers_)
      answer.worker->link().wait([&] { return answer.known.load(std::memory_order_acquire); });
    std::unique_lock lock(mutex_);
    finished_changed_.wait(lock, [this] { return finished_; });
    return answers_;
  }

 private:
  void take(std::size_t index, Reply* reply, const std::string& failure) {
    Answer& answer = answers_[index];
    if (reply != nullptr) {
      answer.reply = std::move(*reply);
    } else {
      answer.failure = "node " + answer.worker->node().name() + ": " + failure;
    }
    const bool last = open_.fetch_sub(1, std::memory_order_acq_rel) == 1;
    if (last && done_) done_(answers_);
    answer.known.store(true, std::memory_order_release);
    if (last) finish();
  }

  void finish() {
    const std::lock_guard lock(mutex_);
    done_ = nullptr;
    finished_ = true;
    finished_changed_.notify_all();
  }

  Answers answers_;
  std::atomic<std::size_t> open_;
  Done done_;
  std::mutex mutex_;
  std::condition_variable finished_changed_;
  bool finished_ = false;
};

}  // namespace clique::icd
