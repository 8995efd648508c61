// Lines: resumable channels, which carry one direction of traffic over successive connections.
// protocol/README.md describes how.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>

#include "protocol/batch.hpp"
#include "protocol/fd.hpp"
#include "protocol/ids.hpp"
#include "protocol/pass.hpp"
#include "protocol/transport/monitor.hpp"
#include "protocol/transport/zmq.hpp"

namespace clique::protocol {

struct AttachLine;
struct Received;

/// The sending end of a line: keeps every batch until the other end acknowledges it. Used by one thread at a
/// time.
class LineSender {
 public:
  /// Sends a batch and clears it. If the receiver cannot be reached, the batch waits for resume(). Throws
  /// like send() in zmq.hpp.
  void send(zmq::socket_ref socket, Batch& batch, std::string_view routing_id = {});
  /// The other end has received this many batches. Throws DecodeError if fewer were sent.
  void received(std::uint64_t batches);
  /// From now on, batches are kept but not sent.
  void interrupt() { interrupted_ = true; }
  /// Continues on a new connection: sends again what the other end does not have, and ends interrupt().
  void resume(zmq::socket_ref socket, std::uint64_t received, std::string_view routing_id = {});
  /// From now on nothing is kept: the present connection is the only one.
  void keep_nothing();

 private:
  bool keeping_ = true;
  bool interrupted_ = false;
  std::uint64_t sent_ = 0;   // batches since the line began
  std::deque<Frames> kept_;  // the last of them
};

/// The receiving end of a line: counts batches. Used by one thread at a time.
class LineReceiver {
 public:
  /// To be called after every batch. @returns whether an acknowledgement is due.
  bool count(const Incoming& incoming);
  std::uint64_t received() const { return received_; }

 private:
  std::uint64_t received_ = 0;
  unsigned batches_ = 0;  // since the last acknowledgement
  std::size_t bytes_ = 0;
};

/// The end of a line that connects, and reconnects.
class Line {
 public:
  enum class Direction { Outward, Inward };
  /// The other end ended the session instead of continuing the line.
  class Over : public std::runtime_error {
   public:
    using std::runtime_error::runtime_error;
  };

  /// Connects without waiting for the connection.
  /// @param begins_session with Attach instead of AttachLine
  /// @param pass that admits to the socket at the endpoint
  Line(zmq::context_t& zmq, std::string endpoint, Pass pass, LineId id, Direction direction,
       bool begins_session = false);
  ~Line() { close(0); }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  // Thread-safe:

  const std::string& endpoint() const { return endpoint_; }
  /// Whether a connection carries the line, as far as this end knows.
  bool up() const { return up_.load(std::memory_order_acquire); }
  /// How the present connection ended.
  Monitor::End end();
  /// A file descriptor that becomes readable (once) when end() changes; -1 after close().
  int news();
  /// A file descriptor that becomes readable (once) when something has arrived.
  int descriptor() const { return descriptor_.load(std::memory_order_relaxed); }
  /// An upper bound of the time that a message and its answer take, measured on the last connection; 0:
  /// unknown, or nothing has been answered yet.
  std::chrono::nanoseconds round_trip() const { return round_trip_.load(std::memory_order_relaxed); }
  /// Whether sent batches are kept and received batches acknowledged, as is the default.
  void set_resumable(bool yes) { resumable_.store(yes, std::memory_order_relaxed); }

  // One thread at a time, the one that owns the line:

  /// Sends the batch and clears it; keeps it if the line is not up. Outward only. Throws zmq::error_t.
  void send(Batch& batch);
  /// Receives the other end's acknowledgements. Outward only. Throws Over and DecodeError.
  void listen();
  /// Receives one batch without waiting. Inward only. @returns false if there is none. Throws like receive()
  /// in zmq.hpp.
  bool receive(Incoming& incoming);
  /// Closes the connection and makes another without waiting for it. Throws zmq::error_t.
  void reconnect();
  /// Closes the socket, which gets `linger_ms` to send the rest, and drops what was kept.
  void close(int linger_ms);

 private:
  /// Connects a new socket and sends `first`.
  void connect(Batch& first);
  AttachLine next_attach();
  void hear(const Received& message);
  void note_answer();

  zmq::context_t& zmq_;
  const std::string endpoint_;
  const Pass pass_;
  const LineId id_;
  const Direction direction_;
  zmq::socket_t socket_;
  BatchReader reader_;
  LineSender sender_;
  LineReceiver receiver_;
  std::uint32_t attempt_ = 0;  // the last AttachLine's; 0: none was sent
  bool answered_ = true;       // whether AttachLine has been answered
  std::chrono::steady_clock::time_point connected_;
  std::atomic<std::chrono::nanoseconds> round_trip_{std::chrono::nanoseconds(0)};
  std::atomic<bool> resumable_{true};
  std::atomic<bool> up_{true};
  std::atomic<int> descriptor_{-1};
  std::mutex mutex_;  // guards monitor_
  std::unique_ptr<Monitor> monitor_;
};

/// Finds out whether a process listens at a port. ZeroMQ reports that it could not connect, but not whether
/// the host refused the connection or cannot be reached. Used by one thread.
class PortProbe {
 public:
  /// @param endpoint "tcp://ADDRESS:PORT" with a numeric address; any other never counts as refusing
  void start(const std::string& endpoint);
  bool started() const { return socket_.get() >= 0; }
  /// The outcome, once; without waiting.
  enum class Answer { None, Refused, Other };
  Answer answer();

 private:
  Fd socket_;
  int error_ = 0;
};

/// Decides when a broken line is reconnected, and when it is given up. Used by one thread.
class Repair {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Advice { Fine, Wait, Reconnect, GiveUp };

  /// @param patience resume timeout: how long the line may be down
  Advice look(Line& line, Clock::time_point now, Clock::duration patience);
  /// Why, in words; after GiveUp.
  const char* reason() const { return reason_; }

 private:
  Clock::time_point since_;    // the beginning of the outage
  Clock::time_point attempt_;  // the last attempt to connect
  PortProbe probe_;
  Clock::time_point refused_;  // since when the port refuses connections
  const char* reason_ = "";
};

}  // namespace clique::protocol
