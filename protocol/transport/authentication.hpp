// Authentication of connections to a worker's sockets. ZeroMQ asks a handler about every connection (ZAP, RFC
// 27) before the socket sees it. So strangers reach neither the code that parses messages nor the ROUTER
// sockets, which let a peer choose its routing id.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <thread>
#include <zmq.hpp>

#include "protocol/encryption.hpp"
#include "protocol/pass.hpp"

namespace clique::protocol {

/// Makes a socket present the pass on every connection that it opens. Call this before connecting. Throws
/// zmq::error_t.
void present(zmq::socket_ref socket, const Pass& pass);

/// The worker's side: generates the passes, and admits connections that present one. A ZeroMQ context has at
/// most one Authenticator, which must outlive the sockets that it guards.
class Authenticator {
 public:
  enum class Role : std::uint8_t { Client, Peer };

  /// @param encryption of the connections, as the passes say. The sockets themselves, which do not tell large
  /// transfers from messages, encrypt everything by CURVE unless it is None; then they use PLAIN.
  /// Throws zmq::error_t, and std::system_error if the system provides no random numbers.
  Authenticator(zmq::context_t& context, Encryption encryption);
  ~Authenticator();
  Authenticator(const Authenticator&) = delete;
  Authenticator& operator=(const Authenticator&) = delete;

  const Pass& pass(Role role) const { return roles_.at(static_cast<std::size_t>(role)).pass; }
  /// Makes the socket admit only connections with the role's pass. Call this before binding. Throws
  /// zmq::error_t.
  void guard(zmq::socket_ref socket, Role role) const;

 private:
  struct RoleKeys {
    Pass pass;
    std::string public_key;  ///< 32 bytes, for the pass's secret key; empty without CURVE
  };

  /// Answers ZeroMQ's requests until the destructor runs. Runs in thread_.
  void serve();
  /// Whether the credentials of a request are those of the role that its domain names.
  bool admits(const std::vector<std::string>& request) const;

  std::string secret_key_;  // the worker's; empty without CURVE
  std::array<RoleKeys, 2> roles_;
  zmq::socket_t requests_;
  zmq::socket_t stop_here_;   // used by serve()
  zmq::socket_t stop_there_;  // used by the destructor
  std::thread thread_;
};

}  // namespace clique::protocol
