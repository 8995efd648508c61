#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "daemon/backend/common/command_parts.hpp"
#include "daemon/backend/common/command_reports.hpp"
#include "daemon/backend/common/event_table.hpp"
#include "daemon/backend/cuda/execution/graph.hpp"
#include "daemon/backend/cuda/execution/scheduler.hpp"
#include "daemon/backend/cuda/execution/work.hpp"
#include "daemon/backend/cuda/handlers/objects.hpp"

namespace clique::daemon::cuda {

struct Event {
  TaskRef task;                ///< null if the command could not be enqueued
  cl_int failed = CL_SUCCESS;  ///< why it could not be
  ReportOrder::EntryRef order;
};

/// Makes tasks of commands, puts them into their queues, and reports how they end. Main thread.
class Commands {
 public:
  using Entry = CommandReports::Entry;

  /// @param queues the session's, of which commands name one
  Commands(CommandReports& reports, Scheduler& scheduler, const Table<Queue>& queues)
      : reports_(reports), scheduler_(scheduler), queues_(queues) {}
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;

  EventTable<Event>& events() { return events_; }
  /// How many commands, and parts of commands, have not ended. Any thread.
  std::uint64_t queued() const { return queued_.load(std::memory_order_relaxed); }

  /// Enqueues a command, or adds it to the recording.
  /// @param make @returns the command's Work. May throw ClError, with which the command fails, and
  /// RuleBroken.
  template <typename Make>
  void submit(const protocol::Command& command, Make&& make);
  /// Whether a command of the queue has failed of which the client may not know yet.
  bool failed_silently(protocol::ObjectId queue) const {
    const Queue* const known = queues_.find(queue);
    return known != nullptr && known->deferred.load(std::memory_order_relaxed) < 0;
  }
  /// A command could not be enqueued: it fails, with its event.
  /// @param queue null if the queue itself could not be created
  void refuse(const protocol::Command& command, Queue* queue, const ClError& error);

  /// Puts a task into the queue, behind what it has to follow.
  void enqueue(const TaskRef& task, const std::shared_ptr<Queue>& queue, const std::vector<TaskRef>& waits,
               Ordering ordering = {});
  /// Enqueues a copy of the backend's own, as for a part of a push. It follows `waits`, whatever the queue's
  /// order.
  /// @param run may be empty
  /// @param at_end called on any thread with the final status
  TaskRef transfer(Queue& queue, const std::vector<TaskRef>& waits, std::function<void(CUstream)> run,
                   std::vector<std::shared_ptr<const void>> keep, std::function<void(cl_int)> at_end);

  /// A Push or an Expect: makes a held task that stands for all of its parts, with its event and report.
  /// @param waits gets what each part has to wait for
  TaskRef hold(const protocol::Command& command, std::vector<TaskRef>& waits);
  /// Ends such a task before its parts have ended, and makes `whole` null. Does nothing if it is null
  /// already.
  void end(TaskRef& whole, cl_int status);

  /// From now on, submit() records commands instead of enqueueing them.
  void begin_recording(bool in_order) { recording_ = Recording{{in_order, {}}, false}; }
  bool records() const { return recording_.has_value(); }
  /// @returns nothing if one of the commands failed or cannot be in a graph.
  std::optional<RecordedWork> end_recording();

 private:
  using Parts = CommandParts<TaskRef>;
  struct Recording {
    RecordedWork work;
    bool refused = false;
  };

  void record(const protocol::Command& command, Work work);
  void enter(const protocol::Command& command, const std::shared_ptr<Queue>& queue, Work work);
  /// Looks up a wait list: appends the tasks, and the reports that the waiting command's must follow. Throws
  /// ClError if one of the events has failed.
  void resolve(const std::vector<protocol::CommandId>& waits, std::vector<TaskRef>& tasks,
               std::vector<Entry>& after);
  /// All parts of the command are enqueued: adds a task that ends with the last of them, for the event.
  void join(const protocol::Command& command, const std::shared_ptr<Queue>& queue, const Parts& parts);
  /// Makes a task that reports the command's end and data.
  /// @param entry null if there is nothing to report
  TaskRef make_task(const protocol::Command& command, const std::shared_ptr<Queue>& queue, Work work,
                    Entry entry, bool reported);

  CommandReports& reports_;
  Scheduler& scheduler_;
  const Table<Queue>& queues_;
  EventTable<Event> events_;
  CommandPartsTable<TaskRef> parts_;
  std::atomic<std::uint64_t> queued_{0};
  std::optional<Recording> recording_;
};

template <typename Make>
void Commands::submit(const protocol::Command& command, Make&& make) {
  std::shared_ptr<Queue> queue;
  try {
    if (recording_) {
      record(command, make());
      return;
    }
    queue = queues_.get(command.queue);
    enter(command, queue, make());
  } catch (const ClError& error) {
    if (recording_)
      recording_->refused = true;
    else
      refuse(command, queue.get(), error);
  }
}

}  // namespace clique::daemon::cuda
