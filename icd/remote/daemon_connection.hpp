// Asking a node's daemon.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <zmq.hpp>

#include "icd/remote/resolve.hpp"
#include "protocol/messages/session.hpp"
#include "protocol/transport/monitor.hpp"

namespace clique::icd {

/// The connection to a daemon ended before its answer.
class Cut : public Unreachable {
 public:
  using Unreachable::Unreachable;
};

/// The connection to the daemon at a numeric address. While it exists, the workers of the session that it
/// gave wait for this client. One thread at a time.
class DaemonConnection {
 public:
  using Clock = std::chrono::steady_clock;

  /// Connects, without waiting.
  DaemonConnection(zmq::context_t& zmq, std::string address, std::uint16_t port);
  ~DaemonConnection();
  DaemonConnection(const DaemonConnection&) = delete;
  DaemonConnection& operator=(const DaemonConnection&) = delete;

  /// Asks for a session, which replaces one that it gave before. Throws Unreachable; Cut if the connection
  /// ended.
  protocol::Welcome ask_for_session(Clock::time_point deadline);
  /// Asks for its devices. Throws Unreachable; Cut if the connection ended.
  protocol::Offer ask_for_devices(Clock::time_point deadline);

 private:
  template <typename Answer>
  Answer ask(protocol::Wish wish, Clock::time_point deadline);

  const std::string address_;
  const std::uint16_t port_;
  zmq::socket_t socket_;
  protocol::Monitor monitor_;
};

}  // namespace clique::icd
