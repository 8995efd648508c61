// The connecting end of a line that carries batches over streams.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "protocol/fd.hpp"
#include "protocol/ids.hpp"
#include "protocol/streams/batch_line.hpp"
#include "protocol/streams/dial.hpp"
#include "protocol/streams/readiness.hpp"
#include "protocol/transport/line.hpp"

namespace clique::protocol {

/// If nothing arrives for this long on a line whose other end sends pulses, the connection counts as broken.
inline constexpr std::chrono::seconds kSilence{5};
/// How often that end sends one.
inline constexpr std::chrono::seconds kPulseInterval{1};

/// A line to a worker, in both directions, through its daemon's port. Functions of Line that are for one
/// thread at a time may be called by any.
class StreamLine final : public Line {
 public:
  struct Use {
    bool pulses = false;  ///< the other end sends pulses
    /// Most messages go another way, so that nobody calls receive() when descriptor() is readable: end()
    /// notices what arrives.
    bool aside = false;
  };

  /// Begins to connect. Throws std::system_error and SecurityError.
  StreamLine(StreamTarget target, LineId id, Use use);
  ~StreamLine() override { close(0); }

  /// Waits until the line is connected, or the attempt to connect has failed, or the deadline.
  void await_connection(std::chrono::steady_clock::time_point deadline);

  const std::string& endpoint() const override { return target_.endpoint; }
  bool up() const override { return up_.load(std::memory_order_acquire); }
  ConnectionEnd end() override;
  std::string why() override;
  std::chrono::steady_clock::time_point heard() const override { return line_.heard(); }
  int news() override { return news_.fd(); }
  int descriptor() const override { return arrivals_.fd(); }
  std::chrono::nanoseconds round_trip() const override { return round_trip_.load(std::memory_order_relaxed); }
  void set_resumable(bool yes) override { line_.set_resumable(yes); }

  void send(Batch& batch) override { line_.send(batch); }
  void listen() override;
  bool behind() const override { return line_.behind(); }
  bool receive(Incoming& incoming) override;
  void reconnect() override;
  void close(int linger_ms) override;

 private:
  /// Begins an attempt to connect. Under mutex_.
  void begin();
  /// Goes on with it. Throws DecodeError and SecurityError.
  void tend();
  /// The attempt, or the connection, has ended. Under mutex_.
  void note_end(ConnectionEnd end, std::string why);
  /// No connection could be made. Under mutex_.
  void note_failure(const StreamBroken& error);
  void forget_dial();
  /// Looks whether the connection has ended.
  void look_at_connection();
  void look_for_silence();
  void set_timer(std::chrono::nanoseconds time) const;

  const StreamTarget target_;
  const LineId id_;
  const Use use_;
  BatchLine line_;
  Readiness arrivals_;  // line_'s descriptor, and the socket that is being connected
  Readiness news_;
  const Fd changed_;  // an event (eventfd(2)): the end was noticed
  const Fd silence_;  // a timer (timerfd(2))
  std::atomic<bool> up_{true};
  std::atomic<bool> dialling_{false};
  std::atomic<std::chrono::nanoseconds> round_trip_{std::chrono::nanoseconds(0)};

  std::mutex mutex_;  // guards the members below
  std::unique_ptr<Dialling> dial_;
  std::uint32_t attempt_ = 0;
  ConnectionEnd end_ = ConnectionEnd::None;
  std::string why_;
  bool closed_ = false;
};

}  // namespace clique::protocol
