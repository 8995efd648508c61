#include "daemon/backend/cuda/handlers/events.hpp"

#include <utility>

namespace clique::daemon::cuda {

namespace {

/// Work that only has a place in its queue.
Work ordering_only(Ordering ordering) {
  Work work;
  work.ordering = ordering;
  return work;
}

}  // namespace

// Without a wait list, markers and barriers follow everything.

void Events::handle(protocol::Marker&& message) {
  const Ordering ordering{message.command.waits.empty(), false};
  commands_.submit(message.command, [&] { return ordering_only(ordering); });
}

void Events::handle(protocol::Barrier&& message) {
  const Ordering ordering{message.command.waits.empty(), true};
  commands_.submit(message.command, [&] { return ordering_only(ordering); });
}

void Events::handle(protocol::Finish&& message) {
  std::shared_ptr<Queue> queue;
  try {
    queue = queues_.get(message.queue);
  } catch (const ClError& error) {
    reporter_.report(protocol::Finished{message.request, error.status()});
    return;
  }
  auto finished = reports_.finish(queue, message.request);
  std::erase_if(finishes_, [](const auto& known) { return known.second->ended(); });
  if (queue->in_order && queue->last) {
    // The last command ends after all others.
    finishes_.emplace(message.request, queue->last);
    queue->last->when_ended(std::move(finished));
    return;
  }
  auto task = std::make_shared<Task>();
  task->prompt = true;
  task->at_end = [finished = std::move(finished)](Task& /*task*/, cl_int status) { finished(status); };
  finishes_.emplace(message.request, task);
  commands_.enqueue(task, queue, {}, {.everything_before = true});
}

void Events::handle(protocol::AwaitRemote&& message) {
  auto task = std::make_shared<Task>();
  scheduler_.hold(task);
  commands_.events().add(message.command, {std::move(task), CL_SUCCESS, nullptr});
}

void Events::handle(protocol::WatchEvent&& message) {
  const Event* const event = commands_.events().find(message.command);
  if (event == nullptr || !event->task) return;
  scheduler_.watch(event->task, [this, id = message.command](cl_int state) {
    reporter_.report(protocol::EventState{id, state, {}});
  });
}

void Events::set_remote(protocol::CommandId command, std::int32_t status) {
  const Event* const event = commands_.events().find(command);
  // If the event was released meanwhile, nothing waits for it.
  if (event == nullptr || !event->task) return;
  scheduler_.end(event->task, status);
}

void Events::when_ended(protocol::CommandId command, std::function<void(std::int32_t)> action) {
  const Event& event = commands_.events().get(command);
  if (event.task)
    event.task->when_ended(std::move(action));
  else
    action(event.failed);
}

void Events::fail_pending() {
  for (const auto& [id, event] : commands_.events())
    if (event.task && !event.task->ended()) reporter_.add(protocol::EventState{id, CL_OUT_OF_RESOURCES, {}});
  for (const auto& [request, task] : finishes_)
    if (!task->ended()) reporter_.add(protocol::Finished{request, CL_OUT_OF_RESOURCES});
  reporter_.flush();
}

}  // namespace clique::daemon::cuda
