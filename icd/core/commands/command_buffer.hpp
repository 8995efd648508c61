#pragma once

#include <CL/cl_ext.h>

#include <deque>
#include <mutex>
#include <span>
#include <vector>

#include "icd/core/commands/queue.hpp"
#include "icd/core/commands/work.hpp"
#include "icd/core/objects/kernel.hpp"
#include "icd/core/objects/object.hpp"
#include "icd/core/objects/sampler.hpp"
#include "protocol/codec.hpp"

namespace clique::icd {

/// cl_khr_command_buffer: commands that are recorded once, and run any number of times on the queue's device.
/// The device's worker gets them when they run there first; from then on a run is one message. Any thread.
///
/// For a queue that is in order, so are the commands: sync points are checked, but there is nothing more to
/// them, nor to barriers. For others they say what comes after what.
class CommandBuffer final
    : public Object<_cl_command_buffer_khr, Kind::CommandBuffer, CL_INVALID_COMMAND_BUFFER_KHR> {
 public:
  using SyncPoints = std::span<const cl_sync_point_khr>;

  /// What is offered where queues have these properties: kernels may print, a command buffer may be enqueued
  /// while it runs, and its queue may be out of order.
  static cl_device_command_buffer_capabilities_khr capabilities(cl_command_queue_properties queues);

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
  void require_sync_points(SyncPoints points) const;
  /// Adds a command that comes after those of `waits`, which are the command buffer's. @returns its sync
  /// point. Throws what require_recording() does, and Error(CL_OUT_OF_RESOURCES) where there are too many.
  template <typename M>
  cl_sync_point_khr record(Work<M> work, SyncPoints waits) {
    const std::lock_guard lock(mutex_);
    return add(std::move(work), waits);
  }
  /// Adds a launch of the kernel with its arguments as they are now; throws also as Kernel::launch does.
  cl_sync_point_khr record(Kernel& kernel, const NdRange& range, SyncPoints waits);
  /// Adds what has no work of its own: a barrier, which waits for everything where `waits` is empty.
  cl_sync_point_khr record_barrier(SyncPoints waits);
  /// Throws Error(CL_INVALID_OPERATION) where it is finalised already.
  void finalise();

  /// Enqueues all commands as one, with what they read in place. Does not wait.
  /// @param queue compatible with the one that commands were recorded for.
  /// Throws Error(CL_INVALID_OPERATION) where it is not finalised, or still pending without simultaneous use,
  /// and what Queue::submit throws.
  Ref<Event> enqueue(Queue& queue, std::span<const Ref<Event>> waits);

 private:
  /// Commands by their numbers, from 0, in the order of which they are kept.
  using Commands = std::vector<protocol::CommandId>;

  // Under mutex_.
  template <typename M>
  cl_sync_point_khr add(Work<M> work, SyncPoints waits) {
    require_room();
    Commands before = all_of(waits);
    if (work.empty) return add_point(std::move(before));
    work.message.command.waits = before;
    batch_.add(work.message);
    use(work.accesses, work.memory);
    return add_point({add_command(before)});
  }
  void require_room() const;
  /// What comes before a command with this list of its own.
  Commands all_of(SyncPoints waits) const;
  /// @returns the number of a command that comes after these.
  protocol::CommandId add_command(const Commands& before);
  /// @returns a sync point that stands for the end of these.
  cl_sync_point_khr add_point(Commands commands);
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
  std::vector<Commands> points_;  ///< what each sync point stands for; the first is 1
  Commands barrier_;              ///< all that is recorded comes after these
  Commands last_;                 ///< those that no other one comes after yet
  /// What all commands together use, as if they were one.
  std::vector<Access> accesses_;
  std::vector<Ref<Memory>> memory_;
  std::vector<Ref<Sampler>> samplers_;
  std::vector<Ref<Kernel>> kernels_;
  /// What is under way, in the order in which it was enqueued, and some that have ended.
  mutable std::deque<Ref<Event>> runs_;
};

}  // namespace clique::icd
