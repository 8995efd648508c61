// The same question to several workers at the same time.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace clique::icd {

class Worker;

/// The part that does not depend on the type of the reply.
class PendingReplies {
 protected:
  explicit PendingReplies(std::size_t count) : open_(count) {}
  ~PendingReplies() = default;
  /// Counts an answer. @returns whether it is the last one.
  bool count_answer() { return open_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  /// Receives from the worker until `known`, or until the worker is lost.
  static void receive(Worker& worker, const std::atomic<bool>& known);
  /// The text for a worker that gave no reply.
  static std::string failure_of(const Worker& worker, const std::string& reason);
  void finish();
  void wait_finished();

 private:
  std::atomic<std::size_t> open_;
  std::mutex mutex_;
  std::condition_variable finished_changed_;
  bool finished_ = false;
};

/// The answers of several workers to requests that were sent at the same time (ask.hpp). For a lost worker
/// the answer is the reason why there is no reply.
template <typename Reply>
class Replies : private PendingReplies {
 public:
  struct Answer {
    Worker* worker = nullptr;
    std::optional<Reply> reply;
    std::string failure;
    std::chrono::steady_clock::time_point arrived = {};
    std::atomic<bool> known{false};
  };
  using Answers = std::vector<Answer>;
  /// Called once, with all answers in the order of the requests, on the thread that received the last one. If
  /// all workers are lost, that is the asking thread.
  using Done = std::function<void(Answers& answers)>;

  Replies(std::size_t count, Done done) : PendingReplies(count), answers_(count), done_(std::move(done)) {}

  /// For ask(): names the worker that answers a request.
  void expect(std::size_t index, Worker& worker) { answers_[index].worker = &worker; }
  /// For ask(): there are no requests.
  void finish_empty() {
    if (done_) done_(answers_);
    end();
  }
  /// For ask(): takes the answer to a request. @param reply null for a worker that gave none.
  void take(std::size_t index, Reply* reply, const std::string& reason) {
    Answer& answer = answers_[index];
    answer.arrived = std::chrono::steady_clock::now();
    if (reply != nullptr) {
      answer.reply = std::move(*reply);
    } else {
      answer.failure = failure_of(*answer.worker, reason);
    }
    // Wake the waiting thread even if `done` throws, which ends the link.
    struct Taken {
      Replies& replies;
      Answer& answer;
      const bool last;
      ~Taken() {
        answer.known.store(true, std::memory_order_release);
        if (last) replies.end();
      }
    };
    const Taken taken{*this, answer, count_answer()};
    if (taken.last && done_) done_(answers_);
  }

  /// Returns once all workers have answered, or are lost, and `done` has returned. Receives while it waits.
  Answers& wait() {
    for (Answer& answer : answers_) receive(*answer.worker, answer.known);
    wait_finished();
    return answers_;
  }

 private:
  /// Releases what `done` has captured before wait() returns.
  void end() {
    done_ = nullptr;
    finish();
  }

  Answers answers_;
  Done done_;
};

}  // namespace clique::icd
