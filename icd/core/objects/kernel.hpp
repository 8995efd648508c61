#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "icd/core/commands/queue.hpp"
#include "icd/core/objects/kernel_function.hpp"
#include "icd/core/objects/memory.hpp"
#include "icd/core/objects/object.hpp"
#include "icd/core/objects/program.hpp"
#include "icd/core/objects/sampler.hpp"

namespace clique::icd {

/// What clEnqueueNDRangeKernel runs over, checked.
struct NdRange {
  /// 0: one work-item, as clEnqueueTask has it.
  cl_uint dimensions = 0;
  std::array<std::size_t, 3> offset{};
  std::array<std::size_t, 3> global{};
  /// {0, 0, 0}: the node's driver chooses.
  std::array<std::size_t, 3> local{};

  /// No work-items: a command that does nothing.
  bool empty() const;
};

/// OpenCL 3.0, section 5.9: a function of a program with its arguments. It is on a worker once it runs there;
/// each launch brings the arguments that changed since the last one on that worker. Any thread.
class Kernel final : public Object<_cl_kernel, Kind::Kernel, CL_INVALID_KERNEL> {
 public:
  Kernel(Ref<Program> program, std::shared_ptr<const KernelFunction> function);
  ~Kernel() override;
  /// clCloneKernel: another kernel with the same arguments.
  Ref<Kernel> clone() const;

  protocol::ObjectId id() const { return id_; }
  const Ref<Program>& program() const { return program_; }
  const Ref<Context>& context() const { return program_->context(); }
  const KernelFunction& function() const { return *function_; }
  /// The function on a device. Throws Error(CL_INVALID_PROGRAM_EXECUTABLE) where it was not built for the
  /// device.
  const KernelFunction::OnDevice& on(const Device& device) const;

  /// clSetKernelArg. Throws what its clauses say; the argument then keeps its value.
  void set_arg(cl_uint index, std::size_t size, const void* value);
  /// clSetKernelArgSVMPointer, as set_arg().
  void set_arg_svm(cl_uint index, const void* pointer);
  /// CL_KERNEL_EXEC_INFO_SVM_PTRS: the allocations that launches reach otherwise than by arguments, instead
  /// of those named before.
  void set_reached(std::span<const Ref<Memory>> allocations);
  /// Throws Error(CL_INVALID_KERNEL_ARGS) unless all arguments are set.
  void require_args() const;
  /// Bytes of local memory that arguments ask for.
  cl_ulong local_args_size() const;

  /// Enqueues the kernel with its arguments as they are now. Does not wait.
  /// @returns the event where `report`.
  /// Throws Error: CL_INVALID_KERNEL_ARGS, CL_MISALIGNED_SUB_BUFFER_OFFSET, CL_INVALID_IMAGE_SIZE,
  /// CL_IMAGE_FORMAT_NOT_SUPPORTED, and what Queue::submit throws.
  Ref<Event> launch(Queue& queue, const NdRange& range, std::span<const Ref<Event>> waits, bool report);
  /// A launch for later, any number of times. On the worker it needs a kernel whose id the message lacks, and
  /// the samplers.
  struct Captured {
    Work<protocol::RunKernel> work;
    std::vector<Ref<Sampler>> samplers;
  };
  /// The launch with all arguments as they are now. Throws as launch() does for what does not fit.
  Captured capture(const Device& device, const NdRange& range);
  /// Makes the native object on the worker where there is none yet.
  void ensure_on(Worker& worker);
  /// What only the node knows (clGetKernelSubGroupInfo). Waits for it. Throws Error with what its driver
  /// answers.
  protocol::Bytes query(const Device& device, cl_uint name, std::span<const std::byte> input,
                        std::size_t answer_size);
  /// clGetKernelSuggestedLocalWorkSizeKHR, as query(). @param suggested one size for each dimension of the
  /// range.
  void suggest_local_size(const Device& device, const NdRange& range, std::span<std::size_t> suggested);

 private:
  /// An argument. Its objects are kept alive so that a launch does not meet one that is gone. Not so memory
  /// objects whose end the application can see: it has to come when the application lets go of them (section
  /// 5.9.2: kernels shall not hold their arguments).
  struct Arg {
    protocol::KernelArg wire;
    cl_mem memory = nullptr;
    Ref<Memory> kept_memory;
    Ref<Sampler> sampler;
    std::uint64_t version = 0;  ///< of the change that set it; 0: not set
  };
  /// What clSetKernelArg gives, checked.
  struct Value {
    protocol::KernelArg::Kind kind = protocol::KernelArg::Value;
    std::uint64_t number = 0;
    std::span<const std::byte> bytes = {};
    Ref<Memory> memory = {};
    Ref<Sampler> sampler = {};
  };
  /// An allocation that the kernel does not keep.
  struct Reached {
    cl_mem memory;
    protocol::ObjectId id;
  };
  struct OnWorker {
    Worker* worker = nullptr;
    bool created = false;
    std::uint64_t version = 0;  ///< of the arguments that it has
  };
  /// The latest device that the arguments were found to be right for.
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

  // Under mutex_.
  static bool same(const Arg& arg, const Value& value);
  static std::uint64_t number_of(const Value& value);
  OnWorker& on(Worker& worker);
  /// The memory objects that are not kept, for one launch. Throws Error(CL_INVALID_KERNEL_ARGS) where one is
  /// gone; allocations that were only named are then forgotten.
  void hold_memory(std::vector<Ref<Memory>>& held);
  /// Hands over what is kept and must not be.
  void let_go(std::vector<Ref<Memory>>& released);
  Access::Mode access_mode(std::size_t index) const;
  /// The objects are alive.
  void list_uses(std::vector<Access>& accesses, std::vector<protocol::ObjectId>& reached) const;
  void require_args_fit(const KernelFunction::OnDevice& on, std::span<const Access> accesses) const;
  bool uses_svm() const;
  void post(protocol::Batch& outbox, const protocol::Command& header, OnWorker& there,
            protocol::ObjectId program, const NdRange& range);

  const protocol::ObjectId id_ = next_id();
  const Ref<Program> program_;
  const std::shared_ptr<const KernelFunction> function_;
  std::atomic<bool> attached_{true};

  mutable std::mutex mutex_;
  std::vector<Arg> args_;
  std::size_t unset_;
  std::size_t not_kept_ = 0;   ///< memory objects
  std::uint64_t version_ = 0;  ///< of the latest change of an argument, or of reached_
  std::vector<Reached> reached_;
  std::vector<OnWorker> workers_;
  std::vector<Access> accesses_;
  std::uint64_t accesses_version_ = 0;
  Checked checked_;
  protocol::RunKernel message_;  ///< kept for its memory
};

}  // namespace clique::icd
