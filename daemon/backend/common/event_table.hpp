#pragma once

#include <unordered_map>
#include <vector>

#include "daemon/backend/common/checks.hpp"
#include "daemon/worker/reports/report_order.hpp"

namespace clique::daemon {

/// Events by the ids of their commands. Main thread.
/// @tparam Event has `order`, the report that reports of dependent commands must follow; it may be null
template <typename Event>
class EventTable {
 public:
  /// Throws RuleBroken for an id that was never given or is released.
  Event& get(protocol::CommandId id) {
    Event* const found = find(id);
    if (found == nullptr) throw RuleBroken("event " + std::to_string(id) + " does not exist");
    return *found;
  }
  /// Null if there is no such event.
  Event* find(protocol::CommandId id) {
    const auto found = events_.find(id);
    return found == events_.end() ? nullptr : &found->second;
  }
  /// Throws RuleBroken for an id that is in use.
  Event& add(protocol::CommandId id, Event event) {
    if (id == 0) throw RuleBroken("event 0 cannot be created: ids begin at 1");
    const auto [entry, added] = events_.emplace(id, std::move(event));
    if (!added) throw RuleBroken("event " + std::to_string(id) + " exists already");
    return entry->second;
  }
  void erase(protocol::CommandId id) { events_.erase(id); }

  auto begin() const { return events_.begin(); }
  auto end() const { return events_.end(); }

  /// Looks up a wait list, and appends to `after` the reports that the waiting command must follow. Throws
  /// ClError(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) if one of the events has failed, but after `see`
  /// has seen all of them.
  /// @param see called for each event; @returns whether it has failed
  template <typename See>
  void resolve(const std::vector<protocol::CommandId>& waits, std::vector<ReportOrder::EntryRef>& after,
               See&& see) {
    protocol::CommandId failed = 0;
    for (const protocol::CommandId id : waits) {
      Event& awaited = get(id);
      if (see(awaited)) failed = id;
      if (awaited.order) after.push_back(awaited.order);
    }
    if (failed != 0)
      throw ClError(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
                    "event " + std::to_string(failed) + " of the wait list has failed");
  }

 private:
  std::unordered_map<protocol::CommandId, Event> events_;
};

}  // namespace clique::daemon
