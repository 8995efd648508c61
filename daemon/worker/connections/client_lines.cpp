#include "daemon/worker/connections/client_lines.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "daemon/worker/connections/worker_streams.hpp"
#include "daemon/worker/transfers/segments.hpp"

namespace clique::daemon {

namespace {
/// Bytes of a batch that may be flushed together with the one before it: some four commands.
constexpr std::size_t kSmallBatch = 256;
}  // namespace

ClientLines::ClientLines(zmq::socket_t socket, Admission& admission, ClientConnections& connections,
                         Dispatcher& dispatcher, Segments& segments, const Surroundings& surroundings,
                         InwardLine::Acknowledge acknowledge)
    : socket_(std::move(socket)),
      admission_(admission),
      connections_(connections),
      dispatcher_(dispatcher),
      segments_(segments),
      surroundings_(surroundings),
      acknowledge_(acknowledge) {}

bool ClientLines::receive() {
  // Commands that arrive before both connections are attached wait in the socket.
  if (attached() && !open_) return false;
  if (line_) return receive_line();
  protocol::Incoming incoming;
  int batches = 0;
  for (; batches < kBatchesPerTurn && may_receive() && protocol::receive(socket_, incoming); ++batches) {
    surroundings_.waiting.count(incoming);
    from_network_.add(bytes_of(incoming));
    if (open_ && incoming.routing_id == commands_.routing_id()) {
      if (!shared_) count(commands_, incoming);
      take_commands(std::move(incoming));
    } else if (const auto bulk = bulk_ids_.find(incoming.routing_id); bulk != bulk_ids_.end()) {
      receive_bulk(bulk->second, std::move(incoming));
    } else if (open_) {
      attach_line(incoming);
    } else {
      std::string client;
      admission_.attach(incoming, client, "commands");
      if (client.empty()) continue;
      commands_.begin(incoming);
      connections_.commands.set(incoming);
      return true;
    }
  }
  return batches > 0;
}

bool ClientLines::receive_line() {
  protocol::Incoming incoming;
  int batches = 0;
  for (; batches < kBatchesPerTurn && may_receive() && line_->receive(incoming); ++batches) {
    surroundings_.waiting.count(incoming);
    from_network_.add(bytes_of(incoming));
    take_commands(std::move(incoming));
  }
  return batches > 0;
}

void ClientLines::take_commands(protocol::Incoming&& incoming) {
  if (shared_) {
    from_socket_.push_back(std::move(incoming));
    return;
  }
  dispatcher_.handle_commands(std::move(incoming));
  dispatcher_.flush();
}

bool ClientLines::receive_shared() {
  using Received = protocol::SharedMemory::Received;
  int count = 0;
  for (; count < kBatchesPerTurn && may_receive(); ++count) {
    protocol::Incoming incoming;
    if (due_from_socket_ > 0) {
      if (from_socket_.empty()) break;
      incoming = std::move(from_socket_.front());
      from_socket_.pop_front();
      --due_from_socket_;
    } else {
      const Received received = shared_->receive(incoming);
      if (received == Received::Nothing) break;
      if (received == Received::Elsewhere) {
        ++due_from_socket_;
        continue;
      }
      surroundings_.waiting.count(incoming);
      from_memory_.add(bytes_of(incoming));
    }
    dispatcher_.handle_commands(std::move(incoming));
    // Before the next batch, unless that takes less time than the flush.
    if (!may_receive() || !shared_->follows(kSmallBatch)) dispatcher_.flush();
  }
  return count > 0;
}

void ClientLines::attach_line(const protocol::Incoming& incoming) {
  // What is left of a connection that was replaced.
  if (former_ids_.contains(incoming.routing_id)) return;
  try {
    const protocol::AttachLine message = admission_.attach_line(incoming);
    if (message.line == protocol::kCommandsLine) {
      if (!connections_.resumable()) throw protocol::DecodeError("the session cannot be resumed");
      const std::string former = commands_.routing_id();
      const bool newer = commands_.attach(socket_, incoming, message.attempt);
      former_ids_.insert(newer ? former : incoming.routing_id);
      if (!newer) return;
      connections_.commands.replace(incoming);
      connections_.resumed();
    } else if (message.line == protocol::kReportsLine ||
               (!knows_bulk(message) && bulk_ids_.size() >= kMaxLines)) {
      throw protocol::DecodeError("line " + std::to_string(message.line) + " does not belong here");
    } else {
      attach_bulk(message, incoming);
    }
  } catch (const protocol::DecodeError& error) {
    // A client that looks for an earlier session at this port need not wait for it.
    send_alone(socket_, protocol::SessionEnded{"the worker at this port has another session"},
               incoming.routing_id);
    admission_.drop("commands", error);
  }
}

bool ClientLines::knows_bulk(const protocol::AttachLine& message) const {
  return message.to_client ? downlinks_.contains(message.line) : uplinks_.contains(message.line);
}

void ClientLines::attach_bulk(const protocol::AttachLine& message, const protocol::Incoming& incoming) {
  std::string former;
  bool newer = false;
  if (message.to_client) {
    OutwardLine& line = downlinks_[message.line];
    newer = line.attempts.advance(message.attempt);
    if (newer) former = std::exchange(line.routing_id, incoming.routing_id);
  } else {
    InwardLine& line = uplinks_[message.line];
    former = line.routing_id();
    newer = line.attach(socket_, incoming, message.attempt);
  }
  if (!newer) {
    former_ids_.insert(incoming.routing_id);
    return;
  }
  if (!former.empty()) {
    bulk_ids_.erase(former);
    former_ids_.insert(former);
  }
  bulk_ids_.emplace(incoming.routing_id, message.line);
  if (message.to_client) resume_downlink(downlinks_[message.line], message.received);
}

void ClientLines::resume_downlink(OutwardLine& line, std::uint64_t received) {
  if (!connections_.resumable()) line.sender.keep_nothing();
  send_alone(socket_, protocol::Received{}, line.routing_id);
  line.sender.resume(socket_, received, line.routing_id);
}

void ClientLines::receive_bulk(protocol::LineId id, protocol::Incoming&& incoming) {
  if (const auto line = uplinks_.find(id); line != uplinks_.end()) {
    count(line->second, incoming);
    used_uplinks_.insert(id);
    dispatcher_.queue_part(std::move(incoming), Dispatcher::Sender::Client);
    return;
  }
  protocol::LineSender& sender = downlinks_.at(id).sender;
  reader_.read(protocol::MessageList<protocol::Received>{}, incoming.records, incoming.frames, incoming.owner,
               [&](protocol::Received&& message) { sender.received(message.batches); });
}

void ClientLines::count(InwardLine& line, const protocol::Incoming& incoming) {
  line.count(socket_, incoming, acknowledge_);
}

std::size_t ClientLines::used_connections() const {
  return used_uplinks_.size() +
         static_cast<std::size_t>(std::count_if(downlinks_.begin(), downlinks_.end(),
                                                [](const auto& downlink) { return downlink.second.used; }));
}

void ClientLines::collect() {
  if (!lent_.exchange(false)) return;
  // In this order: what has not been handed over yet is not lent yet.
  const bool settled = surroundings_.reporter.settled();
  if (shared_->collect() || !settled) lent_ = true;
}

bool ClientLines::arm() {
  if (shared_ && open_ && !shared_->arm()) return false;
  return !lent_ || shared_->arm_for_returns();
}

std::shared_ptr<std::byte> ClientLines::take(std::size_t size) {
  return surroundings_.reporter.try_take(size);
}

bool ClientLines::busy() const {
  return streams_ != nullptr && streams_->busy_with_client();
}

void ClientLines::send(protocol::PeerData&& part) {
  if (shared_) {
    surroundings_.reporter.report(part);
    lent_ = true;
    // The main thread collects what the client gives back, and must not sleep before it has looked for that.
    surroundings_.tasks.post([] {});
    return;
  }
  if (streams_ != nullptr && !part.data.bytes.empty() && streams_->client_connected()) {
    streams_->send_to_client(std::move(part));
    return;
  }
  surroundings_.tasks.post([this, part = std::move(part)] {
    // The client asks for its connections before it asks for the push, but they may come later.
    if (downlinks_.empty()) {
      surroundings_.reporter.report(part);
      return;
    }
    protocol::Batch batch;
    batch.add(part);
    to_network_.add(bytes_of(batch));
    auto& [id, line] =
        *std::next(downlinks_.begin(), static_cast<std::ptrdiff_t>(next_downlink_++ % downlinks_.size()));
    line.used = true;
    line.sender.send(socket_, batch, line.routing_id);
  });
}

std::shared_ptr<std::byte> ClientLines::segment(protocol::ObjectId id, std::uint64_t at, std::uint64_t size) {
  return segments_.find(id, at, size);
}

}  // namespace clique::daemon
