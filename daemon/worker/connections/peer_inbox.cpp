#include "daemon/worker/connections/peer_inbox.hpp"

#include <poll.h>
#include <sys/epoll.h>

#include <algorithm>
#include <utility>

namespace clique::daemon {

PeerInbox::PeerInbox(zmq::socket_t socket, Admission& admission, Dispatcher& dispatcher, WaitingData& waiting,
                     InwardLine::Acknowledge acknowledge)
    : socket_(std::move(socket)),
      admission_(admission),
      dispatcher_(dispatcher),
      waiting_(waiting),
      acknowledge_(acknowledge) {}

void PeerInbox::accept(Fd connection, const protocol::StreamRequest& request,
                       std::span<const std::uint8_t> secret) {
  if (!streams_.contains(request.line) && streams_.size() >= kMaxLines)
    throw protocol::DecodeError("the session has too many peers");
  const auto [line, added] = streams_.try_emplace(request.line);
  if (added) {
    line->second.set_resumable(acknowledge_ == InwardLine::Acknowledge::Yes);
    arrivals_.watch(line->second.descriptor(), EPOLLIN);
  }
  line->second.accept(std::move(connection), request, secret);
}

bool PeerInbox::receive_streams() {
  // A line has received more from the system than it has returned, perhaps, unless it had nothing to return.
  pollfd arrivals{arrivals_.fd(), POLLIN, 0};
  if (streams_drained_ && (streams_.empty() || ::poll(&arrivals, 1, 0) <= 0)) return false;
  int count = 0;
  streams_drained_ = true;
  protocol::Incoming incoming;
  for (auto& [id, line] : streams_) {
    int turn = 0;
    for (; turn < kBatchesPerTurn && line.receive(incoming); ++turn) {
      waiting_.count(incoming);
      received_.add(bytes_of(incoming));
      handle(std::move(incoming));
    }
    count += turn;
    streams_drained_ = streams_drained_ && turn < kBatchesPerTurn;
  }
  return count > 0;
}

void PeerInbox::handle(protocol::Incoming&& incoming) {
  if (incoming.frames.empty())
    dispatcher_.handle_peer(incoming);
  else
    dispatcher_.queue_part(std::move(incoming), Dispatcher::Sender::Peer);
}

bool PeerInbox::receive() {
  const bool any = receive_streams();
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
    if (!incoming.frames.empty()) used_lines_.insert(peer->second);
    handle(std::move(incoming));
  }
  return any || count > 0;
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
      waiting_.count(incoming);
      received_.add(bytes_of(incoming));
      dispatcher_.handle_peer(incoming);
    }
  }
  return count > 0;
}

LinkUsage PeerInbox::usage(bool ucx) const {
  LinkUsage usage;
  usage.shared_memory = shared_.size();
  usage.connections = used_lines_.size();
  // A worker that shares memory has a line, too, which large transfers do not use.
  if (streams_.size() + lines_.size() <= shared_.size()) return usage;
  if (!streams_.empty()) (ucx ? usage.ucx : usage.streams) = streams_.size();
  usage.zeromq = lines_.size();
  return usage;
}

bool PeerInbox::arm() {
  return std::all_of(shared_.begin(), shared_.end(), [](const auto& memory) { return memory->arm(); });
}

}  // namespace clique::daemon
