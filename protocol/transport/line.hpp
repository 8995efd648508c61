// Lines: traffic in one direction that outlives the connections that carry it. protocol/README.md says how.
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

#include "protocol/fd.hpp"
#include "protocol/transport/monitor.hpp"
#include "protocol/transport/zmq.hpp"

namespace clique::protocol {

/// The sending end of a line: keeps every batch until the other end has told that it came. One thread at a
/// time.
class LineSender {
 public:
  /// Sends a batch, and clears it. Throws as send() of ZeroMQ's batches; where the receiver is not to be
  /// reached, the batch waits for resume().
  void send(zmq::socket_ref socket, Batch& batch, std::string_view routing_id = {});
  /// The other end has so many batches. Throws DecodeError where so many were never sent.
  void received(std::uint64_t batches);
  /// Nothing is sent from now on, but kept.
  void interrupt() { interrupted_ = true; }
  /// On a new connection: what the other end does not have goes out again, and interrupt() is over.
  void resume(zmq::socket_ref socket, std::uint64_t received, std::string_view routing_id = {});
  /// From now on nothing is kept: the connection that there is is the only one.
  void keep_nothing();

 private:
  bool keeping_ = true;
  bool interrupted_ = false;
  std::uint64_t sent_ = 0;   // batches since the line began
  std::deque<Frames> kept_;  // the last of these
};

/// The receiving end of a line: counts. One thread at a time.
class LineReceiver {
 public:
  /// After every batch. @returns whether that is to be acknowledged.
  bool count(const Incoming& incoming);
  std::uint64_t received() const { return received_; }

 private:
  std::uint64_t received_ = 0;
  unsigned batches_ = 0;  // since the last acknowledgement
  std::size_t bytes_ = 0;
};

/// The end of a line that connects, and connects again.
class Line {
 public:
  enum class Direction { Outward, Inward };
  /// What the other end told instead of going on: the session is over.
  class Over : public std::runtime_error {
   public:
    using std::runtime_error::runtime_error;
  };

  /// Connects, without waiting for it.
  /// @param begins_session with Attach instead of AttachLine
  Line(zmq::context_t& zmq, std::string endpoint, std::string token, LineId id, Direction direction,
       bool begins_session = false);
  ~Line() { close(0); }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  // Any thread.

  const std::string& endpoint() const { return endpoint_; }
  /// Whether a connection carries the line, as far as is known.
  bool up() const { return up_.load(std::memory_order_acquire); }
  /// How the present connection ended.
  Monitor::End end();
  /// Becomes readable (once) when there is news for end(); -1 after close().
  int news();
  /// Becomes readable (once) when something has come.
  int descriptor() const { return descriptor_.load(std::memory_order_relaxed); }
  /// Not less than a message and its answer take, as the last connection has shown; 0: unknown, or nothing
  /// has been answered yet.
  std::chrono::nanoseconds round_trip() const { return round_trip_.load(std::memory_order_relaxed); }
  /// Whether what was sent is kept, and what came is acknowledged; so until somebody says no.
  void set_resumable(bool yes) { resumable_.store(yes, std::memory_order_relaxed); }

  // The thread that has the line, one at a time.

  /// Sends the batch and clears it; kept where the line is not up. Outward only. Throws zmq::error_t.
  void send(Batch& batch);
  /// Takes what the other end tells of what it got. Outward only. Throws Over and DecodeError.
  void listen();
  /// Receives one batch without waiting. Inward only. @returns false where there is none. Throws as the
  /// function of ZeroMQ's batches.
  bool receive(Incoming& incoming);
  /// Gives the connection up and makes another, without waiting for it. Throws zmq::error_t.
  void reconnect();
  /// Closes the socket, which gets `linger_ms` to send the rest. Nothing is kept any more.
  void close(int linger_ms);

 private:
  /// @returns the socket, connected, with `first` sent.
  void connect(Batch& first);
  void hear(const Received& message);
  void note_answer();

  zmq::context_t& zmq_;
  const std::string endpoint_;
  const std::string token_;
  const LineId id_;
  const Direction direction_;
  zmq::socket_t socket_;
  BatchReader reader_;
  LineSender sender_;
  LineReceiver receiver_;
  bool answered_ = true;  // to AttachLine
  std::chrono::steady_clock::time_point connected_;
  std::atomic<std::chrono::nanoseconds> round_trip_{std::chrono::nanoseconds(0)};
  std::atomic<bool> resumable_{true};
  std::atomic<bool> up_{true};
  std::atomic<int> descriptor_{-1};
  std::mutex mutex_;  // guards the pointer
  std::unique_ptr<Monitor> monitor_;
};

/// Finds out whether anybody listens at a port. ZeroMQ tells that a connection did not come about, but not
/// whether it was refused, by the host itself, or the host is out of reach. One thread.
class PortProbe {
 public:
  /// @param endpoint "tcp://ADDRESS:PORT" with a numeric address; others are never found to refuse
  void start(const std::string& endpoint);
  bool started() const { return socket_.get() >= 0; }
  /// The outcome, once; without waiting.
  enum class Answer { None, Refused, Other };
  Answer answer();

 private:
  Fd socket_;
  int error_ = 0;
};

/// When a line that broke is to be connected again, and when to give it up. One thread.
class Repair {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Advice { Fine, Wait, Reconnect, GiveUp };

  /// @param patience how long it may be down
  Advice look(Line& line, Clock::time_point now, Clock::duration patience);
  /// For people, after GiveUp.
  const char* reason() const { return reason_; }

 private:
  Clock::time_point since_;    // of the outage
  Clock::time_point attempt_;  // the last
  PortProbe probe_;
  Clock::time_point refused_;  // since when nobody is there
  const char* reason_ = "";
};

}  // namespace clique::protocol
