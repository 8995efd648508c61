#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "daemon/common/control.hpp"
#include "daemon/server/connections/answers.hpp"
#include "protocol/fd.hpp"

namespace clique::daemon {

/// The shortest time that an attempt to connect takes which fails, so that nobody can have the daemon make
/// many.
inline constexpr std::chrono::milliseconds kDialFailureTime{100};

/// Connects to workers of other nodes for workers, which have no network of their own (docs/decisions/0039).
/// It does the handshake, too, so that a worker gets a connection only to somebody who knows the secret that
/// it names: never to a service of another kind. Each attempt has a thread of its own. One thread.
class DialDesk {
 public:
  /// The attempts that one worker has waiting here. They are given up when it is destroyed.
  class Account {
   public:
    /// Whether the worker may ask for another.
    bool has_room() const { return *waiting_ < kMostDials; }

   private:
    friend class DialDesk;
    std::shared_ptr<std::size_t> waiting_ = std::make_shared<std::size_t>(0);
  };

  /// Throws std::system_error.
  DialDesk() = default;
  DialDesk(const DialDesk&) = delete;
  DialDesk& operator=(const DialDesk&) = delete;

  /// Begins an attempt. The account must have room.
  void dial(const Account& account, DialRequest request);

  struct Answer {
    std::weak_ptr<std::size_t> account;
    std::string endpoint;  ///< DialRequest::endpoint
    Fd socket = {};        ///< none: the notice says why
    Notice notice = {};

    bool is_for(const Account& whose) const { return account.lock() == whose.waiting_; }
    /// Sends it to the worker without waiting. @returns false if the worker does not take it
    bool send(const ControlChannel& worker) const { return worker.send(notice, socket.get()); }
  };
  /// A descriptor that is readable while done() has something to return.
  int fd() const { return answers_->fd(); }
  /// The answers to workers that still want them.
  std::vector<Answer> done();

 private:
  const std::shared_ptr<Answers<Answer>> answers_ =
      std::make_shared<Answers<Answer>>();  // shared with the threads, which may outlive this
};

}  // namespace clique::daemon
