#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "protocol/fd.hpp"
#include "protocol/transport/shared_segment.hpp"

namespace clique::daemon {

/// How the daemon paces the kernels of a session on one device.
enum class Pace : std::uint32_t {
  Free = 0,     ///< no other session uses the device: kernels are not even counted
  Doze = 1,     ///< other sessions use the device, and this one does not: its next kernel rings the bell
  Counted = 2,  ///< kernels are counted, and few are handed to the device ahead
  Held = 3      ///< the session is ahead of its share: no further kernels are handed to the device
};

/// Memory through which the daemon paces the kernels of one session's worker. The daemon makes it. It writes
/// the pace of each device; the worker writes how long its kernels have been on each device. Both sides can
/// write anywhere in it, and no other process can: a kernel that has taken the worker over can disobey, or
/// lie about its own kernels. The daemon therefore believes no more than what is possible. Any thread.
class PacePage {
 public:
  using Clock = std::chrono::steady_clock;
  /// Devices of a driver that are paced; further ones are not.
  static constexpr std::size_t kDevices = 32;

  /// New memory, for the daemon: every device is Free. Throws std::system_error.
  PacePage();
  /// The memory that the daemon has handed over, for the worker. Throws std::system_error and DecodeError.
  explicit PacePage(Fd memory);

  /// To be handed over with Notice::Kind::Pace.
  int descriptor() const { return memory_->descriptor(); }

  /// Whether any device is not Free, at the cost of one relaxed load.
  bool paced() const;
  /// @param device below kDevices. What is no Pace is Free.
  Pace pace(std::size_t device) const;
  /// For the daemon, one thread.
  void set_pace(std::size_t device, Pace pace) const;

  /// For the worker: kernels have been on the device for `busy` so far.
  /// @param since when the first of those began that are there now; the epoch: none is
  void set_busy(std::size_t device, std::chrono::nanoseconds busy, Clock::time_point since) const;
  /// For how long kernels have been on the device until `now`. The worker may have made it up, and it may go
  /// backwards by the time of one change.
  std::chrono::nanoseconds busy(std::size_t device, Clock::time_point now) const;

  /// For the worker: the session has `kernels` for the device behind the one that runs there, or seems to, so
  /// that it can make use of turns. Never called if several processes can use the device at the same time.
  void set_behind(std::size_t device, std::uint32_t kernels) const;
  /// The number of the last set_behind(), at first 0. The worker may have made it up.
  std::uint32_t behind(std::size_t device) const;

  /// For the worker's main thread: it runs.
  void beat() const;
  /// Another number than the last time if the worker has called beat() meanwhile.
  std::uint64_t beats() const;

 private:
  struct Layout;
  Layout& layout() const;

  std::shared_ptr<protocol::SharedSegment> memory_;
};

}  // namespace clique::daemon
