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
  links_.insert_or_assign(message.peer, Link{std::move(socket), nullptr});
}

void PeerLinks::share(protocol::PeerId peer, std::shared_ptr<protocol::SharedMemory> memory) {
  const std::lock_guard lock(mutex_);
  links_.at(peer).shared = std::move(memory);
}

bool PeerLinks::known(protocol::PeerId peer) {
  if (peer == protocol::kClientPeer) return client_ != nullptr;
  const std::lock_guard lock(mutex_);
  return links_.contains(peer);
}

std::shared_ptr<std::byte> PeerLinks::take(protocol::PeerId peer, std::size_t size) {
  if (peer == protocol::kClientPeer) return client_->take(size);
  const std::lock_guard lock(mutex_);
  const auto link = links_.find(peer);
  return link != links_.end() && link->second.shared ? link->second.shared->take(size) : nullptr;
}

void PeerLinks::send_batch(Link& link) {
  const bool payloads = !batch_.payloads().empty();
  if (link.shared && link.shared->try_send(batch_) == protocol::SharedMemory::Sent::Yes) {
    if (payloads) lending_ = true;
    return;
  }
  protocol::send(link.socket, batch_);
}

void PeerLinks::collect() {
  if (!lending_) return;
  const std::lock_guard lock(mutex_);
  bool left = false;
  for (auto& [peer, link] : links_) left = (link.shared && link.shared->collect()) || left;
  lending_ = left;
}

bool PeerLinks::rest(std::vector<int>& descriptors) {
  const std::lock_guard lock(mutex_);
  bool nothing = true;
  for (auto& [peer, link] : links_) {
    if (!link.shared) continue;
    nothing = link.shared->arm_for_returns() && nothing;
    descriptors.push_back(link.shared->doorbell());
  }
  return nothing;
}

void PeerLinks::hush() {
  const std::lock_guard lock(mutex_);
  for (auto& [peer, link] : links_)
    if (link.shared) link.shared->hush();
}

}  // namespace clique::daemon
