// Requests that wait for their replies.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>

#include "protocol/messages.hpp"

namespace clique::icd {

/// Pairs replies with the requests they answer. Any thread; answers are called without a lock.
class Answers {
 public:
  /// Takes the reply (of the type that belongs to the number expected), or a null pointer and why there is
  /// none.
  using Answer = std::function<void(void* reply, const std::string& failure)>;

  /// @returns the new request's id, or 0 after fail_all(), when `answer` has been called with its reason.
  protocol::RequestId expect(protocol::Op reply, Answer answer);
  /// Throws DecodeError where no request, or one for another reply, has this id.
  void deliver(protocol::RequestId request, protocol::Op op, void* reply);
  /// Fails all requests, and all to come.
  void fail_all(const std::string& reason);

 private:
  struct Expected {
    protocol::Op reply;
    Answer answer;
  };
  std::mutex mutex_;
  std::unordered_map<protocol::RequestId, Expected> expected_;
  protocol::RequestId last_ = 0;
  bool failed_ = false;
  std::string failure_;
};

}  // namespace clique::icd
