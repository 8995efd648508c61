#include "daemon/peer_links.hpp"

namespace clique::daemon {

void PeerLinks::connect(const protocol::ConnectPeer& message) {
  zmq::socket_t socket(context_, zmq::socket_type::dealer);
  protocol::configure(socket);
  socket.connect(message.endpoint);
  protocol::Batch batch;
  batch.add(protocol::PeerAttach{message.token});
  protocol::send(socket, batch);
  const std::lock_guard lock(mutex_);
  links_.insert_or_assign(message.peer, std::move(socket));
}

bool PeerLinks::known(protocol::PeerId peer) {
  const std::lock_guard lock(mutex_);
  return links_.contains(peer);
}

}  // namespace clique::daemon
