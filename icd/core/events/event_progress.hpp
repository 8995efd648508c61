#pragma once

#include <CL/cl.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "icd/common/object.hpp"

namespace clique::icd {

/// What the application sees of an event: its status, its times and its callbacks; and what the library has
/// to do when the event ends. "Ended" is an event whose command is complete or has failed. Any thread.
class EventProgress {
 public:
  /// CL_PROFILING_COMMAND_QUEUED, SUBMIT, START and END: ns on this host's clock; 0 if not measured.
  using Times = std::array<std::uint64_t, 4>;
  static constexpr std::size_t kQueued = 0;
  static constexpr std::size_t kSubmit = 1;
  static constexpr std::size_t kStart = 2;
  static constexpr std::size_t kEnd = 3;
  using Callback = void(CL_CALLBACK*)(cl_event, cl_int, void*);
  /// Gets the status with which the event has ended.
  using Action = std::function<void(cl_int)>;

  struct Registered {
    cl_int state;  ///< CL_SUBMITTED, CL_RUNNING or CL_COMPLETE
    Callback callback;
    void* user_data;
  };
  /// What a new status makes due. The caller calls and releases it without a lock.
  struct Due {
    bool changed = false;  ///< whether the status is new
    std::vector<Registered> callbacks = {};
    std::vector<Action> actions = {};
    std::vector<Ref<RefCounted>> kept = {};
  };

  explicit EventProgress(cl_int status) : status_(status) {}

  /// CL_QUEUED … CL_COMPLETE, or a negative error.
  cl_int status() const { return status_.load(std::memory_order_acquire); }
  bool ended() const { return status() <= CL_COMPLETE; }
  /// Valid once the event has ended.
  const Times& times() const { return times_; }

  /// Sets a new status; ignored unless it is later than the current one. Wakes the threads in wait().
  Due advance(cl_int status, const Times& times);
  /// Adds a callback. @returns false if its state has been reached: then the caller calls it.
  bool add(const Registered& registered);
  /// Adds an action for the end. @returns false, and leaves `action` as it is, if the event has ended.
  bool add(Action& action);
  /// Keeps an object alive until the event has ended.
  void keep(Ref<RefCounted> object);
  /// Sleeps until the event has ended. Receives nothing: only for events that this process ends.
  void wait();

 private:
  std::atomic<cl_int> status_;
  Times times_{};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Registered> callbacks_;
  std::vector<Action> actions_;
  std::vector<Ref<RefCounted>> kept_;
};

/// The times of a command as the application sees them (section 5.14): it is queued when the application
/// enqueues it, and submitted when its node has it.
/// @param enqueued when the application enqueued the command: ns on this host's clock; 0 if it was not noted
/// @param measured by the node, whose QUEUED is when the command arrived; all 0 if not measured
EventProgress::Times times_since(std::uint64_t enqueued, const EventProgress::Times& measured);

}  // namespace clique::icd
