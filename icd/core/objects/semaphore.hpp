#pragma once

#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <mutex>
#include <span>
#include <vector>

#include "icd/common/object.hpp"
#include "icd/core/commands/submission.hpp"

namespace clique::icd {

class Context;
class Device;
class Event;
class Queue;

/// cl_khr_semaphore 1.0.1: a binary semaphore of one device. Workers do not know it: a wait takes the event
/// of a signal before it, and waits for that. Any thread.
class Semaphore final : public Object<_cl_semaphore_khr, Kind::Semaphore, CL_INVALID_SEMAPHORE_KHR> {
 public:
  /// @param properties the application's list with its closing 0
  Semaphore(Ref<Context> context, Ref<Device> device, std::vector<cl_semaphore_properties_khr> properties);
  ~Semaphore() override;

  const Ref<Context>& context() const { return context_; }
  /// The only device whose queues may signal it and wait for it.
  const Ref<Device>& device() const { return device_; }
  const std::vector<cl_semaphore_properties_khr>& properties() const { return properties_; }
  /// CL_SEMAPHORE_PAYLOAD_KHR: whether a signal has completed for which no wait has been enqueued.
  bool signaled() const;

  /// clEnqueueSignalSemaphoresKHR. Of several signals that have completed without a wait between them, one
  /// counts. Does not wait. Throws as Queue::submit() does. @returns the command's event.
  static Ref<Event> enqueue_signal(Queue& queue, std::span<const Ref<Semaphore>> semaphores,
                                   std::span<const Ref<Event>> waits);
  /// clEnqueueWaitSemaphoresKHR. The command takes a signal that has completed, or else the oldest one. If
  /// there is none, it waits for the next one that is enqueued; each signal lets one command through, the
  /// oldest first. A failed signal, and the release of the semaphore by the application, make the command
  /// fail. Does not wait. Throws as Queue::submit() does. @returns the command's event, if `event` asks for
  /// one.
  static Ref<Event> enqueue_wait(Queue& queue, std::span<const Ref<Semaphore>> semaphores,
                                 std::span<const Ref<Event>> waits, EventUse event);

 private:
  void abandoned() override;

  /// The command of the event signals the semaphore.
  void signal_by(const Ref<Event>& event);
  /// What a new command has to wait for.
  Ref<Event> take_signal();
  /// The command of take_signal() could not be enqueued.
  void put_back(const Ref<Event>& taken);

  Ref<Context> context_;
  Ref<Device> device_;
  std::vector<cl_semaphore_properties_khr> properties_;
  mutable std::mutex mutex_;         // guards both below, of which at least one is empty
  std::vector<Ref<Event>> signals_;  ///< that no wait has taken, in their order
  /// User events that stand for the signals to come, in the order of the commands that wait for them.
  std::vector<Ref<Event>> awaited_;
};

}  // namespace clique::icd
