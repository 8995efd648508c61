// Notices the end of a connection.
#pragma once

#include <mutex>
#include <zmq.hpp>

#include "protocol/transport/connection_end.hpp"

namespace clique::protocol {

/// Watches the only connection of a connecting socket. Thread-safe unless a function says otherwise.
class Monitor {
 public:
  using End = ConnectionEnd;

  /// To be constructed before the socket connects, on the thread that owns the socket. Also disables ZeroMQ's
  /// reconnection, which would lose the messages in flight.
  Monitor(zmq::context_t& zmq, zmq::socket_ref socket);

  /// The first end that the monitor noticed.
  End end();
  /// A file descriptor that becomes readable (once) when end() changes; -1 after stop().
  int descriptor();
  /// Stops watching. To be called by the thread that owns `socket`, before it closes the socket.
  void stop(zmq::socket_ref socket);

 private:
  std::mutex mutex_;
  zmq::socket_t events_;
  End end_ = End::None;
};

}  // namespace clique::protocol
