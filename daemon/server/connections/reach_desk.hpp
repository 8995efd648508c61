#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "daemon/server/connections/answers.hpp"
#include "daemon/server/connections/gate.hpp"
#include "protocol/messages/status.hpp"
#include "protocol/security/tls.hpp"

namespace clique::daemon {

/// Tries to reach other nodes for clients that ask whether this node can. It does the handshake of a client,
/// and sends nothing after it. An admitted client learns no more than it could from a session, whose workers
/// have connections made to any endpoint that it names (DialDesk); failures take as long as there, and the
/// number of attempts at a time is limited. Each attempt has a thread of its own. One thread.
class ReachDesk {
 public:
  struct Answer {
    GuestId guest = 0;
    protocol::Reached reached = {};
  };

  /// Throws std::system_error and SecurityError.
  /// @param identity which this node proves to the others
  explicit ReachDesk(const protocol::Identity& identity);
  ~ReachDesk();
  ReachDesk(const ReachDesk&) = delete;
  ReachDesk& operator=(const ReachDesk&) = delete;

  /// Begins to reach nodes. done() has the answer when the request's time is over at the latest.
  /// @param client Permit::client
  /// @returns why not; empty: it has begun
  std::string reach(GuestId guest, const std::string& client, protocol::Reach request);
  /// A descriptor that is readable while done() has something to return.
  int fd() const { return answers_->fd(); }
  std::vector<Answer> done() { return answers_->take(); }

 private:
  struct Round;

  const std::shared_ptr<const protocol::TlsContext> tls_;
  const std::shared_ptr<Answers<Answer>> answers_ =
      std::make_shared<Answers<Answer>>();    // shared with the threads, which may outlive this
  std::vector<std::weak_ptr<Round>> rounds_;  // that have threads
};

}  // namespace clique::daemon
