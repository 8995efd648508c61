// Lines: resumable channels over successive connections. protocol/README.md describes how.
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>

#include "protocol/transport/connection_end.hpp"

namespace clique::protocol {

class Batch;
struct Incoming;

/// The end of a line that connects, and reconnects. A line carries batches to the other end, or from it, or
/// both.
class Line {
 public:
  /// The other end ended the session instead of continuing the line.
  class Over : public std::runtime_error {
   public:
    using std::runtime_error::runtime_error;
  };

  virtual ~Line() = default;
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  // Thread-safe:

  /// Where the line connects to: tcp://HOST:PORT.
  virtual const std::string& endpoint() const = 0;
  /// Whether a connection carries the line, as far as this end knows.
  virtual bool up() const = 0;
  /// How the present connection ended.
  virtual ConnectionEnd end() = 0;
  /// Why it ended, for people; empty: nothing is known beyond end().
  virtual std::string why() { return {}; }
  /// When the other end was last heard; zero: nothing is known.
  virtual std::chrono::steady_clock::time_point heard() const { return {}; }
  /// A file descriptor that becomes readable when end() changes; -1 after close().
  virtual int news() = 0;
  /// A file descriptor that becomes readable when something has arrived since receive() has returned false.
  virtual int descriptor() const = 0;
  /// An upper bound of the time that a message and its answer take, measured on the last connection; 0:
  /// unknown, or nothing has been answered yet.
  virtual std::chrono::nanoseconds round_trip() const = 0;
  /// Whether sent batches are kept and received batches acknowledged, as is the default.
  virtual void set_resumable(bool yes) = 0;

  // One thread at a time sends:

  /// Sends the batch and clears it; keeps it if the line is not up. Never waits. Throws zmq::error_t.
  virtual void send(Batch& batch) = 0;
  /// Receives the other end's acknowledgements, and sends what the system has not taken yet. Throws Over and
  /// DecodeError.
  virtual void listen() = 0;
  /// Whether batches wait for the system to take them, so that listen() has to be called again.
  virtual bool behind() const { return false; }

  // One thread at a time receives:

  /// Receives one batch without waiting. @returns false if there is none. Throws DecodeError, SecurityError
  /// and zmq::error_t.
  virtual bool receive(Incoming& incoming) = 0;

  // The thread that receives, or, if the line brings nothing, the one that sends:

  /// Closes the connection and makes another without waiting for it. Throws zmq::error_t and StreamBroken.
  virtual void reconnect() = 0;
  /// Closes the connection, which gets `linger_ms` to send the rest, and drops what was kept.
  virtual void close(int linger_ms) = 0;

 protected:
  Line() = default;
};

}  // namespace clique::protocol
