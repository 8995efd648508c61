// Kernels: their arguments, what they are asked for, and their launches.
#include <algorithm>
#include <cstring>

#include "daemon/backend/cuda/cuda_backend.hpp"

namespace clique::daemon::cuda {

namespace {

using compiler::ArgKind;
using compiler::Hidden;

/// Work-items of a sub-group: a warp.
constexpr std::size_t kSubGroup = 32;
/// Grids that one command may become.
constexpr std::size_t kMostGrids = 4096;
/// cl_intel_required_subgroup_size.
constexpr cl_uint kCompileSubGroupSize = 0x410A;

/// What kernels print through CUDA's own printf, the driver writes while somebody synchronises.
void have_driver_print() {
  CUstream stream = nullptr;
  if (driver().StreamCreate(&stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS) return;
  static_cast<void>(driver().StreamSynchronize(stream));
  static_cast<void>(driver().StreamDestroy(stream));
}

template <typename T>
void append(protocol::Bytes& bytes, const T& value) {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof value);
}

template <typename T>
std::vector<T> numbers_in(const protocol::Bytes& bytes) {
  std::vector<T> result(bytes.size() / sizeof(T));
  if (!result.empty()) std::memcpy(result.data(), bytes.data(), result.size() * sizeof(T));
  return result;
}

NdRange range_of(const std::vector<std::uint64_t>& offset, const std::vector<std::uint64_t>& global) {
  NdRange range;
  // clEnqueueTask has no range: one work-item.
  range.dimensions = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(global.size()));
  std::copy(offset.begin(), offset.end(), range.offset.begin());
  std::copy(global.begin(), global.end(), range.global.begin());
  return range;
}

}  // namespace

void CudaBackend::handle(protocol::CreateKernel&& message) {
  create(kernels_, message.id, [&] {
    const auto program = programs_.get(message.program);
    builds_.wait(*program);
    if (!program->module)
      throw ClError(program->status != CL_SUCCESS ? program->status : CL_INVALID_PROGRAM_EXECUTABLE,
                    "the kernel's program has not been built");
    auto kernel = std::make_shared<Kernel>();
    kernel->module = program->module;
    kernel->function = kernel->module->find(message.name);
    if (kernel->function == nullptr)
      throw ClError(CL_INVALID_KERNEL_NAME, "the program has no kernel '" + message.name + "'");
    kernel->parameters.resize(kernel->function->kernel.params_size);
    kernel->args.resize(kernel->function->kernel.args.size());
    return kernel;
  });
}

void CudaBackend::set_arg(Kernel& kernel, const protocol::KernelArg& arg) {
  if (arg.index >= kernel.args.size())
    throw RuleBroken("argument " + std::to_string(arg.index) + " of a kernel with " +
                     std::to_string(kernel.args.size()));
  const compiler::Arg& known = kernel.function->kernel.args[arg.index];
  Kernel::Arg& kept = kernel.args[arg.index];
  // Until it is set, there is nothing that may be used.
  kept = {};
  const auto put = [&](const void* value, std::size_t size) {
    if (size != known.size) throw ClError(CL_INVALID_ARG_SIZE, "an argument of a wrong size");
    std::memcpy(kernel.parameters.data() + known.offset, value, size);
  };
  const auto require = [](bool condition) {
    if (!condition) throw ClError(CL_INVALID_ARG_VALUE, "an argument of a wrong kind");
  };
  const bool pointer =
      known.kind == ArgKind::Global || known.kind == ArgKind::Constant || known.kind == ArgKind::Any;
  switch (arg.kind) {
    case protocol::KernelArg::Value:
      require(known.kind == ArgKind::Value || known.kind == ArgKind::Any);
      put(arg.value.data(), arg.value.size());
      break;
    case protocol::KernelArg::Local:
      require(compiler::is_local(known.kind));
      kept.local_size = arg.number;
      break;
    case protocol::KernelArg::NullObject: {
      require(pointer);
      const CUdeviceptr null = 0;
      put(&null, sizeof null);
      break;
    }
    case protocol::KernelArg::Object:
      kept.object = true;
      if (samplers_.contains(arg.number)) {
        const auto& sampler = samplers_.get(arg.number);
        require(known.kind == ArgKind::Sampler);
        put(&sampler->number, sizeof sampler->number);
        kept.target = sampler;
      } else {
        const auto& memory = memory_.get(arg.number);
        require(memory->image ? known.kind == ArgKind::Image : pointer);
        const CUdeviceptr address = memory->image ? memory->image->descriptor() : memory->address;
        put(&address, sizeof address);
        kept.target = memory;
      }
      break;
    case protocol::KernelArg::Pointer: {
      const auto memory = placed(arg.number);
      const CUdeviceptr address = memory->address + pointer_offset(arg, memory->size);
      require(pointer);
      put(&address, sizeof address);
      kept.object = true;
      kept.target = memory;
      break;
    }
    default:
      throw RuleBroken("an argument of an unknown kind");
  }
  kept.set = true;
}

