// Notices the end of a connection.
#pragma once

#include <mutex>
#include <zmq.hpp>

namespace clique::protocol {

/// Watches the one connection of a connecting socket. Any thread, unless said otherwise.
class Monitor {
 public:
  /// How a connection ended.
  enum class End {
    None,       ///< it has not
    Refused,    ///< it did not come about
    Handshake,  ///< who answered does not speak ZeroMQ, or not to us
    Closed,     ///< by the other side, or for its silence
  };

  /// To be made before the socket connects, and on the thread that has it. Also switches ZeroMQ's
  /// reconnecting off: it would go on without what was under way.
  Monitor(zmq::context_t& zmq, zmq::socket_ref socket);

  /// The first end that was noticed.
  End end();
  /// Becomes readable (once) when there is news for end(); -1 after stop().
  int descriptor();
  /// Ends the watch. By the thread that has `socket`, before it closes it.
  void stop(zmq::socket_ref socket);

 private:
  std::mutex mutex_;
  zmq::socket_t events_;
  End end_ = End::None;
};

}  // namespace clique::protocol
