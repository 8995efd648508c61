#include "daemon/worker/peer_inbox.hpp"

#include <algorithm>

namespace clique::daemon {

PeerInbox::PeerInbox(zmq::socket_t socket, Admission& admission, Dispatcher& dispatcher, WaitingData& waiting,
                     InwardLine::Acknowledge acknowledge)
    : socket_(std::move(socket)),
      admission_(admission),
      dispatcher_(dispatcher),
      waiting_(waiting),
      acknowledge_(acknowledge) {}

bool PeerInbox::receive() {
  protocol::Incoming incoming;
  int count = 0;
  for (; count < kBatchesPerTurn && protocol::receive(socket_, incoming); ++count) {
    waiting_.count(incoming);
    received_.add(bytes_of(incoming));
    const auto peer = ids_.find(incoming.routing_id);
    if (peer == ids_.end()) {
      attach(incoming);
      continue;
    }
    lines_[peer->second].count(socket_, incoming, acknowledge_);
    if (incoming.frames.empty()) {
      dispatcher_.handle_peer(incoming);
    } else {
      dispatcher_.queue_part(std::move(incoming), Dispatcher::Sender::Peer);
    }
  }
  return count > 0;
}

void PeerInbox::attach(const protocol::Incoming& incoming) {
  // What is left of a connection that was replaced.
  if (former_ids_.contains(incoming.routing_id)) return;
  try {
    const protocol::AttachLine message = admission_.attach_line(incoming);
    if (!lines_.contains(message.line) && lines_.size() >= kMaxLines)
      throw protocol::DecodeError("the session has too many peers");
    InwardLine& line = lines_[message.line];
    const std::string former = line.routing_id();
    if (!line.attach(socket_, incoming, message.attempt)) {
      former_ids_.insert(incoming.routing_id);
      return;
    }
    if (!former.empty()) {
      ids_.erase(former);
      former_ids_.insert(former);
    }
    ids_.emplace(incoming.routing_id, message.line);
  } catch (const protocol::DecodeError& error) {
    admission_.drop("peers", error);
  }
}

bool PeerInbox::receive_shared() {
  using Received = protocol::SharedMemory::Received;
  int count = 0;
  for (const auto& memory : shared_) {
    protocol::Incoming incoming;
    for (int turn = 0; turn < kBatchesPerTurn && memory->receive(incoming) == Received::Batch;
         ++turn, ++count) {
      received_.add(bytes_of(incoming));
      dispatcher_.handle_peer(incoming);
    }
  }
  return count > 0;
}

bool PeerInbox::arm() {
  return std::all_of(shared_.begin(), shared_.end(), [](const auto& memory) { return memory->arm(); });
}

}  // namespace clique::daemon
