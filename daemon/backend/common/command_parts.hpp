// Commands that come in several messages (Command::kMore).
#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include "daemon/backend/common/checks.hpp"
#include "daemon/worker/reports/report_order.hpp"

namespace clique::daemon {

/// The parts of a command that have come so far.
/// @tparam Native what the backend keeps of each part that it has enqueued
template <typename Native>
struct CommandParts {
  std::vector<Native> natives;
  std::vector<ReportOrder::EntryRef> reports;  ///< of each part; may be null
  std::vector<protocol::CommandId> waits;      ///< the wait list of the first part
  cl_int failed = CL_SUCCESS;                  ///< status of the first part that failed

  /// Collects what a part waits for. Throws ClError if an earlier part has failed.
  /// @param after gets the reports that the part's own must follow
  /// @param resolve called with wait lists of event ids
  /// @param wait called with the earlier parts that this one waits for
  template <typename Resolve, typename Wait>
  void resolve_waits(const protocol::Command& part, bool in_order, std::vector<ReportOrder::EntryRef>& after,
                     Resolve&& resolve, Wait&& wait) const {
    if (failed != CL_SUCCESS) throw ClError(failed, "an earlier part of the command failed");
    if ((part.flags & protocol::Command::kAfterParts) == 0) {
      resolve(part.waits);
      // In a queue without order, each part waits by itself for what the command waits for.
      if (!natives.empty() && !in_order) resolve(waits);
      return;
    }
    for (const protocol::CommandId number : part.waits) {
      check_earlier_part(number, natives.size());
      if (in_order) continue;
      wait(natives[number]);
      if (const auto& report = reports[number]) after.push_back(report);
    }
  }
};

/// The commands of which parts are still to come. Main thread.
template <typename Native>
class CommandPartsTable {
 public:
  using Parts = CommandParts<Native>;

  /// The parts of the command that this message belongs to. Null for a command of one message.
  Parts* of(const protocol::Command& command) {
    const bool more = (command.flags & protocol::Command::kMore) != 0;
    if (!more && parts_.empty()) return nullptr;
    auto known = parts_.find(command.id);
    if (known == parts_.end()) {
      if (!more) return nullptr;
      known = parts_.emplace(command.id, Parts{}).first;
      known->second.waits = command.waits;
    }
    return &known->second;
  }
  /// Removes the parts of a command whose last one has come.
  Parts take(protocol::CommandId id) { return std::move(parts_.extract(id).mapped()); }

  /// A message failed. @returns whether the command fails with it; otherwise more parts follow, and the last
  /// of them fails.
  bool fail(const protocol::Command& command, cl_int status) {
    if ((command.flags & protocol::Command::kMore) == 0) {
      parts_.erase(command.id);
      return true;
    }
    Parts& parts = parts_[command.id];
    if (parts.failed == CL_SUCCESS) parts.failed = status;
    return false;
  }

 private:
  std::unordered_map<protocol::CommandId, Parts> parts_;
};

}  // namespace clique::daemon
