#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "protocol/transport/zmq_line.hpp"

namespace clique::daemon {

/// Lines of one kind that a session accepts, which is more than any client opens.
inline constexpr std::size_t kMaxLines = 4096;

/// Distinguishes the connections of one line. A client that abandons a connection and makes another has sent
/// AttachLine on both, and ZeroMQ may deliver the first one last.
class Attempts {
 public:
  /// @param attempt that of an AttachLine
  /// @returns whether its connection is newer than all before. If so, it is the line's connection from now
  /// on.
  bool advance(std::uint32_t attempt) {
    if (attempt <= last_) return false;
    last_ = attempt;
    return true;
  }

 private:
  std::uint32_t last_ = 0;  // Attach counts as 0
};

/// The receiving end of a line, and the connection that carries it now. Main thread.
class InwardLine {
 public:
  /// The connection's routing id; empty before the first one.
  const std::string& routing_id() const { return routing_id_; }

  /// The first connection, which carries the line from its begin.
  void begin(const protocol::Incoming& incoming) { routing_id_ = incoming.routing_id; }
  /// Goes on with the connection that brought this AttachLine, and tells its other end how much has come.
  /// @returns false if the connection is older than the present one; then nothing changes.
  bool attach(zmq::socket_ref socket, const protocol::Incoming& incoming, std::uint32_t attempt);

  enum class Acknowledge : bool { No, Yes };
  /// To be called after every batch.
  void count(zmq::socket_ref socket, const protocol::Incoming& incoming, Acknowledge acknowledge);

 private:
  void acknowledge(zmq::socket_ref socket) const;

  std::string routing_id_;
  Attempts attempts_;
  protocol::LineReceiver receiver_;
};

/// Sends one message in a batch of its own.
template <typename M>
void send_alone(zmq::socket_ref socket, const M& message, const std::string& routing_id) {
  protocol::Batch batch;
  batch.add(message);
  protocol::send(socket, batch, routing_id);
}

}  // namespace clique::daemon
