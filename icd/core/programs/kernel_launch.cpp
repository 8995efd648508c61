// Launching kernels, and capturing launches for command buffers.
#include <algorithm>
#include <utility>

#include "icd/core/commands/queue.hpp"
#include "icd/core/objects/context.hpp"
#include "icd/core/objects/image.hpp"
#include "icd/core/objects/sampler.hpp"
#include "icd/core/programs/kernel.hpp"
#include "icd/core/programs/program.hpp"
#include "icd/core/workers/worker.hpp"
#include "protocol/batch.hpp"
#include "protocol/messages.hpp"

namespace clique::icd {

using protocol::KernelArg;

namespace {

void assign(std::vector<std::uint64_t>& to, const std::array<std::size_t, 3>& from, cl_uint dimensions) {
  const bool given =
      std::any_of(from.begin(), from.begin() + dimensions, [](std::size_t x) { return x != 0; });
  to.assign(from.begin(), from.begin() + (given ? dimensions : 0));
}

void require_size_fits(const Image& image, const Device& device) {
  const cl_image_desc& desc = image.desc();
  const auto within = [&](std::size_t size, cl_device_info limit) {
    const auto most = device.value<std::size_t>(limit);
    require(size <= most, CL_INVALID_IMAGE_SIZE, "an image argument has the extent ", size,
            "; the device supports at most ", most, " in that dimension");
  };
  switch (desc.image_type) {
    case CL_MEM_OBJECT_IMAGE1D_BUFFER:
      return within(desc.image_width, CL_DEVICE_IMAGE_MAX_BUFFER_SIZE);
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
      within(desc.image_array_size, CL_DEVICE_IMAGE_MAX_ARRAY_SIZE);
      return within(desc.image_width, CL_DEVICE_IMAGE2D_MAX_WIDTH);
    case CL_MEM_OBJECT_IMAGE1D:
      return within(desc.image_width, CL_DEVICE_IMAGE2D_MAX_WIDTH);
    case CL_MEM_OBJECT_IMAGE2D_ARRAY:
      within(desc.image_array_size, CL_DEVICE_IMAGE_MAX_ARRAY_SIZE);
      [[fallthrough]];
    case CL_MEM_OBJECT_IMAGE2D:
      within(desc.image_width, CL_DEVICE_IMAGE2D_MAX_WIDTH);
      return within(desc.image_height, CL_DEVICE_IMAGE2D_MAX_HEIGHT);
    default:
      within(desc.image_width, CL_DEVICE_IMAGE3D_MAX_WIDTH);
      within(desc.image_height, CL_DEVICE_IMAGE3D_MAX_HEIGHT);
      return within(desc.image_depth, CL_DEVICE_IMAGE3D_MAX_DEPTH);
  }
}

void require_format_fits(const Image& image, const Device& device) {
  constexpr cl_mem_flags kAccess = CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY | CL_MEM_READ_WRITE;
  const cl_mem_flags access = (image.flags() & kAccess) != 0 ? image.flags() & kAccess : CL_MEM_READ_WRITE;
  const auto formats = device.image_formats(access, image.type());
  const std::array<std::uint32_t, 2> format{image.format().image_channel_order,
                                            image.format().image_channel_data_type};
  require(std::find(formats.begin(), formats.end(), format) != formats.end(), CL_IMAGE_FORMAT_NOT_SUPPORTED,
          "the device does not support the format of an image argument: channel order ", Hex{format[0]},
          ", channel type ", Hex{format[1]});
}

/// The uses of sparse buffers among the accesses.
std::vector<protocol::SparseUse> sparse_uses(std::span<const Access> accesses) {
  std::vector<protocol::SparseUse> uses;
  for (const Access& access : accesses) {
    if (!access.memory->sparse()) continue;
    auto use = std::find_if(uses.begin(), uses.end(), [&](const protocol::SparseUse& known) {
      return known.buffer == access.memory->id();
    });
    if (use == uses.end()) use = uses.insert(use, {access.memory->id(), {}});
    if (access.size != 0) use->ranges.push_back({access.begin, access.size});
  }
  return uses;
}

}  // namespace

bool NdRange::empty() const {
  return std::any_of(global.begin(), global.begin() + dimensions, [](std::size_t size) { return size == 0; });
}

/// Moves the wire forms of the changed arguments into a message, and back when it goes out of scope.
class Kernel::Borrowed {
 public:
  Borrowed(std::vector<Arg>& args, std::vector<KernelArg>& message, std::uint64_t since)
      : args_(args), message_(message) {
    message_.reserve(args_.size());
    for (Arg& arg : args_)
      if (arg.version > since) message_.push_back(std::move(arg.wire));
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  ~Borrowed() {
    for (KernelArg& wire : message_) args_[wire.index].wire = std::move(wire);
    message_.clear();
  }

 private:
  std::vector<Arg>& args_;
  std::vector<KernelArg>& message_;
};

void Kernel::find_indirect() {
  if (!any_indirect_) return;
  const std::uint64_t now = context()->svm().version();
  if (indirect_version_ == now) return;
  replace_reached(ReachedBy::IndirectAccess, context()->svm().device_allocations());
  indirect_version_ = now;
}

void Kernel::hold_memory(std::vector<Ref<Memory>>& held) {
  find_indirect();
  for (std::vector<Reached>& list : reached_) {
    const auto gone = std::erase_if(list, [&](const Reached& named) {
      Ref<Memory> memory = find<Memory>(named.memory);
      const bool there = memory && memory->id() == named.id;
      if (there) held.push_back(std::move(memory));
      return !there;
    });
    if (gone != 0) ++version_;
  }
  if (not_kept_ == 0) return;
  for (const Arg& arg : args_) {
    if (arg.memory == nullptr || arg.kept_memory) continue;
    // The handle may meanwhile belong to another object.
    held.push_back(find<Memory>(arg.memory));
    require(held.back() && held.back()->id() == arg.wire.number, CL_INVALID_KERNEL_ARGS,
            "the memory object of argument ", arg.wire.index, " has been released");
  }
}

void Kernel::let_go(std::vector<Ref<Memory>>& released) {
  for (Arg& arg : args_) {
    if (!arg.kept_memory || !arg.kept_memory->outlives_commands()) continue;
    released.push_back(std::exchange(arg.kept_memory, nullptr));
    ++not_kept_;
  }
}

Access::Mode Kernel::access_mode(std::size_t index) const {
  const Memory& memory = *static_cast<Memory*>(args_[index].memory);
  const bool read_only = function_->parameters[index].read_only || (memory.flags() & CL_MEM_READ_ONLY) != 0;
  return read_only ? Access::Read : Access::ReadWrite;
}

void Kernel::list_uses(std::vector<Access>& accesses, std::vector<cl_uint>& arguments,
                       std::vector<protocol::ObjectId>& reached) const {
  accesses.clear();
  arguments.clear();
  for (std::size_t i = 0; i < args_.size(); ++i) {
    if (args_[i].memory == nullptr) continue;
    accesses.push_back(Access::all(*static_cast<Memory*>(args_[i].memory), access_mode(i)));
    arguments.push_back(static_cast<cl_uint>(i));
  }
  reached.clear();
  for (const std::vector<Reached>& list : reached_) {
    for (const Reached& named : list) {
      if (std::find(reached.begin(), reached.end(), named.id) != reached.end()) continue;
      auto& memory = *static_cast<Memory*>(named.memory);
      const bool read_only = (memory.flags() & CL_MEM_READ_ONLY) != 0;
      accesses.push_back(Access::all(memory, read_only ? Access::Read : Access::ReadWrite));
      arguments.push_back(KernelUse::kNoArgument);
      reached.push_back(named.id);
    }
  }
}

bool Kernel::uses_svm() const {
  const auto reaches = [](const std::vector<Reached>& list) { return !list.empty(); };
  return std::any_of(reached_.begin(), reached_.end(), reaches) ||
         std::any_of(args_.begin(), args_.end(),
                     [](const Arg& arg) { return arg.version != 0 && arg.wire.kind == KernelArg::Pointer; });
}

void Kernel::require_args_fit(const KernelFunction::OnDevice& on, std::span<const Access> accesses) const {
  if (uses_svm() && !on.device->has_svm())
    throw Error(CL_INVALID_OPERATION, "the kernel uses shared virtual memory, which device ",
                on.device->text(CL_DEVICE_NAME), " does not support");
  require_memory_fits(*on.device, on.limits.alignment, accesses);
}

void require_memory_fits(const Device& device, std::size_t alignment, std::span<const Access> accesses) {
  for (const Access& access : accesses) {
    const Memory& memory = *access.memory;
    if (!memory.is_image()) {
      require(memory.origin() % alignment == 0, CL_MISALIGNED_SUB_BUFFER_OFFSET,
              "a sub-buffer begins at byte ", memory.origin(), "; the device requires a multiple of ",
              alignment);
    } else if (memory.context()->devices().size() > 1) {
      const auto& image = static_cast<const Image&>(memory);
      require_size_fits(image, device);
      require_format_fits(image, device);
    }
  }
}

void Kernel::post(protocol::Batch& outbox, const protocol::Command& header, OnWorker& there,
                  protocol::ObjectId program, const NdRange& range, OnePart part) {
  if (!there.created) outbox.add(protocol::CreateKernel{id_, program, function_->name});
  there.created = true;
  message_.command = header;
  assign(message_.offset, range.offset, range.dimensions);
  assign(message_.global, range.global, range.dimensions);
  assign(message_.local, range.local, range.dimensions);
  message_.part = part.items;
  message_.expected = std::move(part.expected);
  const Borrowed changed(args_, message_.args, there.version);
  outbox.add(message_);
  there.version = version_;
}

Ref<Event> Kernel::post_launch(Queue& queue, const NdRange& range, OnePart part,
                               std::span<const Access> accesses, std::span<const cl_uint> arguments,
                               const CommandInfo& command, EventUse event, bool followed) {
  Worker& worker = queue.worker();
  OnWorker& there = on(worker);
  const protocol::ObjectId program = there.created ? 0 : program_->id_on(worker);
  for (const Arg& arg : args_)
    if (arg.sampler && arg.version > there.version) arg.sampler->ensure_on(worker);
  message_.sparse.clear();
  if (context()->has_sparse_memory()) message_.sparse = sparse_uses(accesses);
  return queue.submit({.command = command,
                       .accesses = accesses,
                       .event = event,
                       .is_followed_part = followed,
                       .kernel = {function_.get(), arguments}},
                      [&](protocol::Batch& outbox, const protocol::Command& header) {
                        post(outbox, header, there, program, range, std::move(part));
                      });
}

Ref<Event> Kernel::launch(Queue& queue, const NdRange& range, std::span<const Ref<Event>> waits,
                          EventUse event) {
  const cl_command_type type = range.dimensions == 0 ? CL_COMMAND_TASK : CL_COMMAND_NDRANGE_KERNEL;
  const KernelFunction::OnDevice& on_device = on(*queue.device());
  // Released after the lock, since that may call back into the application.
  std::vector<Ref<Memory>> held;
  // Locked until the command is in the outbox: it has to carry the arguments that the worker lacks at that
  // moment.
  const std::lock_guard lock(mutex_);
  require_all_set();
  hold_memory(held);
  if (accesses_version_ != version_) {
    list_uses(accesses_, accesses_arguments_, message_.reached);
    accesses_version_ = version_;
  }
  if (checked_.device != on_device.device.get() || checked_.version != version_) {
    require_args_fit(on_device, accesses_);
    checked_ = {on_device.device.get(), version_};
  }
  if (range.empty()) return queue.nothing({type, waits}, event);
  const CommandInfo command{type, waits};
  if (context()->has_sparse_memory() && !queue.device()->is_combined())
    require_room(*queue.device(), accesses_, "launches on one device are not divided");
  Ref<Event> launched = queue.device()->is_combined()
                            ? launch_combined(queue, range, command, event)
                            : post_launch(queue, range, {}, accesses_, accesses_arguments_, command, event);
  let_go(held);
  return launched;
}

Kernel::Captured Kernel::capture(const Device& device, const NdRange& range) {
  const KernelFunction::OnDevice& on_device = on(device);
  Captured captured{{.type = CL_COMMAND_NDRANGE_KERNEL, .empty = range.empty()}, {}};
  auto& [type, message, uses, memory, empty] = captured.work;
  const std::lock_guard lock(mutex_);
  require_all_set();
  hold_memory(memory);
  std::vector<cl_uint> arguments;
  list_uses(uses, arguments, message.reached);
  require_args_fit(on_device, uses);
  require_not_sparse(uses);
  assign(message.offset, range.offset, range.dimensions);
  // An empty range stays one: without a size, it would be a task.
  message.global.assign(range.global.begin(), range.global.begin() + range.dimensions);
  assign(message.local, range.local, range.dimensions);
  for (const Arg& arg : args_) {
    message.args.push_back(arg.wire);
    if (arg.kept_memory) memory.push_back(arg.kept_memory);
    if (arg.sampler) captured.samplers.push_back(arg.sampler);
  }
  return captured;
}

}  // namespace clique::icd
