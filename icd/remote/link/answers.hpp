// Requests that have not been answered yet.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "protocol/fd.hpp"
#include "protocol/messages/message.hpp"

namespace clique::icd {

/// How long a worker may answer none of the requests that have a limit.
struct AnswerLimit {
  std::chrono::milliseconds time{0};  ///< 0: any time
  std::string failure = {};           ///< the reason why there is no reply, if the time is over
};

/// Matches replies to requests. Thread-safe; answers are called without a lock.
class Answers {
 public:
  using Clock = std::chrono::steady_clock;

  /// @param node the node's name, for people. Throws std::system_error.
  explicit Answers(std::string node);

  /// Receives the reply, a message of the type whose number was expected; or a null pointer and the reason
  /// why there is no reply.
  using Answer = std::function<void(void* reply, const std::string& failure)>;

  /// Registers a request.
  /// @param reply the number of the message that answers it
  /// @returns the request's id; or 0 after fail_all(), in which case `answer` has already been called with
  /// the reason.
  protocol::RequestId expect(protocol::Op reply, Answer answer, AnswerLimit limit = {});
  /// Calls the answer of a request, unless expire() has. Throws DecodeError if no request has this id, or if
  /// the request expects another kind of reply.
  void deliver(protocol::RequestId request, protocol::Op op, void* reply);
  /// Fails all requests, those made later too.
  void fail_all(const std::string& reason);

  /// Fails the requests whose limit is over, and tells the user. For the background thread.
  void expire(Clock::time_point now);
  /// Readable when expire() has something to do.
  int timer() const { return timer_.get(); }

 private:
  struct Expected {
    protocol::Op reply;
    Answer answer;
    AnswerLimit limit;
    Clock::time_point since;

    bool limited() const { return limit.time.count() > 0; }
  };
  /// Has expire() called again at that time. Under mutex_.
  void look_at(Clock::time_point when);

  const std::string node_;
  const Fd timer_;  // timerfd(2)
  /// When expire() has to look; written under mutex_.
  std::atomic<Clock::time_point> next_look_{Clock::time_point::max()};

  std::mutex mutex_;
  Clock::time_point answered_;                        // when a request with a limit was answered
  std::unordered_set<protocol::RequestId> given_up_;  // by expire(); the replies may still come
  std::unordered_map<protocol::RequestId, Expected> expected_;
  protocol::RequestId last_ = 0;
  bool failed_ = false;
  std::string failure_;
};

}  // namespace clique::icd
