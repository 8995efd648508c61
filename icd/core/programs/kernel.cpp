#include "icd/core/programs/kernel.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "icd/core/objects/context.hpp"
#include "icd/core/objects/image.hpp"
#include "icd/core/objects/sampler.hpp"
#include "icd/core/programs/combined_launches.hpp"
#include "icd/core/programs/program.hpp"
#include "icd/core/workers/worker.hpp"
#include "icd/remote/link/link.hpp"
#include "icd/remote/nodes/nodes.hpp"
#include "protocol/batch.hpp"
#include "protocol/messages.hpp"

namespace clique::icd {

namespace {

using protocol::KernelArg;

template <typename Handle>
Handle handle_at(const void* value) {
  Handle handle{};
  // A handle is a pointer, and its own size is meant: NOLINTNEXTLINE(bugprone-sizeof-expression)
  if (value != nullptr) std::memcpy(&handle, value, sizeof handle);
  return handle;
}

}  // namespace

Kernel::Kernel(Ref<Program> program, std::shared_ptr<const KernelFunction> function)
    : program_(std::move(program)),
      function_(std::move(function)),
      args_(function_->parameters.size()),
      unset_(args_.size()) {
  for (std::size_t i = 0; i < args_.size(); ++i) args_[i].wire.index = static_cast<std::uint32_t>(i);
  message_.kernel = id_;
  program_->attach();
}

Kernel::~Kernel() {
  for (const OnWorker& on : workers_)
    if (on.created) on.worker->release_object(id_);
  detach();
}

const Ref<Context>& Kernel::context() const {
  return program_->context();
}

void Kernel::detach() {
  if (attached_.exchange(false)) program_->detach();
}

Ref<Kernel> Kernel::clone() const {
  const std::lock_guard lock(mutex_);
  return clone_locked();
}

Ref<Kernel> Kernel::clone_locked() const {
  Ref<Kernel> copy(new Kernel(program_, function_));
  copy->args_ = args_;
  copy->unset_ = unset_;
  copy->not_kept_ = not_kept_;
  copy->version_ = version_;
  copy->reached_ = reached_;
  copy->any_indirect_ = any_indirect_;
  copy->indirect_version_ = indirect_version_;
  return copy;
}

const KernelFunction::OnDevice& Kernel::on(const Device& device) const {
  const KernelFunction::OnDevice* found = function_->on(device);
  if (found == nullptr)
    throw Error(CL_INVALID_PROGRAM_EXECUTABLE, "the program of kernel ", function_->name,
                " was not built for device ", device.text(CL_DEVICE_NAME));
  return *found;
}

Kernel::Value Kernel::checked_memory(const Parameter& parameter, const void* value) const {
  const auto handle = handle_at<cl_mem>(value);
  if (parameter.kind == Parameter::Pointer && handle == nullptr) return {.kind = KernelArg::NullObject};
  Value checked{.kind = KernelArg::Object, .memory = get<Memory>(handle)};
  const Memory& memory = *checked.memory;
  require(memory.context() == context(), CL_INVALID_MEM_OBJECT,
          "the memory object belongs to another context than the kernel");
  if (parameter.kind == Parameter::Image) {
    // The specification leaves the code open. This one is NVIDIA's, and the conformance tests expect it.
    require(memory.is_image(), CL_INVALID_MEM_OBJECT, "a buffer for an argument that is an image");
    require(parameter.image_type == 0 || parameter.image_type == memory.type(), CL_INVALID_ARG_VALUE,
            "the image has type ", Hex{memory.type()}, "; the argument takes type ",
            Hex{parameter.image_type});
    require(parameter.access != CL_KERNEL_ARG_ACCESS_READ_ONLY || (memory.flags() & CL_MEM_WRITE_ONLY) == 0,
            CL_INVALID_ARG_VALUE, "the image was created write-only; the argument is read_only");
    require(parameter.access != CL_KERNEL_ARG_ACCESS_WRITE_ONLY || (memory.flags() & CL_MEM_READ_ONLY) == 0,
            CL_INVALID_ARG_VALUE, "the image was created read-only; the argument is write_only");
  } else {
    require(!memory.is_image(), CL_INVALID_ARG_VALUE, "an image for an argument that is a pointer");
  }
  checked.number = memory.id();
  return checked;
}

Kernel::Value Kernel::checked_sampler(const void* value) const {
  Value checked{.kind = KernelArg::Object, .sampler = get<Sampler>(handle_at<cl_sampler>(value))};
  require(checked.sampler->context() == context(), CL_INVALID_SAMPLER,
          "the sampler belongs to another context than the kernel");
  checked.number = checked.sampler->id();
  return checked;
}

/// For a parameter whose type only the driver knows. A value that looks like a live handle of this process is
/// taken for that handle.
Kernel::Value Kernel::guessed(std::size_t size, const void* value) const {
  if (value == nullptr) return {.kind = KernelArg::Local, .number = size};
  if (size == sizeof(cl_mem)) {
    if (const auto memory = find<Memory>(handle_at<cl_mem>(value)))
      return {.kind = KernelArg::Object, .number = memory->id(), .memory = memory};
    if (find<Sampler>(handle_at<cl_sampler>(value))) return checked_sampler(value);
  }
  return {.bytes = {static_cast<const std::byte*>(value), size}};
}

Kernel::Value Kernel::checked(const Parameter& parameter, std::size_t size, const void* value) const {
  switch (parameter.kind) {
    case Parameter::Pointer:
    case Parameter::Image:
      require(size == sizeof(cl_mem), CL_INVALID_ARG_SIZE, "arg_size is ", size,
              "; the argument takes a cl_mem, which has ", sizeof(cl_mem), " bytes");
      return checked_memory(parameter, value);
    case Parameter::Sampler:
      require(size == sizeof(cl_sampler), CL_INVALID_ARG_SIZE, "arg_size is ", size,
              "; the argument takes a cl_sampler, which has ", sizeof(cl_sampler), " bytes");
      return checked_sampler(value);
    case Parameter::Any:
      require(size == parameter.size, CL_INVALID_ARG_SIZE, "arg_size is ", size, "; the argument has ",
              parameter.size, " bytes");
      if (value == nullptr) return {.kind = KernelArg::NullObject};
      if (find<Memory>(handle_at<cl_mem>(value))) return checked_memory(parameter, value);
      return {.bytes = {static_cast<const std::byte*>(value), size}};
    case Parameter::Local:
      require(size != 0, CL_INVALID_ARG_SIZE, "arg_size is 0 for an argument in local memory");
      require(value == nullptr, CL_INVALID_ARG_VALUE,
              "arg_value has to be NULL for an argument in local memory");
      return {.kind = KernelArg::Local, .number = size};
    case Parameter::DeviceQueue:
      throw Error(CL_INVALID_DEVICE_QUEUE, "the argument is a device queue, which Clique does not support");
    case Parameter::Pipe:
      throw Error(CL_INVALID_MEM_OBJECT, "the argument is a pipe, which Clique does not support");
    case Parameter::Value:
      require(parameter.size == 0 ? size != 0 : size == parameter.size, CL_INVALID_ARG_SIZE, "arg_size is ",
              size, "; the argument's type has ", parameter.size == 0 ? std::size_t{1} : parameter.size,
              parameter.size == 0 ? " byte at least" : " bytes");
      require(value != nullptr, CL_INVALID_ARG_VALUE, "arg_value is NULL for an argument that takes a value");
      if (parameter.size == 0) return guessed(size, value);
      return {.bytes = {static_cast<const std::byte*>(value), size}};
    default:
      require(size != 0, CL_INVALID_ARG_SIZE, "arg_size is 0");
      return guessed(size, value);
  }
}

bool Kernel::same(const Arg& arg, const Value& value) {
  return arg.version != 0 && arg.wire.kind == value.kind && arg.wire.number == value.number &&
         arg.wire.value.size() == value.bytes.size() &&
         (value.bytes.empty() ||
          std::memcmp(arg.wire.value.data(), value.bytes.data(), value.bytes.size()) == 0);
}

const Parameter& Kernel::parameter(cl_uint index) const {
  require(index < args_.size(), CL_INVALID_ARG_INDEX, "arg_index is ", index, "; kernel ", function_->name,
          " has ", args_.size(), " arguments");
  return function_->parameters[index];
}

void Kernel::set_arg(cl_uint index, std::size_t size, const void* value) {
  set(index, checked(parameter(index), size, value));
}

void Kernel::set_arg_svm(cl_uint index, const void* pointer) {
  const Parameter::Class kind = parameter(index).kind;
  require(kind == Parameter::Pointer || kind == Parameter::Any || kind == Parameter::Unknown,
          CL_INVALID_ARG_VALUE, "the argument is not a pointer");
  if (pointer == nullptr) return set(index, {.kind = KernelArg::NullObject});
  const SvmPointer svm = context()->svm().find(pointer);
  require(static_cast<bool>(svm), CL_INVALID_ARG_VALUE,
          "arg_value does not point into shared virtual memory of this context");
  const std::uint64_t offset = svm.offset;
  set(index, {.kind = KernelArg::Pointer,
              .number = svm.allocation->id(),
              .bytes = std::as_bytes(std::span(&offset, 1)),
              .memory = svm.allocation});
}

void Kernel::set_reached(ReachedBy by, std::span<const Ref<Memory>> allocations) {
  const std::lock_guard lock(mutex_);
  replace_reached(by, allocations);
}

void Kernel::replace_reached(ReachedBy by, std::span<const Ref<Memory>> allocations) {
  std::vector<Reached>& list = reached_[static_cast<std::size_t>(by)];
  list.clear();
  for (const Ref<Memory>& allocation : allocations) list.push_back({allocation.get(), allocation->id()});
  ++version_;
}

void Kernel::set_indirect_access(bool any) {
  const std::lock_guard lock(mutex_);
  any_indirect_ = any;
  indirect_version_ = 0;
  if (!any) replace_reached(ReachedBy::IndirectAccess, {});
}

void Kernel::set(cl_uint index, Value next) {
  Ref<Memory> previous;  // outlives the lock: releasing an object may call back into the application
  const std::lock_guard lock(mutex_);
  Arg& arg = args_[index];
  if (same(arg, next)) return;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(next.bytes.data());
  arg.wire.value.assign(bytes, bytes + next.bytes.size());
  arg.wire.kind = next.kind;
  arg.wire.number = next.number;
  if (arg.memory != nullptr && !arg.kept_memory) --not_kept_;
  arg.memory = next.memory.get();
  if (next.memory && next.memory->outlives_commands()) {
    previous = std::exchange(arg.kept_memory, nullptr);
    ++not_kept_;
  } else {
    std::swap(arg.kept_memory, next.memory);
  }
  std::swap(arg.sampler, next.sampler);
  if (arg.version == 0) --unset_;
  arg.version = ++version_;
}

void Kernel::require_all_set() const {
  require(unset_ == 0, CL_INVALID_KERNEL_ARGS, unset_, " of ", args_.size(), " arguments of kernel ",
          function_->name, " are not set");
}

void Kernel::require_args() const {
  const std::lock_guard lock(mutex_);
  require_all_set();
}

bool Kernel::all_set() const {
  const std::lock_guard lock(mutex_);
  return unset_ == 0;
}

cl_ulong Kernel::local_args_size() const {
  const std::lock_guard lock(mutex_);
  cl_ulong size = 0;
  for (const Arg& arg : args_)
    if (arg.version != 0 && arg.wire.kind == KernelArg::Local) size += arg.wire.number;
  return size;
}

Kernel::OnWorker& Kernel::on(Worker& worker) {
  const auto found = std::find_if(workers_.begin(), workers_.end(),
                                  [&](const OnWorker& on) { return on.worker == &worker; });
  if (found != workers_.end()) return *found;
  return workers_.emplace_back(OnWorker{&worker});
}

void Kernel::ensure_on(Worker& worker) {
  const std::lock_guard lock(mutex_);
  OnWorker& there = on(worker);
  if (!there.created)
    worker.link().post(protocol::CreateKernel{id_, program_->id_on(worker), function_->name});
  there.created = true;
}

protocol::Bytes Kernel::query(const Device& device, cl_uint name, std::span<const std::byte> input,
                              std::size_t answer_size) {
  Worker& worker = device.worker();
  ensure_on(worker);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(input.data());
  auto answer = worker.link().request<protocol::WorkGroupAnswer>(
      protocol::QueryWorkGroup{0, id_, device.id(), name, {bytes, bytes + input.size()}, answer_size},
      Link::kAnswerTimeout);
  require(answer.status == CL_SUCCESS, answer.status, "the driver of node ", worker.node().name(),
          " refused the query");
  return std::move(answer.value);
}

void Kernel::suggest_local_size(const Device& device, const NdRange& range,
                                std::span<std::size_t> suggested) {
  std::vector<std::uint64_t> input(range.offset.begin(), range.offset.begin() + range.dimensions);
  input.insert(input.end(), range.global.begin(), range.global.begin() + range.dimensions);
  const auto answer = query(device, protocol::QueryWorkGroup::kSuggestedLocalSize,
                            std::as_bytes(std::span(input)), suggested.size_bytes());
  require(answer.size() == suggested.size_bytes(), CL_OUT_OF_RESOURCES, "the answer of node ",
          device.worker().node().name(), " has ", answer.size(), " bytes instead of ",
          suggested.size_bytes());
  std::memcpy(suggested.data(), answer.data(), answer.size());
}

}  // namespace clique::icd
