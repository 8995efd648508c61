#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "daemon/server/connections/answers.hpp"
#include "daemon/server/connections/gate.hpp"
#include "protocol/security/munge.hpp"

namespace clique::daemon {

/// Verifies the MUNGE credentials of visitors in a thread of its own, because munged may be slow to answer.
class CredentialDesk {
 public:
  /// Throws std::system_error.
  explicit CredentialDesk(protocol::Munge munge);
  /// Waits for the answer that munged still owes.
  ~CredentialDesk();
  CredentialDesk(const CredentialDesk&) = delete;
  CredentialDesk& operator=(const CredentialDesk&) = delete;

  /// Queues a greeting with a credential. @returns false if the queue is full
  bool take(Greeting greeting);
  /// A descriptor that is readable while done() has something to return.
  int fd() const { return answers_.fd(); }
  /// Returns the verified greetings, whose visitors now have a munge_user or a munge_failure.
  std::vector<Greeting> done() { return answers_.take(); }

 private:
  void serve();

  const protocol::Munge munge_;
  Answers<Greeting> answers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Greeting> waiting_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace clique::daemon
