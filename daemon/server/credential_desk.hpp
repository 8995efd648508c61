#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "daemon/server/gate.hpp"
#include "protocol/fd.hpp"
#include "protocol/security/munge.hpp"

namespace clique::daemon {

/// Finds out who the visitors with MUNGE credentials are, in a thread of its own, because munged may take
/// long to answer.
class CredentialDesk {
 public:
  /// Throws std::system_error.
  explicit CredentialDesk(protocol::Munge munge);
  /// Waits for munged's last answer.
  ~CredentialDesk();
  CredentialDesk(const CredentialDesk&) = delete;
  CredentialDesk& operator=(const CredentialDesk&) = delete;

  /// Takes a greeting with a credential. @returns false if too many wait already
  bool take(Greeting greeting);
  /// A descriptor that is readable while done() has something to return.
  int fd() const { return news_.get(); }
  /// Greetings whose visitor now has a munge_user, or a munge_failure.
  std::vector<Greeting> done();

 private:
  void serve();

  const protocol::Munge munge_;
  const Fd news_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Greeting> waiting_;
  std::vector<Greeting> done_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace clique::daemon
