#pragma once

#include <CL/cl.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "icd/common/object.hpp"
#include "icd/core/commands/submission.hpp"
#include "icd/core/commands/work.hpp"
#include "icd/core/division/launch_gate.hpp"
#include "icd/core/objects/access.hpp"
#include "icd/core/objects/memory.hpp"
#include "icd/core/objects/sampler.hpp"
#include "icd/core/programs/kernel_function.hpp"
#include "protocol/ids.hpp"
#include "protocol/messages/commands.hpp"
#include "protocol/payload.hpp"

namespace clique::protocol {
class Batch;
}

namespace clique::icd {

class Context;
class Device;
class Event;
class Program;
class Queue;
class Worker;
struct CombinedLaunches;
struct DividedPart;
struct Division;
struct MergedChange;
struct UsedBuffer;
struct UsedValues;

/// The index space of a launch, checked.
struct NdRange {
  /// 0: a single work-item, as clEnqueueTask launches it.
  cl_uint dimensions = 0;
  std::array<std::size_t, 3> offset{};
  std::array<std::size_t, 3> global{};
  /// {0, 0, 0}: the node's driver chooses.
  std::array<std::size_t, 3> local{};

  /// Whether there are no work-items. Such a launch only completes.
  bool empty() const;
  friend bool operator==(const NdRange&, const NdRange&) = default;
};

/// OpenCL 3.0, section 5.9: a function of a program, with its arguments. A worker gets the kernel with the
/// first launch there; each launch sends the arguments that have changed since the last one on that worker.
/// Any thread.
class Kernel final : public Object<_cl_kernel, Kind::Kernel, CL_INVALID_KERNEL> {
 public:
  Kernel(Ref<Program> program, std::shared_ptr<const KernelFunction> function);
  ~Kernel() override;
  /// clCloneKernel: another kernel with the same arguments.
  Ref<Kernel> clone() const;

  protocol::ObjectId id() const { return id_; }
  const Ref<Program>& program() const { return program_; }
  const Ref<Context>& context() const;
  const KernelFunction& function() const { return *function_; }
  /// The function on a device. Throws Error(CL_INVALID_PROGRAM_EXECUTABLE) if it was not built for the
  /// device.
  const KernelFunction::OnDevice& on(const Device& device) const;

  /// clSetKernelArg. Throws Error as the specification says, and then leaves the argument as it was.
  void set_arg(cl_uint index, std::size_t size, const void* value);
  /// clSetKernelArgSVMPointer. Throws as set_arg() does.
  void set_arg_svm(cl_uint index, const void* pointer);
  /// How an application says which allocations a kernel reaches other than through its arguments.
  enum class ReachedBy : std::uint8_t {
    SvmPointers,     ///< CL_KERNEL_EXEC_INFO_SVM_PTRS
    UsmPointers,     ///< CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL
    IndirectAccess,  ///< CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL: all device allocations
  };
  /// Sets the allocations that the kernel reaches. They replace those of the previous call for `by`, which is
  /// a list of pointers.
  void set_reached(ReachedBy by, std::span<const Ref<Memory>> allocations);
  /// Sets whether each launch reaches all device allocations that exist then.
  void set_indirect_access(bool any);
  /// Throws Error(CL_INVALID_KERNEL_ARGS) unless all arguments are set.
  void require_args() const;
  /// Whether all arguments are set.
  bool all_set() const;
  /// Bytes of local memory that the arguments ask for.
  cl_ulong local_args_size() const;

  /// Enqueues the kernel with its current arguments. Does not wait.
  /// @returns the event, if there is one.
  /// Throws Error: CL_INVALID_KERNEL_ARGS, CL_MISALIGNED_SUB_BUFFER_OFFSET, CL_INVALID_IMAGE_SIZE,
  /// CL_IMAGE_FORMAT_NOT_SUPPORTED, and what Queue::submit throws.
  Ref<Event> launch(Queue& queue, const NdRange& range, std::span<const Ref<Event>> waits, EventUse event);
  /// A launch that can be repeated any number of times. Its worker needs a kernel, whose id the caller puts
  /// into the message, and the samplers.
  struct Captured {
    Work<protocol::RunKernel> work;
    std::vector<Ref<Sampler>> samplers;
  };
  /// Captures a launch with the current arguments. Throws as launch() does if an argument does not fit the
  /// device.
  Captured capture(const Device& device, const NdRange& range);
  /// Creates the native object on the worker if it does not exist there.
  void ensure_on(Worker& worker);
  /// Asks the node for what only its driver knows (clGetKernelSubGroupInfo), and waits for the answer. Throws
  /// Error with the status that the driver returns.
  protocol::Bytes query(const Device& device, cl_uint name, std::span<const std::byte> input,
                        std::size_t answer_size);
  /// clGetKernelSuggestedLocalWorkSizeKHR. Waits and throws as query() does.
  /// @param suggested gets one size for each dimension of the range.
  void suggest_local_size(const Device& device, const NdRange& range, std::span<std::size_t> suggested);

