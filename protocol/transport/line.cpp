#include "protocol/transport/line.hpp"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "protocol/limits.hpp"
#include "protocol/messages.hpp"
#include "protocol/transport/authentication.hpp"

namespace clique::protocol {

namespace {

using namespace std::chrono_literals;

/// The pause between two attempts to connect, and the time for one.
constexpr auto kReconnectPause = 100ms;
constexpr auto kConnectTime = 2s;
/// If a port refuses connections for this long, the process that listened there has exited.
constexpr auto kRefusals = 1s;

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

bool LineReceiver::count(const Incoming& incoming) {
  ++received_;
  ++batches_;
  bytes_ += incoming.records.size();
  for (const Payload& frame : incoming.frames) bytes_ += frame.bytes.size();
  if (batches_ < kBatchesToAcknowledge && bytes_ < kBytesToAcknowledge) return false;
  batches_ = 0;
  bytes_ = 0;
  return true;
}

Line::Line(zmq::context_t& zmq, std::string endpoint, Pass pass, LineId id, Direction direction,
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

void Line::connect(Batch& first) {
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

AttachLine Line::next_attach() {
  return {id_, direction_ == Direction::Inward, receiver_.received(), ++attempt_};
}

Monitor::End Line::end() {
  const std::lock_guard lock(mutex_);
  return monitor_ ? monitor_->end() : Monitor::End::None;
}

int Line::news() {
  const std::lock_guard lock(mutex_);
  return monitor_ ? monitor_->descriptor() : -1;
}

void Line::send(Batch& batch) {
  if (!resumable_.load(std::memory_order_relaxed)) sender_.keep_nothing();
  if (!socket_) {
    batch.clear();
    return;
  }
  sender_.send(socket_, batch);
  listen();
}

void Line::listen() {
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

void Line::note_answer() {
  answered_ = true;
  round_trip_.store((std::chrono::steady_clock::now() - connected_) / kTripsToAttach);
}

void Line::hear(const Received& message) {
  if (!answered_) note_answer();
  if (up_.load(std::memory_order_relaxed)) {
    sender_.received(message.batches);
    return;
  }
  sender_.resume(socket_, message.batches);
  up_.store(true, std::memory_order_release);
}

bool Line::receive(Incoming& incoming) {
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

void Line::reconnect() {
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

void Line::close(int linger_ms) {
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

void PortProbe::start(const std::string& endpoint) {
  const auto begin = endpoint.find("://") + 3;
  const auto colon = endpoint.rfind(':');
  if (colon <= begin) return;
  std::string host = endpoint.substr(begin, colon - begin);
  if (host.front() == '[') host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), endpoint.c_str() + colon + 1, &hints, &found) != 0) return;
  socket_ = Fd(::socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  error_ = 0;
  if (started() && ::connect(socket_.get(), found->ai_addr, found->ai_addrlen) != 0 && errno != EINPROGRESS)
    error_ = errno;
  ::freeaddrinfo(found);
}

PortProbe::Answer PortProbe::answer() {
  if (!started()) return Answer::None;
  if (error_ == 0) {
    pollfd ready{socket_.get(), POLLOUT, 0};
    if (::poll(&ready, 1, 0) == 0) return Answer::None;
    socklen_t size = sizeof error_;
    ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error_, &size);
  }
  socket_ = Fd();
  return error_ == ECONNREFUSED ? Answer::Refused : Answer::Other;
}

Repair::Advice Repair::look(Line& line, Clock::time_point now, Clock::duration patience) {
  const Monitor::End end = line.end();
  if (end == Monitor::End::None && line.up()) {
    since_ = attempt_ = refused_ = {};
    probe_ = {};
    return Advice::Fine;
  }
  if (since_ == Clock::time_point{}) since_ = now;
  if (end == Monitor::End::Refused && !probe_.started()) probe_.start(line.endpoint());
  switch (probe_.answer()) {
    case PortProbe::Answer::None:
      break;
    case PortProbe::Answer::Refused:
      if (refused_ == Clock::time_point{}) refused_ = now;
      break;
    case PortProbe::Answer::Other:
      refused_ = {};
      break;
  }
  if (refused_ != Clock::time_point{} && now - refused_ > kRefusals) {
    reason_ = "no process listens at the worker's port any more: the worker has exited";
    return Advice::GiveUp;
  }
  if (now - since_ > patience) {
    reason_ =
        "the connection was closed or became silent, and could not be restored within the resume timeout";
    return Advice::GiveUp;
  }
  if (now - attempt_ <
      (end != Monitor::End::None ? Clock::duration(kReconnectPause) : Clock::duration(kConnectTime)))
    return Advice::Wait;
  attempt_ = now;
  return Advice::Reconnect;
}

}  // namespace clique::protocol
