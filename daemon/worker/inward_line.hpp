#pragma once

#include <cstddef>
#include <string>

#include "protocol/transport/line.hpp"

namespace clique::daemon {

/// Lines of one kind that a session accepts, which is more than any client opens.
inline constexpr std::size_t kMaxLines = 4096;

/// The receiving end of a line, and the connection that carries it now. Main thread.
class InwardLine {
 public:
  /// The connection's routing id; empty before the first one.
  const std::string& routing_id() const { return routing_id_; }

  /// The first connection, which carries the line from its begin.
  void begin(const protocol::Incoming& incoming) { routing_id_ = incoming.routing_id; }
  /// Goes on with the connection that brought this message, and tells its other end how much has come.
  void attach(zmq::socket_ref socket, const protocol::Incoming& incoming);

  enum class Acknowledge : bool { No, Yes };
  /// To be called after every batch.
  void count(zmq::socket_ref socket, const protocol::Incoming& incoming, Acknowledge acknowledge);

 private:
  void acknowledge(zmq::socket_ref socket) const;

  std::string routing_id_;
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
