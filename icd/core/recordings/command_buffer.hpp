#pragma once

#include <CL/cl_ext.h>

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "icd/common/object.hpp"
#include "icd/core/objects/access.hpp"
#include "protocol/ids.hpp"

namespace clique::protocol {
class Batch;
}

namespace clique::icd {

class Event;
class Kernel;
class Memory;
class Queue;
class Sampler;
struct NdRange;
template <typename M>
struct Work;

/// cl_khr_command_buffer: commands that are recorded once, and run any number of times on the queue's device.
/// The device's worker gets them with the first run there; from then on a run is one message. Any thread.
///
/// For an in-order queue the commands are in order as well: sync points and barriers are checked, but add
/// nothing. For an out-of-order queue they define the order.
class CommandBuffer final
    : public Object<_cl_command_buffer_khr, Kind::CommandBuffer, CL_INVALID_COMMAND_BUFFER_KHR> {
 public:
  using SyncPoints = std::span<const cl_sync_point_khr>;

  /// @param flags CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR or 0.
  /// @param properties the application's list with its closing 0, or empty.
  CommandBuffer(Ref<Queue> queue, cl_command_buffer_flags_khr flags,
                std::vector<cl_command_buffer_properties_khr> properties);
  ~CommandBuffer() override;

  /// The queue that commands are recorded for.
  const Ref<Queue>& queue() const { return queue_; }
  const std::vector<cl_command_buffer_properties_khr>& properties() const { return properties_; }
  cl_command_buffer_state_khr state() const;

  /// Throws Error(CL_INVALID_OPERATION) once the command buffer is finalised.
  void require_recording() const;
  /// Throws Error(CL_INVALID_SYNC_POINT_WAIT_LIST_KHR) if this command buffer did not return one of them.
  void require_sync_points(SyncPoints points) const;
  /// Adds a command that follows those of `waits`, which are this command buffer's. @returns its sync point.
  /// Throws what require_recording() does, and Error(CL_OUT_OF_RESOURCES) if there are too many commands.
  /// Defined for protocol::RecordedMessages except RunKernel.
  template <typename M>
  cl_sync_point_khr record(Work<M> work, SyncPoints waits);
  /// Adds a launch of the kernel with its current arguments. Also throws what Kernel::launch throws.
  cl_sync_point_khr record(Kernel& kernel, const NdRange& range, SyncPoints waits);
  /// Adds a barrier, which has no work of its own. With empty `waits` it follows everything before it.
  cl_sync_point_khr record_barrier(SyncPoints waits);
  /// Throws Error(CL_INVALID_OPERATION) if it is finalised already.
  void finalise();

  /// Enqueues all commands as one, after bringing the content that they read. Does not wait.
  /// @param queue compatible with the queue that commands were recorded for.
  /// Throws Error(CL_INVALID_OPERATION) if it is not finalised, or is pending without simultaneous use, and
  /// what Queue::submit throws.
  Ref<Event> enqueue(Queue& queue, std::span<const Ref<Event>> waits);

 private:
  /// The numbers of commands, which count from 0, in ascending order.
  using Commands = std::vector<protocol::CommandId>;

  // The functions from here on are called under mutex_.
  template <typename M>
  cl_sync_point_khr add(Work<M> work, SyncPoints waits);
  void require_room() const;
  /// The commands that a command with this wait list follows.
  Commands all_of(SyncPoints waits) const;
  /// @returns the number of a new command that follows these.
  protocol::CommandId add_command(const Commands& before);
  /// @returns a new sync point that stands for the completion of these.
  cl_sync_point_khr add_point(Commands commands);
  void use(std::span<const Access> accesses, std::span<const Ref<Memory>> memory);
  /// This command buffer's clone of the kernel: on the worker, nobody else sets its arguments.
  Kernel& own(Kernel& kernel);
  /// Removes completed runs from runs_. @returns them, to be released without the lock.
  std::vector<Ref<Event>> take_ended() const;

  const protocol::ObjectId id_ = next_id();
  const Ref<Queue> queue_;
  const bool simultaneous_;
  const std::vector<cl_command_buffer_properties_khr> properties_;

  mutable std::mutex mutex_;
  bool finalised_ = false;
  bool defined_ = false;                    ///< on the worker
  std::unique_ptr<protocol::Batch> batch_;  ///< the commands, until they are defined
  std::size_t commands_ = 0;
  std::vector<Commands> points_;  ///< what each sync point stands for; the first is 1
  Commands barrier_;              ///< all commands to come follow these
  Commands last_;                 ///< those that no other command follows yet
  /// What all commands together use, as if they were one.
  std::vector<Access> accesses_;
  std::vector<Ref<Memory>> memory_;
  std::vector<Ref<Sampler>> samplers_;
  std::vector<Ref<Kernel>> kernels_;
  /// The runs under way, in the order of their enqueueing, and some that are complete.
  mutable std::deque<Ref<Event>> runs_;
};

}  // namespace clique::icd
