// The client's connection to a node's daemon.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "icd/common/node_address.hpp"
#include "icd/remote/nodes/resolve.hpp"
#include "icd/remote/nodes/trust.hpp"
#include "protocol/messages/session.hpp"
#include "protocol/messages/status.hpp"
#include "protocol/security/tls.hpp"

namespace clique::icd {

/// The connection ended before the daemon had answered.
class Cut : public Unreachable {
 public:
  using Unreachable::Unreachable;
};

/// The connection to the daemon at a numeric address of a node. While it exists, the workers that the daemon
/// assigned wait for this client to attach. One thread at a time.
class DaemonConnection {
 public:
  using Clock = std::chrono::steady_clock;

  /// Begins to connect, without waiting. Throws Unreachable.
  /// @param trust decides whether the node's key is trusted; must outlive the connection
  DaemonConnection(const NodeAddress& node, std::string address, const Trust& trust);
  ~DaemonConnection();
  DaemonConnection(const DaemonConnection&) = delete;
  DaemonConnection& operator=(const DaemonConnection&) = delete;

  // Only one of these can be called, once. They throw Unreachable, and Cut if the connection ended.

  /// The key that the daemon proves, trusted or not. Sends nothing after the handshake.
  protocol::PublicKey ask_for_key(Clock::time_point deadline);
  /// @param choice the devices that the session is for; nothing: all, and others may use them as well
  protocol::Welcome ask_for_session(Clock::time_point deadline,
                                    const std::optional<protocol::Choice>& choice = {});
  protocol::Offer ask_for_devices(Clock::time_point deadline);
  /// Reserves devices, and asks for the load of all.
  protocol::Loads reserve(const protocol::Choice& choice, Clock::time_point deadline);
  protocol::Status ask_for_status(Clock::time_point deadline);
  /// Has the daemon try to reach other nodes.
  protocol::Reached reach(const protocol::Reach& reach, Clock::time_point deadline);
  /// Has the daemon do what the message says.
  protocol::Steered steer(const protocol::Steer& steer, Clock::time_point deadline);

  /// The key that the daemon has proven. After one of the above has returned.
  const protocol::PublicKey& key() const { return channel_->peer(); }
  /// The connection's round trip, as the operating system measures it; 0: unknown.
  std::chrono::microseconds round_trip() const;

 private:
  /// @param details go along with the wish
  template <typename Answer, typename... M>
  Answer ask(protocol::Wish wish, Clock::time_point deadline, const M&... details);
  /// Calls a function that uses the channel. Turns its exceptions into Unreachable or Cut.
  template <typename Talk>
  auto in_words(Talk&& talk) const;
  /// Waits until the daemon has proven its key.
  void shake_hands(Clock::time_point deadline);
  /// Waits until the socket can be read (or written, if there is data to send), or until the deadline. Throws
  /// Unreachable if the deadline has passed already.
  void wait(Clock::time_point deadline) const;
  /// The connection ended before the daemon's key was known.
  [[noreturn]] void throw_unconnected(Clock::time_point deadline) const;
  /// The reason if the port accepts connections, but does not behave like cliqued.
  std::string somebody() const;

  const NodeAddress node_;
  const std::string address_;
  const Trust& trust_;
  std::unique_ptr<protocol::TlsChannel> channel_;
};

}  // namespace clique::icd
