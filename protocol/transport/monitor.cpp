#include "protocol/transport/monitor.hpp"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>

namespace clique::protocol {

namespace {

constexpr int kEvents = ZMQ_EVENT_CLOSED | ZMQ_EVENT_CONNECT_RETRIED | ZMQ_EVENT_DISCONNECTED |
                        ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
                        ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;

/// Longer than any session waits. With -1, ZeroMQ would drop messages that arrived before the end of the
/// connection but have not been received yet, such as the reason for which a worker ends the session.
constexpr int kNeverMs = 24 * 3600 * 1000;

Monitor::End meaning(std::uint16_t event) {
  switch (event) {
    case ZMQ_EVENT_CLOSED:
    case ZMQ_EVENT_CONNECT_RETRIED:
      return Monitor::End::Failed;
    case ZMQ_EVENT_DISCONNECTED:
      return Monitor::End::Closed;
    default:
      return Monitor::End::Handshake;
  }
}

}  // namespace

Monitor::Monitor(zmq::context_t& zmq, zmq::socket_ref socket) : events_(zmq, zmq::socket_type::pair) {
  static std::atomic<unsigned long> count{0};
  const std::string address = "inproc://monitor-of-connection-" + std::to_string(count.fetch_add(1));
  socket.set(zmq::sockopt::reconnect_ivl, kNeverMs);
  if (zmq_socket_monitor(socket.handle(), address.c_str(), kEvents) != 0) throw zmq::error_t();
  events_.set(zmq::sockopt::linger, 0);
  events_.connect(address);
}

Monitor::End Monitor::end() {
  std::lock_guard lock(mutex_);
  if (!events_) return end_;
  // Reads all events, because the descriptor only becomes readable for new ones.
  for (;;) {
    zmq::message_t event;
    if (zmq_msg_recv(event.handle(), events_.handle(), ZMQ_DONTWAIT) < 0) {
      if (zmq_errno() == EINTR) continue;
      break;
    }
    zmq::message_t address;
    zmq_msg_recv(address.handle(), events_.handle(), ZMQ_DONTWAIT);
    std::uint16_t number = 0;
    if (event.size() >= sizeof number) std::memcpy(&number, event.data(), sizeof number);
    if (end_ == End::None) end_ = meaning(number);
  }
  return end_;
}

int Monitor::descriptor() {
  std::lock_guard lock(mutex_);
  return events_ ? events_.get(zmq::sockopt::fd) : -1;
}

void Monitor::stop(zmq::socket_ref socket) {
  std::lock_guard lock(mutex_);
  // Close the sending end first: without a receiver it would block.
  zmq_socket_monitor(socket.handle(), nullptr, 0);
  events_.close();
}

}  // namespace clique::protocol
