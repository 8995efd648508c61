// Waiting for commands: in queues, for other workers, and for the client.
#include <algorithm>

#include "daemon/backend/opencl/opencl_backend.hpp"

namespace clique::daemon::opencl {

void OpenClBackend::resolve(const std::vector<CommandId>& waits, std::vector<cl_event>& natives,
                            std::vector<CommandReports::Entry>& after) {
  events_.resolve(waits, after, [&](Event& awaited) {
    if (awaited.failed == CL_SUCCESS && failures_seen_)
      awaited.failed = std::min(status_of(awaited.native.get()), 0);
    natives.push_back(awaited.native.get());
    return awaited.failed != CL_SUCCESS;
  });
}

Handle<cl_event> OpenClBackend::make_user_event(cl_context context) {
  cl_int status = CL_SUCCESS;
  Handle<cl_event> native(clCreateUserEvent(context, &status));
  check(status, "clCreateUserEvent");
  return native;
}

OpenClBackend::Event& OpenClBackend::add_user_event(const Command& command, cl_context context,
                                                    const std::vector<CommandReports::Entry>& after) {
  auto native = make_user_event(context);
  queued_.add(command.queue, false, native);
  return events_.add(command.id, {std::move(native), CL_SUCCESS,
                                  is_reported(command) ? reports_.expect(after) : nullptr, true});
}

void OpenClBackend::end_user_event(CommandId id, const Handle<cl_event>& native,
                                   const CommandReports::Entry& report, cl_int status, const Times& times) {
  const auto tell = [this, id, report, status, times] {
    if (report) reports_.complete(report, {{id, status, times}, true});
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

/// What a joined command still waits for.
struct OpenClBackend::Join {
  OpenClBackend& backend;
  CommandId id;
  std::shared_ptr<Queue> queue;
  std::vector<Handle<cl_event>> events;
  Handle<cl_event> end;
  CommandReports::Entry report;
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
                         std::vector<Handle<cl_event>> events, std::vector<CommandReports::Entry> after) {
  const std::size_t count = events.size();
  reports_.append_before(after, *queue, false);
  // Later reports follow what the command waits for, even if it is not reported itself.
  const CommandReports::Entry unreported = is_reported(command) ? nullptr : reports_.follow(*queue, after);
  // An aggregate, which std::make_shared cannot make yet. NOLINTNEXTLINE(modernize-make-shared)
  std::shared_ptr<Join> join(new Join{*this, command.id, queue, std::move(events), {}, nullptr, count});
  if (!has_event(command)) return;
  const cl_context context = queue->context->native.get();
  Event& event = events_.add(command.id, {make_user_event(context), CL_SUCCESS, unreported, true});
  if (is_reported(command)) event.order = join->report = reports_.expect(*queue, after);
  join->end = event.native;
  for (const auto& part : join->events)
    watcher_.watch(part, [join](cl_int status) { join->one_ended(status); });
}

void OpenClBackend::when_all_ended(const std::vector<Handle<cl_event>>& events,
                                   std::function<void(cl_int status)> action) {
  const auto ended = [](const Handle<cl_event>& event) { return status_of(event.get()) <= CL_COMPLETE; };
  const auto failed = [](const Handle<cl_event>& event) { return status_of(event.get()) < 0; };
  if (std::all_of(events.begin(), events.end(), ended)) {
    action(std::any_of(events.begin(), events.end(), failed) ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
                                                             : CL_COMPLETE);
    return;
  }
  struct Waiting {
    std::function<void(cl_int status)> action;
    std::atomic<std::size_t> left;
    std::atomic<bool> failed = false;
  };
  // An aggregate, which std::make_shared cannot make yet. NOLINTNEXTLINE(modernize-make-shared)
  const std::shared_ptr<Waiting> waiting(new Waiting{std::move(action), events.size()});
  for (const Handle<cl_event>& event : events)
    watcher_.watch(event, [waiting](cl_int status) {
      if (status < 0) waiting->failed = true;
      if (--waiting->left == 0)
        waiting->action(waiting->failed ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_COMPLETE);
    });
}

void OpenClBackend::handle(protocol::AwaitRemote&& message) {
  try {
    const cl_context context = contexts_.get(message.context)->native.get();
    events_.add(message.command, {make_user_event(context), CL_SUCCESS, nullptr, true});
  } catch (const ClError& error) {
    events_.add(message.command, {{}, error.status(), nullptr, true});
    failures_seen_ = true;
  }
}

void OpenClBackend::set_remote(CommandId command, std::int32_t status) {
  Event* const event = events_.find(command);
  // If the event was released meanwhile, nothing waits for it.
  if (event == nullptr || !event->native) return;
  if (status < 0) {
    failures_seen_ = true;
    event->failed = status;
  }
  clSetUserEventStatus(event->native.get(), status);
  if (status < 0) watcher_.sweep();
}

void OpenClBackend::when_ended(CommandId command, std::function<void(std::int32_t)> action) {
  const Event& awaited = events_.get(command);
  if (awaited.failed != CL_SUCCESS) {
    action(awaited.failed);
  } else if (const cl_int status = status_of(awaited.native.get()); status <= CL_COMPLETE) {
    action(status);
  } else {
    watcher_.watch(awaited.native, std::move(action));
  }
}

void OpenClBackend::handle(protocol::WatchEvent&& message) {
  const Event* const event = events_.find(message.command);
  if (event == nullptr || event->user || !event->native) return;
  struct Watch {
    OpenClBackend& backend;
    CommandId command;
  };
  for (const cl_int state : {CL_SUBMITTED, CL_RUNNING}) {
    auto* watch = new Watch{*this, message.command};
    const auto called = [](cl_event native, cl_int status, void* data) {
      const std::unique_ptr<Watch> owner(static_cast<Watch*>(data));
      // Some drivers call late; the state must not be reported after the end.
      if (status > CL_COMPLETE && status_of(native) > CL_COMPLETE)
        owner->backend.surroundings_.reporter.report(protocol::EventState{owner->command, status, {}});
    };
    if (clSetEventCallback(event->native.get(), state, called, watch) != CL_SUCCESS) delete watch;
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
      entered(queue, end, false);
    }
  } catch (const ClError& error) {
    surroundings_.reporter.report(protocol::Finished{message.request, error.status()});
    return;
  }
  // How the last command ended is reported with that command.
  const auto finished = reports_.finish(queue, message.request);
  // Oclgrind never calls back for an event that has ended already.
  if (end && status_of(end.get()) > CL_COMPLETE) {
    watcher_.watch(end, finished);
  } else {
    finished(CL_COMPLETE);
  }
}

}  // namespace clique::daemon::opencl
