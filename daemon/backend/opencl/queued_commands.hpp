#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <utility>

#include "daemon/backend/opencl/event_watcher.hpp"
#include "protocol/ids.hpp"

namespace clique::daemon::opencl {

/// Counts the commands that the driver has been given and that have not ended, without a callback for each:
/// looks at their events when somebody wants to know. Main thread.
class QueuedCommands {
 public:
  /// From now on commands are counted.
  void begin() { counting_ = true; }
  bool counting() const { return counting_; }

  /// A command of a queue.
  /// @param event may be null: the command is not counted
  void add(protocol::ObjectId queue, bool in_order, const Handle<cl_event>& event) {
    if (!counting_ || !event) return;
    Commands& commands = queues_[{queue, in_order}];
    commands.events.push_back(event);
    if (commands.events.size() < commands.next_look) return;
    forget_ended(commands, in_order);
    commands.next_look = std::max(kFirstLook, 2 * commands.events.size());
  }
  /// Those that have not ended.
  std::size_t count() {
    std::size_t sum = 0;
    for (auto& [queue, commands] : queues_) {
      forget_ended(commands, queue.second);
      sum += commands.events.size();
    }
    std::erase_if(queues_, [](const auto& entry) { return entry.second.events.empty(); });
    return sum;
  }

 private:
  /// So many events are kept before it is worthwhile to look which of them have ended.
  static constexpr std::size_t kFirstLook = 256;
  struct Commands {
    std::deque<Handle<cl_event>> events;
    std::size_t next_look = kFirstLook;
  };

  static void forget_ended(Commands& commands, bool in_order) {
    const auto ended = [](const Handle<cl_event>& event) { return status_of(event.get()) <= CL_COMPLETE; };
    auto& events = commands.events;
    if (!in_order)
      std::erase_if(events, ended);
    else
      while (!events.empty() && ended(events.front())) events.pop_front();
  }

  bool counting_ = false;
  // By the queue, and whether it is in order.
  std::map<std::pair<protocol::ObjectId, bool>, Commands> queues_;
};

}  // namespace clique::daemon::opencl
