#pragma once

#include <CL/cl_ext.h>

#include <deque>
#include <mutex>
#include <span>
#include <vector>

#include "icd/core/kernel.hpp"
#include "icd/core/object.hpp"
#include "icd/core/queue.hpp"
#include "icd/core/sampler.hpp"
#include "icd/core/work.hpp"
#include "protocol/codec.hpp"

namespace clique::icd {

/// cl_khr_command_buffer: commands that are recorded once, and run any number of times on the queue's device.
/// The device's worker gets them when they run there first; from then on a run is one message. Any thread.
///
/// The queue is in order, and so are the commands: sync points are checked, but there is nothing more to
/// them, nor to barriers.
class CommandBuffer final
    : public Object<_cl_command_buffer_khr, Kind::CommandBuffer, CL_INVALID_COMMAND_BUFFER_KHR> {
 public:
  /// What is offered: kernels may print, and a command buffer may be enqueued while it runs.
  static constexpr cl_device_command_buffer_capabilities_khr kCapabilities =
      CL_COMMAND_BUFFER_CAPABILITY_KERNEL_PRINTF_KHR | CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR;

  /// @param properties the list that the application gave, closing 0 included, or nothing.
  CommandBuffer(Ref<Queue> queue, bool simultaneous,
                std::vector<cl_command_buffer_properties_khr> properties);
  ~CommandBuffer() override;

  /// The one that commands are recorded for.
  const Ref<Queue>& queue() const { return queue_; }
  const std::vector<cl_command_buffer_properties_khr>& properties() const { return properties_; }
  cl_command_buffer_state_khr state() const;

  /// Throws Error(CL_INVALID_OPERATION) once it is finalised.
  void require_recording() const;
  /// Throws Error(CL_INVALID_SYNC_POINT_WAIT_LIST_KHR) where one of them is none of this command buffer's.
  void require_sync_points(std::span<const cl_sync_point_khr> points) const;
  /// Adds a command. @returns its sync point. Throws what require_recording() does, and
  /// Error(CL_OUT_OF_RESOURCES) where there are too many.
  template <typename M>
  cl_sync_point_khr record(const Work<M>& work) {
    const std::lock_guard lock(mutex_);
    return add(work);
  }
  /// Adds a launch of the kernel with its arguments as they are now; throws also as Kernel::launch does.
  cl_sync_point_khr record(Kernel& kernel, const NdRange& range);
  /// Adds what has no work of its own: a barrier.
  cl_sync_point_khr record_barrier();
  /// Throws Error(CL_INVALID_OPERATION) where it is finalised already.
  void finalise();

  /// Enqueues all commands as one, with what they read in place. Does not wait.
  /// @param queue compatible with the one that commands were recorded for.
  /// Throws Error(CL_INVALID_OPERATION) where it is not finalised, or still pending without simultaneous use,
  /// and what Queue::submit throws.
  Ref<Event> enqueue(Queue& queue, std::span<const Ref<Event>> waits);

 private:
  // Under mutex_.
  template <typename M>
  cl_sync_point_khr add(const Work<M>& work) {
    const cl_sync_point_khr point = next_point();
    if (work.empty) return point;
    batch_.add(work.message);
    ++commands_;
    use(work.accesses, work.memory);
    return point;
  }
  cl_sync_point_khr next_point();
  void use(std::span<const Access> accesses, std::span<const Ref<Memory>> memory);
  /// The kernel that stands for this one here: on the worker, nobody else sets its arguments.
  Kernel& own(Kernel& kernel);
  /// Takes out of runs_ what has ended. @returns it, to be let go of without the lock.
  std::vector<Ref<Event>> take_ended() const;

  const protocol::ObjectId id_ = next_id();
  const Ref<Queue> queue_;
  const bool simultaneous_;
  const std::vector<cl_command_buffer_properties_khr> properties_;

  mutable std::mutex mutex_;
  bool finalised_ = false;
  bool defined_ = false;   ///< on the worker
  protocol::Batch batch_;  ///< the commands, until they are defined
  std::size_t commands_ = 0;
  cl_sync_point_khr last_point_ = 0;
  /// What all commands together use, as if they were one.
  std::vector<Access> accesses_;
  std::vector<Ref<Memory>> memory_;
  std::vector<Ref<Sampler>> samplers_;
  std::vector<Ref<Kernel>> kernels_;
  /// What is under way, in the order in which it was enqueued, and some that have ended.
  mutable std::deque<Ref<Event>> runs_;
};

}  // namespace clique::icd
