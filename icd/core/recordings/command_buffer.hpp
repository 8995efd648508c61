#pragma once

#include <CL/cl_ext.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "icd/common/object.hpp"
#include "icd/core/objects/access.hpp"
#include "icd/core/recordings/mutable_command.hpp"
#include "icd/core/recordings/sections.hpp"
#include "protocol/ids.hpp"
#include "protocol/messages.hpp"

namespace clique::icd {

class Event;
class Kernel;
class Memory;
class Queue;
class Sampler;
struct NdRange;
template <typename M>
struct Work;

/// A command as it was recorded, without its place in an order.
struct RecordedCommand {
  template <typename List>
  struct AnyOf;
  template <typename... M>
  struct AnyOf<protocol::MessageList<M...>> {
    using Type = std::variant<M...>;
  };
  using Message = AnyOf<protocol::RecordedMessages>::Type;

  Message message;
  std::vector<Access> accesses;
  /// Keeps the objects of the accesses alive.
  std::vector<Ref<Memory>> memory;
  std::vector<Ref<Sampler>> samplers;
  /// Of a launch: its kernel and range.
  Ref<Kernel> kernel;
  NdRange range;
  Ref<MutableCommand> handle;  ///< of a launch that has one
  bool complete = true;        ///< whether all arguments are set
};

/// cl_khr_command_buffer: commands that are recorded once, and run any number of times on the devices of its
/// queues. Each section of the commands is a recording of the worker that runs it, which gets it with the
/// first run; from then on a run is one message for each section. Any thread.
class CommandBuffer final
    : public Object<_cl_command_buffer_khr, Kind::CommandBuffer, CL_INVALID_COMMAND_BUFFER_KHR> {
 public:
  using SyncPoints = std::span<const cl_sync_point_khr>;
  using Queues = std::vector<Ref<Queue>>;

  struct Traits {
    cl_command_buffer_flags_khr flags = 0;
    /// CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR.
    cl_bitfield asserts = 0;
    /// The application's list with its closing 0, or empty.
    std::vector<cl_command_buffer_properties_khr> properties;
  };

  /// @param queues one or more, of one context
  CommandBuffer(Queues queues, Traits traits);
  ~CommandBuffer() override;

  /// The queues that commands are recorded for.
  const Queues& queues() const { return queues_; }
  const Traits& traits() const { return traits_; }
  /// Whether launches may be updated.
  bool is_mutable() const { return (traits_.flags & CL_COMMAND_BUFFER_MUTABLE_KHR) != 0; }
  cl_command_buffer_state_khr state() const;

  /// Which form of the recording functions the application has called for this command buffer, as far as that
  /// is known (icd/api/command_buffer_functions.hpp).
  std::atomic<bool>& newer_form() { return newer_form_; }

  /// Throws Error(CL_INVALID_OPERATION) once the command buffer is finalised.
  void require_recording() const;
  /// Throws Error(CL_INVALID_SYNC_POINT_WAIT_LIST_KHR) if this command buffer did not return one of them.
  void require_sync_points(SyncPoints points) const;
  /// Adds a command that follows those of `waits`, which are this command buffer's. @returns its sync point.
  /// Throws what require_recording() does, and Error(CL_OUT_OF_RESOURCES) if there are too many commands.
  /// Defined for protocol::RecordedMessages except RunKernel.
  /// @param queue of queues(), by its position
  template <typename M>
  cl_sync_point_khr record(std::size_t queue, Work<M> work, SyncPoints waits);
  /// Adds a launch of the kernel with its current arguments. Also throws what Kernel::capture throws.
  /// @param may_lack_arguments whether they may be set later
  /// @param handle given to the application; null: it wants none
  cl_sync_point_khr record(std::size_t queue, Kernel& kernel, const NdRange& range, SyncPoints waits,
                           bool may_lack_arguments, const Ref<MutableCommand>& handle);
  /// Adds a barrier, which has no work of its own. With empty `waits` it follows everything before it.
  cl_sync_point_khr record_barrier(std::size_t queue, SyncPoints waits);
  /// Throws Error(CL_INVALID_OPERATION) if it is finalised already.
  void finalise();

  /// One change of a launch.
  struct Update {
    Ref<MutableCommand> command;  ///< this command buffer's
    MutableCommand::Launch launch;
  };
  /// Changes launches, from the next run on. Throws what Kernel::capture throws, and changes nothing then.
  void update(std::vector<Update> updates);

  /// Enqueues all commands as one, after bringing the content that they read. Does not wait.
  /// @param queues as many as queues(), with the same devices and context
  /// Throws Error(CL_INVALID_OPERATION) if it is not executable, and what Queue::submit throws.
  Ref<Event> enqueue(const Queues& queues, std::span<const Ref<Event>> waits);

  /// clRemapCommandBufferKHR: a copy for other queues.
  /// @param to for each of queues() the position of the queue in `queues` that gets its commands
  /// @param check called with each command and the queue that it gets; throws Error if the device cannot run
  /// it
  /// @param handles this command buffer's; replaced by those of the copy, which the application has from then
  /// on
  Ref<CommandBuffer> remapped(Queues queues, std::span<const std::size_t> to,
                              const std::function<void(const RecordedCommand&, const Queue&)>& check,
                              std::vector<Ref<MutableCommand>>& handles);

 private:
  using Commands = Sections::Commands;

  /// A part of the commands as its worker knows it.
  struct Part {
    protocol::ObjectId id = next_id();
    bool defined = false;
    /// The accesses of its commands, as if they were one.
    std::vector<Access> accesses;
    bool accesses_known = false;
    std::vector<std::size_t> changed;  ///< commands whose changes the worker does not have
  };

  void abandoned() override;

  // The functions from here on are called under mutex_.
  cl_sync_point_khr add(std::size_t queue, RecordedCommand command, SyncPoints waits);
  /// Adds a command that follows these. @returns its number
  std::size_t add_after(std::size_t queue, RecordedCommand command, Commands before);
  /// @param bytes that another command adds
  void require_room(std::size_t bytes) const;
  /// The bytes of a command's record.
  static std::size_t size_of(const RecordedCommand& command, std::size_t waits);
  /// The commands that a command with this wait list follows.
  Commands all_of(std::size_t queue, SyncPoints waits) const;
  /// @returns a new sync point that stands for the completion of these.
  cl_sync_point_khr add_point(Commands commands);
  /// This command buffer's clone of the kernel: on the worker, nobody else sets its arguments.
  Kernel& own(Kernel& kernel);
  /// The launch of a kernel with its arguments. Throws as Kernel::capture does.
  RecordedCommand launch_of(const Queue& queue, Kernel& kernel, const NdRange& range);
  const std::vector<Access>& accesses_of(std::size_t section);
  /// Has the worker get what a section's commands need, before the run itself.
  void prepare_on_worker(std::size_t section);
  /// Adds the section's definition, or what has changed of it.
  void send_commands(std::size_t section, protocol::Batch& outbox);
  Ref<Event> run(std::size_t section, Queue& queue, const CommandInfo& command);

  const Queues queues_;
  const Traits traits_;
  std::atomic<bool> newer_form_{false};

  mutable std::mutex mutex_;
  bool finalised_ = false;
  std::vector<RecordedCommand> commands_;
  std::vector<std::size_t> queue_of_;  ///< of each command
  std::vector<Commands> before_;       ///< what each command follows
  std::size_t incomplete_ = 0;         ///< commands that lack arguments
  std::size_t bytes_ = 0;              ///< of all records
  Sections sections_;
  std::vector<Part> parts_;                          ///< of each section
  std::vector<Commands> points_;                     ///< what each sync point stands for; the first is 1
  Commands barrier_;                                 ///< all commands to come follow these
  Commands last_;                                    ///< those that no other command follows yet
  std::vector<std::optional<std::size_t>> last_on_;  ///< the last command of each queue
  std::vector<Ref<Kernel>> kernels_;                 ///< of own()
};

}  // namespace clique::icd