 private:
  /// An argument. It keeps its objects alive so that a launch finds them. The exception are memory objects
  /// whose destruction the application can observe: they have to go when the application releases them
  /// (section 5.9.2: kernels shall not hold their arguments).
  struct Arg {
    protocol::KernelArg wire;
    cl_mem memory = nullptr;
    Ref<Memory> kept_memory;
    Ref<Sampler> sampler;
    std::uint64_t version = 0;  ///< of the change that set it; 0: not set
  };
  /// A checked value for an argument.
  struct Value {
    protocol::KernelArg::Kind kind = protocol::KernelArg::Value;
    std::uint64_t number = 0;
    std::span<const std::byte> bytes = {};
    Ref<Memory> memory = {};
    Ref<Sampler> sampler = {};
  };
  /// An allocation that set_reached() named. The kernel does not keep it alive.
  struct Reached {
    cl_mem memory;
    protocol::ObjectId id;
  };
  struct OnWorker {
    Worker* worker = nullptr;
    bool created = false;
    std::uint64_t version = 0;  ///< of the arguments that the worker has
  };
  /// The device that the arguments were last checked for.
  struct Checked {
    const Device* device = nullptr;
    std::uint64_t version = 0;
  };
  class Borrowed;

  void abandoned() override { detach(); }
  void detach();

  Value checked(const Parameter& parameter, std::size_t size, const void* value) const;
  Value checked_memory(const Parameter& parameter, const void* value) const;
  Value checked_sampler(const void* value) const;
  Value guessed(std::size_t size, const void* value) const;
  void set(cl_uint index, Value next);
  /// Throws Error(CL_INVALID_ARG_INDEX) unless there is such an argument.
  const Parameter& parameter(cl_uint index) const;

