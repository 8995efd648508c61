// Who may connect to a worker's sockets. ZeroMQ asks a handler about every connection (ZAP, RFC 27) before
// the socket learns of it, so that nobody else reaches what parses messages, or ROUTER sockets themselves:
// these let a peer choose the id by which they know it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <thread>
#include <zmq.hpp>

#include "protocol/pass.hpp"

namespace clique::protocol {

/// Has a socket prove on every connection that it makes that it has the pass. To be called before connect.
/// Throws zmq::error_t.
void present(zmq::socket_ref socket, const Pass& pass);

/// The worker's side: makes the passes, and admits those who have one. All sockets of one context that are
/// guarded have the same one, which must live longer than they.
class Authenticator {
 public:
  enum class Role : std::uint8_t { Client, Peer };

  /// @param encrypt whether connections are encrypted, too
  /// Throws zmq::error_t, and std::system_error if there are no random numbers.
  Authenticator(zmq::context_t& context, bool encrypt);
  ~Authenticator();
  Authenticator(const Authenticator&) = delete;
  Authenticator& operator=(const Authenticator&) = delete;

  const Pass& pass(Role role) const { return roles_.at(static_cast<std::size_t>(role)).pass; }
  /// Has the socket admit only those who have the role's pass. To be called before bind. Throws zmq::error_t.
  void guard(zmq::socket_ref socket, Role role) const;

 private:
  struct RoleKeys {
    Pass pass;
    std::string public_key;  ///< 32 bytes; of the pass's secret, with CURVE
  };

  /// Answers ZeroMQ's requests until the end. In a thread of its own.
  void serve();
  /// Whether the credentials of a request are those of the role that its domain names.
  bool admits(const std::vector<std::string>& request) const;

  std::string secret_key_;  // the worker's; empty without CURVE
  std::array<RoleKeys, 2> roles_;
  zmq::socket_t requests_;
  zmq::socket_t stop_here_;   // of serve()
  zmq::socket_t stop_there_;  // of the destructor
  std::thread thread_;
};

}  // namespace clique::protocol
