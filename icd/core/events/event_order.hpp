#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "icd/common/object.hpp"
#include "icd/core/events/event_progress.hpp"

namespace clique::icd {

class Event;

/// How a command's completion becomes known, as far as it differs from the usual: by a report of its worker,
/// which comes after the reports of the commands before it, and after their data.
struct EventTraits {
  /// The event may end here after events of commands that come after it. Those have to follow it.
  bool late = false;
  /// The device itself writes the host memory that the command fills, perhaps before the data of earlier
  /// commands is there.
  bool direct = false;
};

/// How the library orders an event among others. What is set here is set before another thread has the event,
/// unless a function says otherwise.
class EventOrder {
 public:
  explicit EventOrder(EventTraits traits) : traits_(traits) {}
  ~EventOrder();
  EventOrder(const EventOrder&) = delete;
  EventOrder& operator=(const EventOrder&) = delete;

  bool late() const { return traits_.late; }
  bool direct() const { return traits_.direct; }

  /// The gates: user events, not set when the command was enqueued, that hold it back, directly or not.
  const std::vector<Ref<Event>>& gates() const { return gates_; }
  void set_gates(std::vector<Ref<Event>> gates);

  /// Events that end before this one does, some of which are reported through other nodes' connections. To be
  /// called before the command is posted.
  void follow(std::vector<Ref<Event>> earlier);
  /// Those events; none once this event has ended. Any thread.
  std::vector<Ref<Event>> followed() const;
  /// Whether one of them has not ended. Any thread.
  bool follows_pending() const;
  /// This event has ended. @returns those events, to be released without a lock. Any thread.
  std::vector<Ref<Event>> take_followed();

  /// The transfers that the command consists of, or that bring the content it uses: it fails if one of them
  /// does, whatever its worker reports, and as that one has. It waits for all of them. To be called before
  /// the command is posted.
  void set_parts(std::vector<Ref<Event>> parts);
  /// set_parts() for a launch that is divided, or a transfer between two markers: the times are those of the
  /// parts, as far as these have any, and so is the failure.
  /// @param turn the marker after which the parts began
  void set_launch_parts(const Ref<Event>& turn, std::vector<Ref<Event>> parts);
  /// The times that follow for a command, once all parts have ended. To be called before status_with_parts().
  EventProgress::Times times_with_parts(const EventProgress::Times& times);
  /// When the marker at the end of a launch that is divided ended itself, after it had heard of all parts. ns
  /// on this host's clock; 0 if not measured. Valid once the event has ended.
  std::uint64_t marker_end() const { return marker_end_; }
  /// The status that follows for a command that its worker reports with `status`, once all parts have ended.
  /// Releases the parts. Called once.
  cl_int status_with_parts(cl_int status);

 private:
  const EventTraits traits_;
  std::vector<Ref<Event>> gates_;
  std::vector<Ref<Event>> parts_;
  Ref<Event> turn_;  ///< of set_launch_parts()
  std::uint64_t marker_end_ = 0;
  /// Whether follow() was called with any events, so that all other events need no lock.
  bool follows_ = false;
  mutable std::mutex mutex_;
  std::vector<Ref<Event>> followed_;  // guarded by mutex_
};

}  // namespace clique::icd