  // The functions from here on are called under mutex_.
  Ref<Kernel> clone_locked() const;
  static bool same(const Arg& arg, const Value& value);
  static std::uint64_t number_of(const Value& value);
  OnWorker& on(Worker& worker);
  void require_all_set() const;
  void replace_reached(ReachedBy by, std::span<const Ref<Memory>> allocations);
  /// Brings the allocations that the kernel reaches by indirect access up to date.
  void find_indirect();
  /// Adds references to the memory objects that the kernel does not keep, for one launch. Throws
  /// Error(CL_INVALID_KERNEL_ARGS) if an argument's object no longer exists. Drops allocations of
  /// set_reached() that no longer exist.
  void hold_memory(std::vector<Ref<Memory>>& held);
  /// Moves the references that the kernel must no longer keep to `released`.
  void let_go(std::vector<Ref<Memory>>& released);
  Access::Mode access_mode(std::size_t index) const;
  /// The caller keeps the objects alive.
  /// @param arguments gets the index of the argument of each access, or KernelUse::kNoArgument
  void list_uses(std::vector<Access>& accesses, std::vector<cl_uint>& arguments,
                 std::vector<protocol::ObjectId>& reached) const;
  void require_args_fit(const KernelFunction::OnDevice& on, std::span<const Access> accesses) const;
  bool uses_svm() const;
  /// What runs of a launch on one device.
  struct OnePart {
    protocol::LaunchPart items = {};
    std::vector<protocol::ExpectedAccess> expected = {};  ///< RunKernel::expected
  };
  /// Enqueues a part of a launch on one device, which uses these accesses.
  /// @param followed see Submission::is_followed_part
  Ref<Event> post_launch(Queue& queue, const NdRange& range, OnePart part, std::span<const Access> accesses,
                         std::span<const cl_uint> arguments, const CommandInfo& command, EventUse event,
                         bool followed = false);
  // Launches on combined devices: kernel_division.cpp.
  /// Enqueues a launch, divided among the device's members if it can be and that is faster.
  Ref<Event> launch_combined(Queue& queue, const NdRange& range, const CommandInfo& command, EventUse event);
  CombinedLaunches& combined_launches(const Device& device);
  /// Looks for the kernel's footprint. @returns whether it is known
  /// @param waits whether to wait for the node's description of the kernel
  bool know_footprint(CombinedLaunches& launches, bool waits);
  /// How a launch with the current arguments can be divided. Valid until the next call.
  const Division& division_of(CombinedLaunches& launches, const NdRange& range);
  /// @param members among which the launch is divided; 1: the division only says what it uses
  Division divide(const CombinedLaunches& launches, const NdRange& range, const UsedValues& values,
                  std::size_t members) const;
  /// The current arguments.
  UsedValues used_values() const;
  /// How the launch is divided; null: it runs whole.
  /// @param has_room whether one member has room for all buffers of the context; otherwise it is divided if
  /// that is possible, whether or not that is faster
  /// @param decision gets that of the gate, if it is asked
  /// @param why gets the reason if it runs whole
  const Division* chosen_division(CombinedLaunches& launches, const NdRange& range, bool has_room,
                                  GateDecision& decision, std::string& why);
  /// Enqueues a launch of sparse buffers that is not divided, on the first member: with what it uses of them,
  /// as far as that is known.
  /// @param why it is not divided
  Ref<Event> launch_without_room(Queue& queue, const NdRange& range, const CombinedLaunches& launches,
                                 const CommandInfo& command, const std::string& why);
  /// Whether a device has room for what the accesses are of sparse buffers.
  static bool has_room(const Device& device, std::span<const Access> accesses);
  /// Throws Error(CL_MEM_OBJECT_ALLOCATION_FAILURE) unless has_room().
  /// @param why the launch is not divided, or not further
  void require_room(const Device& device, std::span<const Access> accesses, const std::string& why) const;
  /// Why a launch runs whole whose parts would have to be merged; empty: what that needs is there.
  /// @param waits whether to wait for the compiler
  std::string obstacle_to_merging(const CombinedLaunches& launches, const Division& division,
                                  bool waits) const;
  std::vector<Access> accesses_of(const Division& division, std::size_t part) const;
  /// What a part is expected to access of each memory object, if the program checks that; otherwise nothing.
  std::vector<protocol::ExpectedAccess> expected_of(const Division& division, std::size_t part) const;
  /// Enqueues a part of a divided launch, which uses these accesses.
  Ref<Event> post_part(Queue& queue, const NdRange& range, const Division& division, std::size_t part,
                       std::span<const Access> accesses, const CommandInfo& command, bool followed);
  /// Enqueues a part of a launch that changes copies of the buffers that are merged.
  /// @param copies gets one for each of these buffers
  Ref<Event> post_on_copies(Queue& queue, const NdRange& range, const Division& division, std::size_t part,
                            const CommandInfo& command, std::vector<Ref<Memory>>& copies);
  /// Enqueues the merge of what a part has changed in a copy.
  /// @param queue of the first member
  Ref<Event> merge_copy(Queue& queue, std::size_t argument, const MergedChange& merged,
                        const Ref<Memory>& copy, const Ref<Event>& part);
  /// What the launch uses of which memory objects, and how many bytes of that the members lack for their
  /// parts, or write for others.
  /// @param division null: it runs whole
  std::vector<UsedContent> content_of(const Device& combined, const Division* division) const;
  /// Tells the gate what memory the launch uses.
  /// @returns whether other members hold content that the launch needs if it runs whole
  bool note_uses(CombinedLaunches& launches, const LaunchSize& size);
  void post(protocol::Batch& outbox, const protocol::Command& header, OnWorker& there,
            protocol::ObjectId program, const NdRange& range, OnePart part);

  const protocol::ObjectId id_ = next_id();
  const Ref<Program> program_;
  const std::shared_ptr<const KernelFunction> function_;
  std::atomic<bool> attached_{true};

  mutable std::mutex mutex_;
  std::vector<Arg> args_;
  std::size_t unset_;
  std::size_t not_kept_ = 0;                     ///< memory objects among the arguments
  std::uint64_t version_ = 0;                    ///< of the latest change of an argument, or of reached_
  std::array<std::vector<Reached>, 3> reached_;  ///< by ReachedBy
  bool any_indirect_ = false;
  std::uint64_t indirect_version_ = 0;  ///< SvmTable::version() of the allocations reached by indirect access
  std::vector<OnWorker> workers_;
  std::vector<Access> accesses_;
  std::vector<cl_uint> accesses_arguments_;
  std::uint64_t accesses_version_ = 0;
  Checked checked_;
  std::vector<std::unique_ptr<CombinedLaunches>> combined_;
  protocol::RunKernel message_;  ///< reused, for its memory
};

/// Checks that a device can use these ranges of memory objects: images of their formats and sizes, and
/// sub-buffers where they begin. Throws Error(CL_MISALIGNED_SUB_BUFFER_OFFSET), Error(CL_INVALID_IMAGE_SIZE),
/// Error(CL_IMAGE_FORMAT_NOT_SUPPORTED).
/// @param alignment bytes: LaunchLimits::alignment
void require_memory_fits(const Device& device, std::size_t alignment, std::span<const Access> accesses);

}  // namespace clique::icd
