#include "protocol/transport/zmq.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <thread>

#include "protocol/limits.hpp"

namespace clique::protocol {

namespace {

/// Largest frame that a socket accepts; ZeroMQ closes the connection of a peer that sends a larger one.
constexpr std::int64_t kMaxFrame = static_cast<std::int64_t>(Limits::kBatchBytes);

/// How long a frame may take to arrive on a socket that receives payloads.
constexpr int kPayloadTimeoutMs = 30'000;

zmq::message_t payload_frame(const Payload& payload) {
  // The owner is ZeroMQ's hint, so that it lives exactly as long as the bytes are needed.
  auto* owner = new std::shared_ptr<const void>(payload.owner);
  return {const_cast<std::byte*>(payload.bytes.data()), payload.bytes.size(),
          [](void* /*data*/, void* hint) { delete static_cast<std::shared_ptr<const void>*>(hint); }, owner};
}

// A signal during the call (from a profiler, for example) makes ZeroMQ return before it has done anything.
void send_frame(zmq::socket_ref socket, zmq::message_t& frame, zmq::send_flags flags) {
  while (zmq_msg_send(frame.handle(), socket.handle(), static_cast<int>(flags)) < 0)
    if (zmq_errno() != EINTR) throw zmq::error_t();
}

/// @returns false if there is no frame.
bool receive_frame(zmq::socket_ref socket, zmq::message_t& frame) {
  while (zmq_msg_recv(frame.handle(), socket.handle(), ZMQ_DONTWAIT) < 0) {
    if (zmq_errno() == EAGAIN) return false;
    if (zmq_errno() != EINTR) throw zmq::error_t();
  }
  return true;
}

bool is_router(zmq::socket_ref socket) {
  return socket.get(zmq::sockopt::type) == ZMQ_ROUTER;
}

}  // namespace

void configure(zmq::socket_ref socket) {
  socket.set(zmq::sockopt::linger, 0);
  socket.set(zmq::sockopt::sndhwm, 0);
  socket.set(zmq::sockopt::rcvhwm, 0);
  socket.set(zmq::sockopt::maxmsgsize, kMaxFrame);
  socket.set(zmq::sockopt::heartbeat_ivl, kHeartbeatIntervalMs);
  socket.set(zmq::sockopt::heartbeat_timeout, kHeartbeatTimeoutMs);
  socket.set(zmq::sockopt::tcp_maxrt, kHeartbeatTimeoutMs);
  socket.set(zmq::sockopt::ipv6, 1);
}

void expect_payloads(zmq::socket_ref socket) {
  socket.set(zmq::sockopt::heartbeat_timeout, kPayloadTimeoutMs);
}

unsigned bulk_connections(bool long_way) {
  constexpr unsigned kMost = 4;
  // One thread moves several GB/s; more threads help only if the other stages have processors of their own.
  static const unsigned count = std::clamp(std::thread::hardware_concurrency() / 4, 1U, kMost);
  return long_way ? kMost : count;
}

bool worth_another_connection(std::size_t present, bool answered, bool long_way) {
  return present < bulk_connections(long_way) && (present == 0 || answered || long_way);
}

int io_threads() {
  // ZeroMQ assigns a connection to the thread with the fewest: both directions of bulk data, and a worker's
  // own sockets, get one each.
  constexpr int kMore = 3;
  return static_cast<int>(bulk_connections(false)) + kMore;
}

void keep_payload_memory() {
  // The GNU C library keeps up to twice the size of the largest block that was mapped and freed
  // (mallopt(3), M_MMAP_THRESHOLD). This one is never touched.
  constexpr std::size_t kLarge = std::size_t{16} << 20U;
  void* volatile block = std::malloc(kLarge);
  std::free(block);
}

Frames frames_of(Batch& batch) {
  Frames frames;
  frames.reserve(1 + batch.payloads().size());
  frames.emplace_back(batch.records().data(), batch.records().size());
  for (const Payload& payload : std::as_const(batch).payloads()) frames.push_back(payload_frame(payload));
  batch.clear();
  return frames;
}

bool send(zmq::socket_ref socket, Batch& batch, std::string_view routing_id) {
  return send(socket, frames_of(batch), routing_id);
}

bool send(zmq::socket_ref socket, Frames frames, std::string_view routing_id) {
  try {
    if (!routing_id.empty()) {
      zmq::message_t id(routing_id.data(), routing_id.size());
      send_frame(socket, id, zmq::send_flags::sndmore);
    }
    for (std::size_t i = 0; i < frames.size(); ++i)
      send_frame(socket, frames[i],
                 i + 1 == frames.size() ? zmq::send_flags::none : zmq::send_flags::sndmore);
  } catch (const zmq::error_t& error) {
    if (error.num() != EHOSTUNREACH) throw;
    return false;
  }
  return true;
}

bool receive(zmq::socket_ref socket, Incoming& incoming) {
  incoming = {};
  if (is_router(socket)) {
    zmq::message_t id;
    if (!receive_frame(socket, id)) return false;
    incoming.routing_id.assign(id.data<char>(), id.size());
    if (!id.more()) throw DecodeError("a ZeroMQ message without records");
  }
  auto records = std::make_shared<zmq::message_t>();
  if (!receive_frame(socket, *records)) return false;
  incoming.records = std::as_bytes(std::span(records->data<char>(), records->size()));
  incoming.owner = records;
  bool more = records->more();
  std::size_t bytes = 0;
  while (more) {
    auto frame = std::make_shared<zmq::message_t>();
    // ZeroMQ delivers all parts of a message together.
    if (!receive_frame(socket, *frame)) throw DecodeError("a ZeroMQ message whose last frames are missing");
    more = frame->more();
    if (incoming.frames.size() > Limits::kFrames || bytes > Limits::kFrameBytes) continue;
    bytes += frame->size();
    incoming.frames.push_back({std::as_bytes(std::span(frame->data<char>(), frame->size())), frame});
  }
  return true;
}

int connection_of(const Incoming& incoming) {
  // The owner of an Incoming is the frame of its records.
  auto* frame = const_cast<zmq::message_t*>(static_cast<const zmq::message_t*>(incoming.owner.get()));
  return zmq_msg_get(frame->handle(), ZMQ_SRCFD);
}

}  // namespace clique::protocol