void CudaBackend::handle(protocol::RunKernel&& message) {
  const std::size_t dimensions = message.global.size();
  if (dimensions > 3 || (!message.offset.empty() && message.offset.size() != dimensions) ||
      (!message.local.empty() && message.local.size() != dimensions))
    throw RuleBroken("a kernel's range with dimensions that do not fit together");
  for (const std::uint64_t size : message.local)
    if (size == 0) throw RuleBroken("work-groups without work-items");
  // Arguments stay set for later launches, so they are set even where this one fails.
  std::optional<ClError> wrong;
  std::shared_ptr<Kernel> kernel;
  try {
    kernel = kernels_.get(message.kernel);
    for (const protocol::KernelArg& arg : message.args) {
      try {
        set_arg(*kernel, arg);
      } catch (const ClError& error) {
        if (!wrong) wrong = error;
      }
    }
  } catch (const ClError& error) {
    wrong = error;
  }
  submit(message.command, [&] {
    if (wrong) throw ClError(*wrong);
    NdRange range = range_of(message.offset, message.global);
    std::copy(message.local.begin(), message.local.end(), range.local.begin());
    Work work = launch(*kernel, range, !message.local.empty() || dimensions == 0);
    for (const ObjectId id : message.reached) work.keep.push_back(placed(id));
    return work;
  });
}

std::shared_ptr<Memory> CudaBackend::placed(ObjectId id) {
  auto memory = buffer(id);
  if (!memory->placed) throw RuleBroken("a pointer into a buffer without an address");
  return memory;
}

void CudaBackend::choose_group(const Function& function, NdRange& range) const {
  const auto& required = function.kernel.required_group;
  if (required[0] != 0) {
    std::copy(required.begin(), required.end(), range.local.begin());
  } else {
    range.local =
        choose_local_size(range, function.most_items, function.kernel.uniform_groups, device_.limits);
  }
}

void CudaBackend::launch_grid(const Function& function, const Grid& grid, std::uint32_t local_memory,
                              std::span<std::uint8_t> block, CUstream stream) const {
  function.launches->launch(function.native, grid, local_memory, block, stream, stream != capturing_);
}

CudaBackend::Work CudaBackend::launch(const Kernel& kernel, NdRange range, bool has_local) {
  const Function& function = *kernel.function;
  const compiler::Kernel& description = function.kernel;
  Work work;
  work.keep.push_back(kernel.module);
  work.kernel = description.name;
  if (description.driver_prints) {
    surroundings_.reporter.expect_prints(true);
    work.before_report = have_driver_print;
  }
  std::vector<std::uint64_t> local_sizes;
  for (std::size_t i = 0; i < kernel.args.size(); ++i) {
    const Kernel::Arg& arg = kernel.args[i];
    if (!arg.set) throw ClError(CL_INVALID_KERNEL_ARGS, "an argument is not set");
    if (compiler::is_local(description.args[i].kind)) local_sizes.push_back(arg.local_size);
    if (!arg.object) continue;
    work.keep.push_back(arg.target.lock());
    if (!work.keep.back()) throw ClError(CL_INVALID_KERNEL_ARGS, "an argument's object is gone");
  }
  for (const std::uint64_t size : range.global)
    if (size == 0) return {};
  if (!has_local) choose_group(function, range);
  std::uint64_t items = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    if (range.local[i] > device_.limits.items[i])
      throw ClError(CL_INVALID_WORK_ITEM_SIZE, "a work-group that is too large in a dimension");
    items *= range.local[i];
  }
  if (items > function.most_items)
    throw ClError(CL_INVALID_WORK_GROUP_SIZE, "a work-group that is too large");
  if (description.uniform_groups && !range.uniform())
    throw ClError(CL_INVALID_WORK_GROUP_SIZE, "work-groups that do not divide the range");
  if (description.one_grid && range.offset != NdRange{}.offset)
    throw ClError(CL_INVALID_GLOBAL_OFFSET, "kernels in CUDA C++ know of no global offset");
  for (std::size_t i = 0; i < 3; ++i)
    if (range.groups(i) > 0xFFFFFFFFU || range.groups(i) / device_.limits.groups[i] > kMostGrids)
      throw ClError(CL_OUT_OF_RESOURCES, "more work-groups than can be counted");

  const LocalLayout layout = lay_out_local(description, function.local_begin, local_sizes);
  if (layout.size > function.dynamic_local)
    throw ClError(CL_OUT_OF_RESOURCES, "more local memory than there is");
  std::vector<std::uint8_t> block = kernel.parameters;
  std::size_t next = 0;
  for (const compiler::Arg& arg : description.args)
    if (arg.kind == ArgKind::Local)
      std::memcpy(block.data() + arg.offset, &layout.offsets[next++], sizeof layout.offsets[0]);

  auto grids = split(range, device_.limits);
  const bool whole = description.one_grid         ? grids.size() == 1
                     : description.uniform_groups ? range.groups(0) <= device_.limits.groups[0]
                                                  : true;
  if (!whole || grids.size() > kMostGrids)
    throw ClError(CL_OUT_OF_RESOURCES, "more work-groups than one grid can have");
  if (grids.size() == 1 && !has_hidden(description, Hidden::PrintfBuffer)) {
    put_hidden(block, description, range, grids[0], 0);
    work.run = [this, &function, grid = grids[0], local = layout.size, block = std::move(block)](
                   CUstream stream) mutable { launch_grid(function, grid, local, block, stream); };
    return work;
  }
  std::shared_ptr<const PrintfBuffers::Buffer> prints;
  if (has_hidden(description, Hidden::PrintfBuffer)) {
    surroundings_.reporter.expect_prints(true);
    prints = printf_buffers_.take();
    work.keep.push_back(prints);
    work.before_report = [prints, module = kernel.module] { prints->print(module->binary()); };
  }
  work.run = [this, &function, &description, range, grids = std::move(grids), local = layout.size,
              block = std::move(block), prints](CUstream stream) mutable {
    if (prints) prints->clear(stream);
    for (const Grid& grid : grids) {
      put_hidden(block, description, range, grid, prints ? prints->address() : 0);
      launch_grid(function, grid, local, block, stream);
    }
    if (prints) prints->fetch(stream);
  };
  return work;
}

