// Requests that have not been answered yet.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>

#include "protocol/messages/message.hpp"

namespace clique::icd {

/// Matches replies to requests. Thread-safe; answers are called without a lock.
class Answers {
 public:
  /// Receives the reply, a message of the type whose number was expected; or a null pointer and the reason
  /// why there is no reply.
  using Answer = std::function<void(void* reply, const std::string& failure)>;

  /// Registers a request.
  /// @param reply the number of the message that answers it
  /// @returns the request's id; or 0 after fail_all(), in which case `answer` has already been called with
  /// the reason.
  protocol::RequestId expect(protocol::Op reply, Answer answer);
  /// Calls the answer of a request. Throws DecodeError if no request has this id, or if the request expects
  /// another kind of reply.
  void deliver(protocol::RequestId request, protocol::Op op, void* reply);
  /// Fails all requests, those made later too.
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
