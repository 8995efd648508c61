#pragma once

#include <cstddef>
#include <mutex>
#include <span>
#include <vector>

#include "icd/common/object.hpp"
#include "icd/core/commands/submission.hpp"

namespace clique::icd {

class Event;

/// The events that a new command of a queue follows and that its worker cannot know. The worker orders the
/// commands of the queue, but it does not know when the client learns of completions that other workers
/// report, nor which gates (unset user events) the application may yet hold closed. Any thread.
class QueueOrder {
 public:
  explicit QueueOrder(bool in_order) : in_order_(in_order) {}

  /// The gates that hold back a command with this wait list and place.
  std::vector<Ref<Event>> gates_of(std::span<const Ref<Event>> waits, Place place);
  /// Adds a command with these gates: they hold back what follows it, too.
  void add_gates(const std::vector<Ref<Event>>& gates, Place place);

  /// Adds a command that waits for events of other workers, or for late ones.
  /// @param waits those events.
  /// @param reported its event, if that is reported; else null.
  /// @returns what the command's event has to follow: `waits`, and what the commands before it follow.
  std::vector<Ref<Event>> follow(std::vector<Ref<Event>> waits, const Ref<Event>& reported, Place place);
  /// The events that a command after all others has to follow.
  std::vector<Ref<Event>> take_followed() { return follow({}, nullptr, {.after_all = true}); }
  /// Whether all of those have ended.
  bool all_followed_ended();
  /// All commands to come follow this late event, which itself follows all before it. For in-order queues.
  void continue_after(Ref<Event> late);

 private:
  static constexpr std::size_t kLeastMany = 64;

  const bool in_order_;
  std::mutex mutex_;
  /// The events that a command after all others follows: events of other workers that those wait for,
  /// and late ones; or reported events that follow these.
  std::vector<Ref<Event>> followed_;
  /// Those of them that every later command follows, in an out-of-order queue: those of the last barrier.
  std::vector<Ref<Event>> followed_by_all_;
  /// The gates that hold back commands of the queue; and those that hold back every later command, in an
  /// out-of-order queue.
  std::vector<Ref<Event>> gates_;
  std::vector<Ref<Event>> gates_of_all_;
  /// When followed_ has more events than this, those that have ended are removed.
  std::size_t many_followed_ = kLeastMany;
};

/// Those of the events that a command with these gates may come after. An event that another gate holds back
/// is no predecessor: the application may wait for the command before it opens that gate.
std::vector<Ref<Event>> may_precede(std::vector<Ref<Event>> events, const std::vector<Ref<Event>>& gates);

}  // namespace clique::icd
