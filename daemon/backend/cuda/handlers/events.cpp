// Events, and what waits for them: queues, other workers, whoever looks.
#include "daemon/backend/cuda/cuda_backend.hpp"

namespace clique::daemon::cuda {

CudaBackend::Event& CudaBackend::event(CommandId id) {
  const auto found = events_.find(id);
  if (found == events_.end()) throw RuleBroken("event " + std::to_string(id) + " does not exist");
  return found->second;
}

void CudaBackend::add_event(CommandId id, Event event) {
  if (id == 0 || !events_.emplace(id, std::move(event)).second)
    throw RuleBroken("event " + std::to_string(id) + " exists already");
}

void CudaBackend::resolve(const std::vector<CommandId>& waits, std::vector<TaskRef>& tasks,
                          std::vector<ReportOrder::EntryRef>& after) {
  bool failed = false;
  for (const CommandId id : waits) {
    const Event& awaited = event(id);
    failed = failed || !awaited.task || awaited.task->status() < 0;
    if (awaited.task) tasks.push_back(awaited.task);
    if (awaited.order) after.push_back(awaited.order);
  }
  if (failed)
    throw ClError(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "a command that is waited for failed");
}

void CudaBackend::handle(protocol::Marker&& message) {
  const bool alone = message.command.waits.empty();
  submit(message.command, [alone] {
    Work work;
    work.everything_before = alone;
    return work;
  });
}

void CudaBackend::handle(protocol::Barrier&& message) {
  const bool alone = message.command.waits.empty();
  submit(message.command, [alone] {
    Work work;
    work.everything_before = alone;
    work.everything_after = true;
    return work;
  });
}

void CudaBackend::handle(protocol::Finish&& message) {
  std::shared_ptr<Queue> queue;
  try {
    queue = queues_.get(message.queue);
  } catch (const ClError& error) {
    surroundings_.reporter.report(protocol::Finished{message.request, error.status()});
    return;
  }
  const auto entry = surroundings_.order.expect(before(*queue, true));
  // How the last command ended is its own affair.
  auto finished = [this, queue, entry, request = message.request](cl_int /*status*/) {
    surroundings_.order.due(entry, [this, queue, request] {
      surroundings_.reporter.add(protocol::Finished{request, queue->deferred.exchange(CL_SUCCESS)});
    });
  };
  std::erase_if(finishes_, [](const auto& known) { return known.second->ended(); });
  if (queue->in_order && queue->last) {
    // Its end is that of all before it.
    finishes_.emplace(message.request, queue->last);
    queue->last->when_ended(std::move(finished));
    return;
  }
  auto task = std::make_shared<Task>();
  task->prompt = true;
  task->at_end = [finished = std::move(finished)](Task& /*task*/, cl_int status) { finished(status); };
  finishes_.emplace(message.request, task);
  enqueue(task, queue, {}, true, false);
}

void CudaBackend::handle(protocol::AwaitRemote&& message) {
  auto task = std::make_shared<Task>();
  scheduler_.hold(task);
  add_event(message.command, {std::move(task), CL_SUCCESS, nullptr});
}

void CudaBackend::set_remote(CommandId command, std::int32_t status) {
  const auto found = events_.find(command);
  // Nobody waits for one that was released meanwhile.
  if (found == events_.end() || !found->second.task) return;
  scheduler_.end(found->second.task, status);
}

void CudaBackend::when_ended(CommandId command, std::function<void(std::int32_t)> action) {
  const Event& awaited = event(command);
  if (!awaited.task) {
    action(awaited.failed);
  } else {
    awaited.task->when_ended(std::move(action));
  }
}

void CudaBackend::handle(protocol::WatchEvent&& message) {
  const auto found = events_.find(message.command);
  if (found == events_.end() || !found->second.task) return;
  scheduler_.watch(found->second.task, [this, id = message.command](cl_int state) {
    surroundings_.reporter.report(protocol::EventState{id, state, {}});
  });
}

}  // namespace clique::daemon::cuda
