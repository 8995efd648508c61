#include "daemon/worker/connections/inward_line.hpp"

#include "protocol/messages.hpp"

namespace clique::daemon {

bool InwardLine::attach(zmq::socket_ref socket, const protocol::Incoming& incoming, std::uint32_t attempt) {
  if (!attempts_.advance(attempt)) return false;
  routing_id_ = incoming.routing_id;
  acknowledge(socket);
  return true;
}

void InwardLine::count(zmq::socket_ref socket, const protocol::Incoming& incoming, Acknowledge acknowledges) {
  if (receiver_.count(incoming) && acknowledges == Acknowledge::Yes) acknowledge(socket);
}

void InwardLine::acknowledge(zmq::socket_ref socket) const {
  send_alone(socket, protocol::Received{receiver_.received()}, routing_id_);
}

}  // namespace clique::daemon
