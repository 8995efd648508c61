// Lines over ZeroMQ.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "protocol/batch.hpp"
#include "protocol/ids.hpp"
#include "protocol/pass.hpp"
#include "protocol/transport/acknowledgements.hpp"
#include "protocol/transport/line.hpp"
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
  bool count(const Incoming& incoming) {
    ++received_;
    return acknowledgements_.due_after(incoming);
  }
  std::uint64_t received() const { return received_; }

 private:
  std::uint64_t received_ = 0;
  Acknowledgements acknowledgements_;
};

/// The connecting end of a line over ZeroMQ, which carries batches in one direction.
class ZmqLine final : public Line {
 public:
  enum class Direction { Outward, Inward };

  /// Connects without waiting for the connection.
  /// @param begins_session with Attach instead of AttachLine
  /// @param pass that admits to the socket at the endpoint
  ZmqLine(zmq::context_t& zmq, std::string endpoint, Pass pass, LineId id, Direction direction,
          bool begins_session = false);
  ~ZmqLine() override { close(0); }

  const std::string& endpoint() const override { return endpoint_; }
  bool up() const override { return up_.load(std::memory_order_acquire); }
  ConnectionEnd end() override;
  int news() override;
  int descriptor() const override { return descriptor_.load(std::memory_order_relaxed); }
  std::chrono::nanoseconds round_trip() const override { return round_trip_.load(std::memory_order_relaxed); }
  void set_resumable(bool yes) override { resumable_.store(yes, std::memory_order_relaxed); }

  /// Outward only.
  void send(Batch& batch) override;
  /// Outward only.
  void listen() override;
  /// Inward only.
  bool receive(Incoming& incoming) override;
  void reconnect() override;
  void close(int linger_ms) override;

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

}  // namespace clique::protocol
