#pragma once

#include <CL/cl.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "daemon/worker/errors.hpp"
#include "daemon/worker/reports/report_order.hpp"
#include "daemon/worker/reports/reporter.hpp"
#include "protocol/messages.hpp"

namespace clique::daemon {

/// What is known of a queue, whatever driver executes its commands.
struct QueueState {
  protocol::ObjectId id = 0;
  bool in_order = true;
  bool profiling = false;
  bool traced = false;  ///< CreateQueue::traced
  /// Status of the first command without an event that has failed since the last Finish.
  std::atomic<cl_int> deferred{CL_SUCCESS};
  /// The report that later ones follow: in order, the last command's; out of order, the last barrier's.
  ReportOrder::EntryRef last_report;
  /// Out of order: reports that may not be out yet. Main thread.
  std::vector<ReportOrder::EntryRef> pending_reports;
};

/// Reports how commands end, each after the reports of what the command depends on.
class CommandReports {
 public:
  using Entry = ReportOrder::EntryRef;
  /// When a command was queued, submitted, started and completed: the times of an EventState.
  using Times = std::array<std::uint64_t, 4>;
  /// What a report says.
  struct Completion {
    protocol::EventState state;
    bool reported = false;  ///< whether the client wants the state; the data it gets anyway
    std::shared_ptr<std::byte> data = nullptr;  ///< sent as Data if the command has completed; null: nothing
    std::size_t size = 0;
    std::uint32_t part = 0;
    bool unhurried = false;  ///< Command::kUnhurried
  };

  CommandReports(Reporter& reporter, ReportOrder& order) : reporter_(reporter), order_(order) {}

  /// Announces the report of a command in the queue. Main thread.
  /// @param barrier whether the reports of all later commands of the queue follow it
  Entry expect(QueueState& queue, const std::vector<Entry>& after, bool barrier = false);
  /// Announces the report of a command outside of the order of queues. Any thread.
  Entry expect(const std::vector<Entry>& after) { return order_.expect(after); }
  /// Lets the reports of later commands of the queue follow `after`, for a command that is not reported
  /// itself.
  /// @returns what stands for `after`; null if all of that is out. Main thread.
  Entry follow(QueueState& queue, const std::vector<Entry>& after);
  /// Appends the reports of the queue that the next command's report must follow. Main thread.
  /// @param everything whether the command follows all earlier ones even if the queue keeps no order
  void append_before(std::vector<Entry>& after, QueueState& queue, bool everything);

  /// The command has completed or failed. Any thread.
  void complete(const Entry& entry, Completion completion);
  /// A command that is not reported has failed: Failed says so at once, and the next Finish. Any thread.
  /// @param queue null if the queue itself could not be created
  void fail_without_event(protocol::ObjectId id, QueueState* queue, protocol::CommandId command,
                          cl_int status, const char* what);
  /// Tells the client why a command of the queue is about to fail. Any thread.
  void explain(protocol::ObjectId queue, const ClError& error);
  /// A command could not be enqueued: reports it as its flags ask for. Main thread.
  void refuse(const protocol::Command& command, QueueState* queue, const ClError& error);
  /// Announces the answer to Finish, after all reports of the queue. Main thread.
  /// @returns to be called, on any thread, when all commands of the queue have ended, whatever their status.
  std::function<void(cl_int)> finish(std::shared_ptr<QueueState> queue, protocol::RequestId request);

 private:
  Reporter& reporter_;
  ReportOrder& order_;
};

/// Whether the command's event can be named in wait lists, or its end is reported.
inline bool has_event(const protocol::Command& command) {
  return (command.flags & (protocol::Command::kEvent | protocol::Command::kReport)) != 0;
}
inline bool is_reported(const protocol::Command& command) {
  return (command.flags & protocol::Command::kReport) != 0;
}
inline bool is_unhurried(const protocol::Command& command) {
  return (command.flags & protocol::Command::kUnhurried) != 0;
}
/// Whether the client uses the times of a command in this queue.
inline bool is_timed(const protocol::Command& command, const QueueState& queue) {
  return queue.profiling && (command.flags & protocol::Command::kUntimed) == 0;
}
/// Whether the client, or a command that has it in its wait list, is likely to wait for its end.
inline bool is_awaited(const protocol::Command& command) {
  if (!is_unhurried(command)) return has_event(command);
  // A trace has such commands reported, too, and hides whether others are likely to wait for them.
  return is_reported(command) && (command.flags & protocol::Command::kEvent) != 0;
}

}  // namespace clique::daemon