std::vector<protocol::Property> CudaBackend::work_group_properties(const Function& function) {
  std::vector<protocol::Property> result;
  const auto add = [&result](cl_uint name, const auto& value) {
    result.push_back({name, {}});
    append(result.back().value, value);
  };
  const auto& required = function.kernel.required_group;
  add(CL_KERNEL_WORK_GROUP_SIZE, std::size_t{function.most_items});
  add(CL_KERNEL_COMPILE_WORK_GROUP_SIZE, std::array<std::size_t, 3>{required[0], required[1], required[2]});
  add(CL_KERNEL_LOCAL_MEM_SIZE, cl_ulong{function.static_local} + function.kernel.local_size);
  add(CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, kSubGroup);
  add(CL_KERNEL_PRIVATE_MEM_SIZE, cl_ulong{function.private_memory});
  return result;
}

void CudaBackend::handle(protocol::QueryWorkGroup&& message) {
  constexpr std::uint64_t kMaxAnswer = 64 << 10;
  if (message.answer_size > kMaxAnswer) throw RuleBroken("a query with an impossible size");
  check_device(message.device);
  protocol::WorkGroupAnswer answer{message.request, CL_SUCCESS, {}};
  try {
    answer_query(message, *kernels_.get(message.kernel)->function, answer.value);
    if (answer.value.size() > message.answer_size) throw ClError(CL_INVALID_VALUE, "an answer without room");
  } catch (const ClError& error) {
    answer.status = error.status();
    answer.value.clear();
  }
  surroundings_.reporter.report(answer);
}

void CudaBackend::answer_query(const protocol::QueryWorkGroup& message, const Function& function,
                               protocol::Bytes& answer) const {
  const auto input = numbers_in<std::size_t>(message.input);
  std::size_t items = 1;
  for (const std::size_t size : input) items *= size;
  switch (message.name) {
    case protocol::QueryWorkGroup::kSuggestedLocalSize: {
      const std::size_t dimensions = input.size() / 2;
      if (dimensions < 1 || dimensions > 3 || message.input.size() != dimensions * 2 * sizeof(std::size_t))
        throw RuleBroken("a query for a local size with a wrong input");
      const auto half = input.begin() + static_cast<std::ptrdiff_t>(dimensions);
      NdRange range = range_of({input.begin(), half}, {half, input.end()});
      choose_group(function, range);
      for (std::size_t i = 0; i < dimensions; ++i) append(answer, std::size_t{range.local[i]});
      return;
    }
    case CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE:
      append(answer, kSubGroup);
      return;
    case CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE:
      append(answer, (items + kSubGroup - 1) / kSubGroup);
      return;
    case CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT: {
      const std::size_t size = items * kSubGroup;
      const bool possible =
          items > 0 && size <= function.most_items && function.kernel.required_group[0] == 0;
      const std::size_t dimensions = message.answer_size / sizeof(std::size_t);
      for (std::size_t i = 0; i < dimensions; ++i)
        append(answer, possible ? (i == 0 ? size : std::size_t{1}) : std::size_t{0});
      return;
    }
    case CL_KERNEL_MAX_NUM_SUB_GROUPS:
      append(answer, (std::size_t{function.most_items} + kSubGroup - 1) / kSubGroup);
      return;
    case CL_KERNEL_COMPILE_NUM_SUB_GROUPS:
      append(answer, std::size_t{0});
      return;
    case kCompileSubGroupSize:
      append(answer, std::size_t{function.kernel.required_sub_group});
      return;
    default:
      break;
  }
  for (protocol::Property& property : work_group_properties(function))
    if (property.name == message.name) answer = std::move(property.value);
  if (answer.empty()) throw ClError(CL_INVALID_VALUE, "a query that is not known");
}

}  // namespace clique::daemon::cuda
