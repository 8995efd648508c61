#pragma once

#include <string>

#include "daemon/common/log.hpp"
#include "protocol/batch.hpp"
#include "protocol/messages.hpp"
#include "protocol/transport/zmq.hpp"

namespace clique::daemon {

/// Reads the first message of each connection, by which it attaches. The other end has presented the
/// session's pass (protocol::Authenticator), but may violate the protocol: other first messages are dropped
/// and logged. Main thread.
class Admission {
 public:
  /// Reads the first message of one of the client's two connections.
  /// @param routing_id of that connection; set to the message's when it attaches, empty before
  /// @param socket the socket's name, for the log
  /// Throws DecodeError for what follows a right Attach.
  void attach(const protocol::Incoming& incoming, std::string& routing_id, const char* socket);

  /// Reads the first message of a connection that carries a line. Throws DecodeError unless it is an
  /// AttachLine.
  protocol::AttachLine attach_line(const protocol::Incoming& incoming);

  /// Logs that a message was dropped.
  void drop(const char* socket, const protocol::DecodeError& error);

 private:
  /// Reads the first batch of a connection, which is short. Throws DecodeError.
  template <typename M, typename Handler>
  void read_first(const protocol::Incoming& incoming, Handler&& handler);

  protocol::BatchReader reader_;
  LogLimit strangers_;
};

}  // namespace clique::daemon
