// Events, and what waits for them: finishing queues, other workers, whoever looks.
#include <algorithm>

#include "daemon/backend/opencl/opencl_backend.hpp"

namespace clique::daemon::opencl {

OpenClBackend::Event& OpenClBackend::event(CommandId id) {
  const auto found = events_.find(id);
  if (found == events_.end()) throw RuleBroken("event " + std::to_string(id) + " does not exist");
  return found->second;
}

void OpenClBackend::add_event(CommandId id, Event event) {
  if (id == 0 || !events_.emplace(id, std::move(event)).second)
    throw RuleBroken("event " + std::to_string(id) + " exists already");
}

void OpenClBackend::resolve(const std::vector<CommandId>& waits, std::vector<cl_event>& natives,
                            std::vector<ReportOrder::EntryRef>& after) {
  bool failed = false;
  for (const CommandId id : waits) {
    Event& awaited = event(id);
    if (awaited.failed == CL_SUCCESS && failures_seen_)
      awaited.failed = std::min(status_of(awaited.native.get()), 0);
    failed = failed || awaited.failed != CL_SUCCESS;
    natives.push_back(awaited.native.get());
    if (awaited.order) after.push_back(awaited.order);
  }
  if (failed)
    throw ClError(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "a command that is waited for failed");
}

OpenClBackend::Event& OpenClBackend::add_user_event(CommandId id, cl_context context, bool report,
                                                    std::vector<ReportOrder::EntryRef> after) {
  cl_int status = CL_SUCCESS;
  Handle<cl_event> native(clCreateUserEvent(context, &status));
  check(status, "clCreateUserEvent");
  add_event(id, {std::move(native), CL_SUCCESS, report ? surroundings_.order.expect(after) : nullptr, true});
  return events_.at(id);
}

void OpenClBackend::end_user_event(CommandId id, const Handle<cl_event>& native,
                                   const ReportOrder::EntryRef& report, cl_int status, const Times& times) {
  const auto tell = [this, id, report, status, times] {
    if (report)
      surroundings_.order.due(report, [this, id, status, times] {
        surroundings_.reporter.add(protocol::EventState{id, status, times});
      });
  };
  if (status >= 0) {
    clSetUserEventStatus(native.get(), CL_COMPLETE);
    tell();
    return;
  }
  surroundings_.tasks.post([this, native, status, tell] {
    failures_seen_ = true;
    clSetUserEventStatus(native.get(), status);
    watcher_.sweep();
    tell();
  });
}

/// Counts what a joined event waits for.
struct OpenClBackend::Join {
  OpenClBackend& backend;
  CommandId id;
  std::shared_ptr<Queue> queue;
  std::vector<Handle<cl_event>> events;
  Handle<cl_event> end;
  ReportOrder::EntryRef report;
  std::atomic<std::size_t> left;
  std::atomic<cl_int> failed = CL_SUCCESS;

