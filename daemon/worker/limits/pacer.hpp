#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "daemon/common/pace_page.hpp"
#include "daemon/worker/tasks.hpp"

namespace clique::daemon {

/// Paces the session's kernels as the daemon says (PacePage): counts those that are on a device, keeps few of
/// them ahead, and none while the session is ahead of its share. Without other sessions on the device it
/// costs one relaxed load per kernel. Private workers have no page, and are not paced.
class Pacer {
 public:
  using Clock = PacePage::Clock;

  explicit Pacer(Tasks& tasks) : tasks_(tasks) {}
  Pacer(const Pacer&) = delete;
  Pacer& operator=(const Pacer&) = delete;

  /// Obeys the page from now on. Main thread, before the first kernel.
  void obey(PacePage page) { page_.emplace(std::move(page)); }
  /// The eventfd that wakes the daemon when a session that dozes has a kernel. Main thread.
  void use_bell(Fd bell) { bell_ = std::move(bell); }

  /// The devices run kernels of one process at a time, so that sessions which enqueue ahead are better off
  /// with turns. Main thread, before the first kernel.
  void take_turns() { turns_ = true; }

  /// Whether other sessions use a device of this one. Any thread.
  bool paced() const { return page_ && page_->paced(); }
  /// A kernel is about to be handed to the device, or runs there. Any thread.
  /// @param device its place among the devices of the worker's session
  /// @returns to be released, on any thread, when the kernel has ended; null: nobody needs to know
  std::shared_ptr<const void> launch(std::size_t device) { return paced() ? count(device) : nullptr; }
  /// Whether a kernel may be handed to the driver now. If not, the main thread is woken when one of the
  /// session's kernels ends, and otherwise has to ask again within again(). Main thread.
  bool admits() { return !paced() || admits(Clock::now()); }
  /// After admits() has said no: when to ask again. Main thread.
  std::chrono::milliseconds again() const;

  /// Tells the daemon that this worker runs. For every turn of the main thread.
  void beat() const {
    if (paced()) page_->beat();
  }
  /// How long the main thread may sleep without calling beat(), at most `longest`.
  std::chrono::milliseconds longest_sleep(std::chrono::milliseconds longest) const;

 private:
  /// A kernel on a device, until it ends.
  class Ticket;
  /// The kernels on one device that are counted.
  struct Load {
    std::uint32_t in_flight = 0;
    std::chrono::nanoseconds busy{0};  // without the time since `since`
    Clock::time_point since;           // when it became busy; the epoch: it is not
    Clock::time_point last_end;
    // Of the last kernels, from the end of the one before.
    std::chrono::nanoseconds time{0};
    std::uint32_t kernels = 0;
    bool rung = false;
    bool stuck = false;  // none has ended for so long that what is in flight seems to wait for something
    bool waits = false;  // the main thread has a kernel for it that must not be handed over yet

    std::chrono::nanoseconds typical_time() const { return time / std::max(kernels, 1U); }
    std::uint32_t most_in_flight(std::chrono::nanoseconds ahead) const;
  };

  std::shared_ptr<const void> count(std::size_t device);
  void ended(std::size_t device, Clock::time_point launched);
  bool admits(Clock::time_point now);
  bool admits_on(std::size_t device, Clock::time_point now);
  /// Tells the daemon how many kernels the session has for the device behind the one that runs.
  void tell_behind(std::size_t device) const;

  Tasks& tasks_;
  std::optional<PacePage> page_;
  Fd bell_;
  bool turns_ = false;
  mutable std::mutex mutex_;  // guards what follows
  std::array<Load, PacePage::kDevices> loads_;
  std::size_t used_ = 0;  // devices that have had a counted kernel are below this
  std::optional<Clock::time_point> waits_since_;
  bool held_ = false;  // what it waits for is the daemon
};

}  // namespace clique::daemon
