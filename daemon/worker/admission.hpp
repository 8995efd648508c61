#pragma once

#include <string>

#include "daemon/common/log.hpp"
#include "protocol/batch.hpp"
#include "protocol/messages.hpp"
#include "protocol/transport/zmq.hpp"

namespace clique::daemon {

/// Decides whose connections a worker accepts: those of processes that know the session's token. Anybody who
/// reaches a port can connect, so messages of others are dropped and logged. Main thread.
class Admission {
 public:
  explicit Admission(std::string token) : token_(std::move(token)) {}

  const std::string& token() const { return token_; }

  /// Reads the first message of one of the client's two connections.
  /// @param routing_id of that connection; set to the message's when it attaches, empty before
  /// @param socket the socket's name, for the log
  /// Throws DecodeError for what follows a right Attach.
  void attach(const protocol::Incoming& incoming, std::string& routing_id, const char* socket);

  /// Reads the first message of a connection that carries a line. Throws DecodeError unless it is an
  /// AttachLine with the right token.
  protocol::AttachLine attach_line(const protocol::Incoming& incoming);

  /// Logs that a message was dropped.
  void drop(const char* socket, const protocol::DecodeError& error);

 private:
  void check(const std::string& token) const;

  const std::string token_;
  protocol::BatchReader reader_;
  LogLimit strangers_;
};

}  // namespace clique::daemon
