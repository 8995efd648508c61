#include "icd/core/objects/semaphore.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "icd/core/commands/queue.hpp"
#include "icd/core/events/event.hpp"
#include "icd/core/objects/context.hpp"
#include "icd/core/objects/device.hpp"

namespace clique::icd {

namespace {

bool complete(const Ref<Event>& signal) {
  return signal->status() == CL_COMPLETE;
}

bool under_way(const Ref<Event>& signal) {
  return !signal->ended();
}

}  // namespace

Semaphore::Semaphore(Ref<Context> context, Ref<Device> device,
                     std::vector<cl_semaphore_properties_khr> properties)
    : context_(std::move(context)), device_(std::move(device)), properties_(std::move(properties)) {}

Semaphore::~Semaphore() = default;

bool Semaphore::signaled() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(signals_.begin(), signals_.end(), complete);
}

void Semaphore::signal_by(const Ref<Event>& event) {
  std::vector<Ref<Event>> earlier;  // released after the lock
  Ref<Event> awaited;
  {
    const std::lock_guard lock(mutex_);
    if (awaited_.empty()) {
      earlier.swap(signals_);
      const auto signaled = std::find_if(earlier.begin(), earlier.end(), complete);
      if (signaled != earlier.end()) signals_.push_back(*signaled);
      std::copy_if(earlier.begin(), earlier.end(), std::back_inserter(signals_), under_way);
      signals_.push_back(event);
      return;
    }
    awaited = std::move(awaited_.front());
    awaited_.erase(awaited_.begin());
  }
  event->then([awaited, context = context_](cl_int status) {
    awaited->settle(status < 0 ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_COMPLETE);
    context->flush();
  });
}

Ref<Event> Semaphore::take_signal() {
  std::vector<Ref<Event>> signals;  // released after the lock
  const std::lock_guard lock(mutex_);
  if (signals_.empty()) return awaited_.emplace_back(new Event(context_));
  signals.swap(signals_);
  auto taken = std::find_if(signals.begin(), signals.end(), complete);
  if (taken == signals.end()) taken = std::find_if(signals.begin(), signals.end(), under_way);
  if (taken == signals.end()) taken = signals.begin();
  std::copy_if(signals.begin(), signals.end(), std::back_inserter(signals_),
               [taken](const Ref<Event>& signal) { return signal != *taken && under_way(signal); });
  return *taken;
}

void Semaphore::put_back(const Ref<Event>& taken) {
  const std::lock_guard lock(mutex_);
  // If another thread has signaled meanwhile, what was awaited stands for that signal.
  const auto found = std::find(awaited_.begin(), awaited_.end(), taken);
  if (found != awaited_.end())
    awaited_.erase(found);
  else if (awaited_.empty())
    signals_.insert(signals_.begin(), taken);
}

void Semaphore::abandoned() {
  std::vector<Ref<Event>> awaited;
  {
    const std::lock_guard lock(mutex_);
    awaited.swap(awaited_);
  }
  // Nobody has a handle to signal it with.
  for (const Ref<Event>& event : awaited) event->settle(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  if (!awaited.empty()) context_->flush();
}

Ref<Event> Semaphore::enqueue_signal(Queue& queue, std::span<const Ref<Semaphore>> semaphores,
                                     std::span<const Ref<Event>> waits) {
  Ref<Event> event = queue.nothing({CL_COMMAND_SEMAPHORE_SIGNAL_KHR, waits}, EventUse::Report);
  for (const Ref<Semaphore>& semaphore : semaphores) semaphore->signal_by(event);
  return event;
}

Ref<Event> Semaphore::enqueue_wait(Queue& queue, std::span<const Ref<Semaphore>> semaphores,
                                   std::span<const Ref<Event>> waits, EventUse event) {
  std::vector<Ref<Event>> all(waits.begin(), waits.end());
  all.reserve(waits.size() + semaphores.size());
  std::size_t taken = 0;
  try {
    for (; taken < semaphores.size(); ++taken) all.push_back(semaphores[taken]->take_signal());
    return queue.nothing({CL_COMMAND_SEMAPHORE_WAIT_KHR, all}, event);
  } catch (...) {
    for (std::size_t i = 0; i < taken; ++i) semaphores[i]->put_back(all[waits.size() + i]);
    throw;
  }
}

}  // namespace clique::icd
