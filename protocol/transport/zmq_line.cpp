#include "protocol/transport/zmq_line.hpp"

#include <utility>

#include "protocol/messages.hpp"
#include "protocol/transport/authentication.hpp"

namespace clique::protocol {

namespace {

/// Round trips until a line is attached: the connection, ZeroMQ's greeting, two to authenticate, and
/// AttachLine.
constexpr int kTripsToAttach = 5;

Frames copy_of(Frames& frames) {
  Frames copy(frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i) copy[i].copy(frames[i]);
  return copy;
}

}  // namespace

void LineSender::send(zmq::socket_ref socket, Batch& batch, std::string_view routing_id) {
  if (!keeping_) {
    protocol::send(socket, batch, routing_id);
    return;
  }
  ++sent_;
  kept_.push_back(frames_of(batch));
  if (!interrupted_) protocol::send(socket, copy_of(kept_.back()), routing_id);
}

void LineSender::received(std::uint64_t batches) {
  if (!keeping_) return;
  if (batches > sent_)
    throw DecodeError("an acknowledgement of " + std::to_string(batches) + " batches, of which only " +
                      std::to_string(sent_) + " were sent");
  while (!kept_.empty() && sent_ - kept_.size() < batches) kept_.pop_front();
}

void LineSender::resume(zmq::socket_ref socket, std::uint64_t received, std::string_view routing_id) {
  interrupted_ = false;
  if (!keeping_) return;
  if (received < sent_ - kept_.size())
    throw DecodeError("a line resumes after batch " + std::to_string(received) +
                      ", before batches that were acknowledged");
  this->received(received);
  for (Frames& frames : kept_) protocol::send(socket, copy_of(frames), routing_id);
}

void LineSender::keep_nothing() {
  keeping_ = false;
  kept_.clear();
}

ZmqLine::ZmqLine(zmq::context_t& zmq, std::string endpoint, Pass pass, LineId id, Direction direction,
                 bool begins_session)
    : zmq_(zmq), endpoint_(std::move(endpoint)), pass_(std::move(pass)), id_(id), direction_(direction) {
  Batch first;
  if (begins_session)
    first.add(Attach{});
  else
    first.add(next_attach());
  answered_ = begins_session;
  connect(first);
}

void ZmqLine::connect(Batch& first) {
  socket_ = zmq::socket_t(zmq_, zmq::socket_type::dealer);
  configure(socket_);
  present(socket_, pass_);
  if (direction_ == Direction::Inward) expect_payloads(socket_);
  auto monitor = std::make_unique<Monitor>(zmq_, socket_);
  try {
    socket_.connect(endpoint_);
    protocol::send(socket_, first);
  } catch (...) {
    monitor->stop(socket_);
    socket_.close();
    throw;
  }
  descriptor_.store(socket_.get(zmq::sockopt::fd));
  connected_ = std::chrono::steady_clock::now();
  const std::lock_guard lock(mutex_);
  monitor_ = std::move(monitor);
}

AttachLine ZmqLine::next_attach() {
  return {id_, direction_ == Direction::Inward, receiver_.received(), ++attempt_};
}

ConnectionEnd ZmqLine::end() {
  const std::lock_guard lock(mutex_);
  return monitor_ ? monitor_->end() : ConnectionEnd::None;
}

int ZmqLine::news() {
  const std::lock_guard lock(mutex_);
  return monitor_ ? monitor_->descriptor() : -1;
}

void ZmqLine::send(Batch& batch) {
  if (!resumable_.load(std::memory_order_relaxed)) sender_.keep_nothing();
  if (!socket_) {
    batch.clear();
    return;
  }
  sender_.send(socket_, batch);
  listen();
}

void ZmqLine::listen() {
  Incoming incoming;
  while (socket_ && protocol::receive(socket_, incoming)) {
    reader_.read(LineMessages{}, incoming.records, incoming.frames, incoming.owner, [this](auto&& message) {
      if constexpr (std::is_same_v<std::decay_t<decltype(message)>, SessionEnded>)
        throw Over("the worker ended the session: " + message.reason);
      else
        hear(message);
    });
  }
}

void ZmqLine::note_answer() {
  answered_ = true;
  round_trip_.store((std::chrono::steady_clock::now() - connected_) / kTripsToAttach);
}

void ZmqLine::hear(const Received& message) {
  if (!answered_) note_answer();
  if (up_.load(std::memory_order_relaxed)) {
    sender_.received(message.batches);
    return;
  }
  sender_.resume(socket_, message.batches);
  up_.store(true, std::memory_order_release);
}

bool ZmqLine::receive(Incoming& incoming) {
  if (!socket_ || !protocol::receive(socket_, incoming)) return false;
  if (!answered_) {
    note_answer();
    try {
      reader_.read(MessageList<Received>{}, incoming.records, incoming.frames, incoming.owner,
                   [](Received&& /*message*/) {});
    } catch (const DecodeError&) {
      // The batch holds the reason; the caller reads it.
      return true;
    }
    up_.store(true, std::memory_order_release);
    return receive(incoming);
  }
  if (receiver_.count(incoming) && resumable_.load(std::memory_order_relaxed)) {
    Batch batch;
    batch.add(Received{receiver_.received()});
    protocol::send(socket_, batch);
  }
  return true;
}

void ZmqLine::reconnect() {
  up_.store(false, std::memory_order_release);
  answered_ = false;
  sender_.interrupt();
  {
    const std::lock_guard lock(mutex_);
    if (monitor_) monitor_->stop(socket_);
    monitor_.reset();
  }
  socket_.close();
  Batch first;
  first.add(next_attach());
  connect(first);
}

void ZmqLine::close(int linger_ms) {
  if (!socket_) return;
  sender_.keep_nothing();
  {
    const std::lock_guard lock(mutex_);
    if (monitor_) monitor_->stop(socket_);
    monitor_.reset();
  }
  socket_.set(zmq::sockopt::linger, linger_ms);
  socket_.close();
}

}  // namespace clique::protocol