  void one_ended(cl_int status) {
    if (status < 0) failed = status;
    if (--left > 0) return;
    Times times{};
    if (failed == CL_SUCCESS && report && queue->profiling) {
      times = times_of(*queue, events.front().get(), events.front().get());
      for (const auto& event : events)
        times.back() = std::max(times.back(), times_of(*queue, event.get(), event.get()).back());
    }
    backend.end_user_event(id, end, report, failed, times);
  }
};

void OpenClBackend::join(const Command& command, const std::shared_ptr<Queue>& queue,
                         std::vector<Handle<cl_event>> events, std::vector<ReportOrder::EntryRef> after) {
  const std::size_t count = events.size();
  const auto earlier = before(*queue, false);
  after.insert(after.end(), earlier.begin(), earlier.end());
  const bool report = (command.flags & Command::kReport) != 0;
  // What it waits for comes before what follows it, though nothing is said of itself.
  const ReportOrder::EntryRef unsaid = report ? nullptr : surroundings_.order.follow(after);
  if (unsaid) chain(*queue, unsaid, false);
  // An aggregate, which std::make_shared cannot make yet. NOLINTNEXTLINE(modernize-make-shared)
  std::shared_ptr<Join> join(new Join{*this, command.id, queue, std::move(events), {}, nullptr, count});
  if ((command.flags & (Command::kEvent | Command::kReport)) != 0) {
    Event& event = add_user_event(command.id, queue->context->native.get(), report, std::move(after));
    join->end = event.native;
    join->report = event.order;
    if (event.order) chain(*queue, event.order, false);
    if (!report) event.order = unsaid;
    for (const auto& part : join->events)
      watcher_.watch(part, [join](cl_int status) { join->one_ended(status); });
  }
}

void OpenClBackend::handle(protocol::AwaitRemote&& message) {
  try {
    add_user_event(message.command, contexts_.get(message.context)->native.get(), false, {});
  } catch (const ClError& error) {
    add_event(message.command, {{}, error.status(), nullptr, true});
    failures_seen_ = true;
  }
}

void OpenClBackend::set_remote(CommandId command, std::int32_t status) {
  const auto found = events_.find(command);
  // Nobody waits for one that was released meanwhile.
  if (found == events_.end() || !found->second.native) return;
  if (status < 0) {
    failures_seen_ = true;
    found->second.failed = status;
  }
  clSetUserEventStatus(found->second.native.get(), status);
  if (status < 0) watcher_.sweep();
}

void OpenClBackend::when_ended(CommandId command, std::function<void(std::int32_t)> action) {
  const Event& awaited = event(command);
  if (awaited.failed != CL_SUCCESS) {
    action(awaited.failed);
  } else if (const cl_int status = status_of(awaited.native.get()); status <= CL_COMPLETE) {
    action(status);
  } else {
    watcher_.watch(awaited.native, std::move(action));
  }
}

void OpenClBackend::handle(protocol::WatchEvent&& message) {
  const auto found = events_.find(message.command);
  if (found == events_.end() || found->second.user || !found->second.native) return;
  struct Watch {
    OpenClBackend& backend;
    CommandId command;
  };
  for (const cl_int state : {CL_SUBMITTED, CL_RUNNING}) {
    auto* watch = new Watch{*this, message.command};
    const auto called = [](cl_event event, cl_int status, void* data) {
      const std::unique_ptr<Watch> owner(static_cast<Watch*>(data));
      // Told late, it would come after the end.
      if (status > CL_COMPLETE && status_of(event) > CL_COMPLETE)
        owner->backend.surroundings_.reporter.report(protocol::EventState{owner->command, status, {}});
    };
    if (clSetEventCallback(found->second.native.get(), state, called, watch) != CL_SUCCESS) delete watch;
  }
}

void OpenClBackend::handle(protocol::Finish&& message) {
  std::shared_ptr<Queue> queue;
  Handle<cl_event> end;
  try {
    queue = queues_.get(message.queue);
    if (queue->in_order) {
      end = standing_tail(*queue);
    } else {
      check(clEnqueueMarkerWithWaitList(queue->native.get(), 0, nullptr, end.put()),
            "clEnqueueMarkerWithWaitList");
      entered(*queue, end, false);
    }
  } catch (const ClError& error) {
    surroundings_.reporter.report(protocol::Finished{message.request, error.status()});
    return;
  }
  const auto entry = surroundings_.order.expect(before(*queue, true));
  // How the last command ended is its own affair.
  const auto finished = [this, queue, entry, request = message.request](cl_int /*status*/) {
    surroundings_.order.due(entry, [this, queue, request] {
      surroundings_.reporter.add(protocol::Finished{request, queue->deferred.exchange(CL_SUCCESS)});
    });
  };
  // Oclgrind does not call back for what has ended already.
  if (end && status_of(end.get()) > CL_COMPLETE) {
    watcher_.watch(end, finished);
  } else {
    finished(CL_COMPLETE);
  }
}

}  // namespace clique::daemon::opencl
