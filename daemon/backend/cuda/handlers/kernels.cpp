#include "daemon/backend/cuda/handlers/kernels.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "daemon/backend/common/kernel_args.hpp"
#include "daemon/backend/cuda/handlers/kernel_queries.hpp"

namespace clique::daemon::cuda {

namespace {

using compiler::ArgKind;
using compiler::Hidden;

/// Grids that one command may become.
constexpr std::size_t kMostGrids = 4096;

/// The driver writes what kernels print through CUDA's own printf while a thread synchronises with the GPU.
void have_driver_print() {
  CUstream stream = nullptr;
  if (driver().StreamCreate(&stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS) return;
  static_cast<void>(driver().StreamSynchronize(stream));
  static_cast<void>(driver().StreamDestroy(stream));
}

std::string name_of(const compiler::Kernel& kernel, std::size_t arg) {
  return "argument " + std::to_string(arg) + " of kernel '" + kernel.name + "'";
}

}  // namespace

void Kernels::handle(protocol::CreateKernel&& message) {
  kernels_.create(message.id, uses_.reporter, [&] {
    auto kernel = std::make_shared<Kernel>();
    kernel->module = uses_.programs.module_of(message.program);
    kernel->function = kernel->module->find(message.name);
    if (kernel->function == nullptr)
      throw ClError(CL_INVALID_KERNEL_NAME,
                    "program " + std::to_string(message.program) + " has no kernel '" + message.name + "'");
    kernel->parameters.resize(kernel->function->kernel.params_size);
    kernel->args.resize(kernel->function->kernel.args.size());
    return kernel;
  });
}

void Kernels::set_arg(Kernel& kernel, const protocol::KernelArg& arg) const {
  check_argument(arg.index, kernel.args.size());
  const compiler::Kernel& description = kernel.function->kernel;
  const compiler::Arg& known = description.args[arg.index];
  Kernel::Arg& kept = kernel.args[arg.index];
  // If setting it fails, the argument has no value.
  kept = {};
  const auto put = [&](const void* value, std::size_t size) {
    if (size != known.size)
      throw ClError(CL_INVALID_ARG_SIZE, name_of(description, arg.index) + " has " +
                                             std::to_string(known.size) + " bytes, not " +
                                             std::to_string(size));
    std::memcpy(kernel.parameters.data() + known.offset, value, size);
  };
  const auto require = [&](bool condition) {
    if (!condition)
      throw ClError(CL_INVALID_ARG_VALUE, name_of(description, arg.index) + " is of another kind");
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
      if (uses_.objects.samplers().contains(arg.number)) {
        const auto& sampler = uses_.objects.samplers().get(arg.number);
        require(known.kind == ArgKind::Sampler);
        put(&sampler->number, sizeof sampler->number);
        kept.target = sampler;
      } else {
        const auto& memory = uses_.objects.memory().get(arg.number);
        require(memory->image ? known.kind == ArgKind::Image : pointer);
        const CUdeviceptr address = memory->image ? memory->image->descriptor() : memory->address;
        put(&address, sizeof address);
        kept.target = memory;
        if (memory->sparse) kept.sparse = arg.number;
        kept.memory = memory->image ? memory->image->request().memory : memory->address;
        kept.memory_size = memory->size;
        if (memory->image) {
          kept.image = address;
          if (kept.memory != 0) kept.memory_size = memory->image->place({}).slice_pitch;
        }
      }
      break;
    case protocol::KernelArg::Pointer: {
      const auto& memory = uses_.objects.memory().placed(arg.number);
      const CUdeviceptr address = memory->address + pointer_offset(arg, memory->size);
      require(pointer);
      put(&address, sizeof address);
      kept.object = true;
      kept.target = memory;
      break;
    }
    default:
      throw RuleBroken(name_of(description, arg.index) + " is set to the unknown kind " +
                       std::to_string(static_cast<unsigned>(arg.kind)));
  }
  kept.set = true;
}

void Kernels::handle(protocol::RunKernel&& message) {
  check_dimensions(message);
  for (const std::uint64_t size : message.local)
    if (size == 0) throw RuleBroken("a launch with a local size of 0");
  const KernelWithArgs<Kernel> launched = set_args(
      kernels_, message, [this](Kernel& kernel, const protocol::KernelArg& arg) { set_arg(kernel, arg); });
  uses_.commands.submit(message.command, [&] {
    if (launched.failure) throw ClError(*launched.failure);
    NdRange range = range_of(message.offset, message.global);
    std::copy(message.local.begin(), message.local.end(), range.local.begin());
    range.part = message.part;
    // clEnqueueTask gives neither a global nor a local size; both are 1.
    const bool choose_local = message.local.empty() && !message.global.empty();
    Work work = launch(*launched.kernel, range, choose_local, message.expected);
    for (const protocol::ObjectId id : message.reached)
      work.keep.push_back(uses_.objects.memory().placed(id));
    hold_sparse(*launched.kernel, message.sparse, work);
    return work;
  });
}

void Kernels::hold_sparse(const Kernel& kernel, const std::vector<protocol::SparseUse>& uses,
                          Work& work) const {
  for (std::size_t i = 0; i < kernel.args.size(); ++i) {
    const protocol::ObjectId buffer = kernel.args[i].sparse;
    const auto is_used = [buffer](const protocol::SparseUse& use) { return use.buffer == buffer; };
    // The kernel would fault where the buffer has no memory, which would end the session.
    if (buffer != 0 && std::none_of(uses.begin(), uses.end(), is_used))
      throw ClError(CL_MEM_OBJECT_ALLOCATION_FAILURE,
                    name_of(kernel.function->kernel, i) +
                        " is a sparse buffer, and the launch does not say what it uses of it");
  }
  for (const protocol::SparseUse& use : uses) {
    const auto& memory = uses_.objects.memory().buffer(use.buffer);
    if (!memory->sparse) throw RuleBroken("buffer " + std::to_string(use.buffer) + " is not sparse");
    for (const protocol::ByteRange& range : use.ranges) {
      check_range(range.offset, range.size, memory->size, "what a launch uses of a sparse buffer");
      work.keep.push_back(hold(memory, range.offset, range.size));
    }
  }
}

std::shared_ptr<const AccessChecks> Kernels::checks_of(
    const Kernel& kernel, const std::vector<protocol::ExpectedAccess>& expected) const {
  if (expected.empty()) return nullptr;
  if (!has_hidden(kernel.function->kernel, Hidden::AccessChecks))
    throw ClError(CL_INVALID_OPERATION,
                  "kernel '" + kernel.function->kernel.name + "' was not built to check what it accesses");
  std::size_t ranges = 0;
  std::vector<AccessChecks::Argument> arguments;
  for (const protocol::ExpectedAccess& access : expected) {
    if (access.argument >= kernel.args.size())
      throw RuleBroken("a launch is expected to access argument " + std::to_string(access.argument) +
                       " of a kernel that has " + std::to_string(kernel.args.size()));
    if (!arguments.empty() && access.argument <= arguments.back().number)
      throw RuleBroken("what a launch is expected to access is not in the order of its arguments");
    const Kernel::Arg& arg = kernel.args[access.argument];
    for (const auto* list : {&access.reads, &access.writes})
      for (const protocol::ByteRange& range : *list)
        check_range(range.offset, range.size, arg.memory_size, "what a launch is expected to access");
    ranges += access.reads.size() + access.writes.size();
    arguments.push_back({access.argument, arg.memory, arg.memory_size, arg.image});
  }
  if (ranges > protocol::kMostExpectedRanges)
    throw ClError(CL_OUT_OF_RESOURCES, "kernel '" + kernel.function->kernel.name +
                                           "' is expected to access " + std::to_string(ranges) +
                                           " ranges; at most " +
                                           std::to_string(protocol::kMostExpectedRanges) + " can be checked");
  return std::make_shared<const AccessChecks>(uses_.device_memory, std::move(arguments), expected,
                                              uses_.pinned.staging(AccessChecks::kFetched));
}

Work Kernels::launch(const Kernel& kernel, NdRange range, bool choose_local,
                     const std::vector<protocol::ExpectedAccess>& expected) {
  const Function& function = *kernel.function;
  const compiler::Kernel& description = function.kernel;
  Work work;
  work.keep.push_back(kernel.module);
  work.kernel = description.name;
  if (description.driver_prints) {
    uses_.reporter.expect_prints(true);
    work.before_report = have_driver_print;
  }
  for (std::size_t i = 0; i < kernel.args.size(); ++i) {
    const Kernel::Arg& arg = kernel.args[i];
    if (!arg.set) throw ClError(CL_INVALID_KERNEL_ARGS, name_of(description, i) + " is not set");
    if (!arg.object) continue;
    work.keep.push_back(arg.target.lock());
    if (!work.keep.back())
      throw ClError(CL_INVALID_KERNEL_ARGS, name_of(description, i) + " is an object that was released");
  }
  for (const std::uint64_t size : range.global)
    if (size == 0) return {};
  if (choose_local) choose_local_size(function, uses_.device.limits, range);
  check_sizes(function, range);
  Parameters parameters = parameters_of(kernel);
  auto grids = grids_of(description, range);
  const std::shared_ptr<const AccessChecks> checks = checks_of(kernel, expected);
  if (grids.size() == 1 && !checks && !has_hidden(description, Hidden::PrintfBuffer)) {
    put_hidden(parameters.block, description, range, grids[0], 0);
    if (uses_.commands.records())
      work.launch = std::make_shared<const OwnLaunch>(
          OwnLaunch{function.native, grids[0], parameters.local_memory, parameters.block});
    work.run = [this, &function, grid = grids[0], parameters = std::move(parameters)](
                   CUstream stream) mutable { launch_grid(function, grid, parameters, stream); };
    return work;
  }
  std::shared_ptr<const PrintfBuffers::Buffer> prints;
  if (has_hidden(description, Hidden::PrintfBuffer)) {
    uses_.reporter.expect_prints(true);
    prints = printf_buffers_.take();
    work.keep.push_back(prints);
    work.before_report = [prints, module = kernel.module] { prints->print(module->binary()); };
  }
  if (checks) {
    work.keep.push_back(checks);
    work.verdict = [checks, name = description.name]() -> std::optional<ClError> {
      const std::string found = checks->found();
      if (found.empty()) return std::nullopt;
      return ClError(
          CL_INVALID_OPERATION,
          "part of a launch of kernel '" + name + "' " + found +
              ". Either the kernel accesses what it must not, or clique-compiler's description of it is "
              "wrong, and so may be the results of divided launches");
    };
  }
  work.run = [this, &function, &description, range, grids = std::move(grids),
              parameters = std::move(parameters), prints, checks](CUstream stream) mutable {
    if (prints) prints->clear(stream);
    for (const Grid& grid : grids) {
      put_hidden(parameters.block, description, range, grid, prints ? prints->address() : 0,
                 checks ? checks->address() : 0);
      launch_grid(function, grid, parameters, stream);
    }
    if (prints) prints->fetch(stream);
    if (checks) checks->fetch(stream);
  };
  return work;
}

void Kernels::check_sizes(const Function& function, const NdRange& range) const {
  const compiler::Kernel& description = function.kernel;
  const GridLimits& limits = uses_.device.limits;
  const auto refuse = [&](cl_int status, const std::string& why) {
    return ClError(status, "kernel '" + description.name + "': " + why);
  };
  std::uint64_t items = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    if (range.local[i] > limits.items[i])
      throw refuse(CL_INVALID_WORK_ITEM_SIZE, "local size " + std::to_string(range.local[i]) +
                                                  " in dimension " + std::to_string(i) +
                                                  "; the device allows " + std::to_string(limits.items[i]));
    items *= range.local[i];
  }
  if (items > function.most_items)
    throw refuse(CL_INVALID_WORK_GROUP_SIZE, "a work-group of " + std::to_string(items) +
                                                 " work-items; the kernel allows " +
                                                 std::to_string(function.most_items));
  if (description.uniform_groups && !range.uniform())
    throw refuse(CL_INVALID_WORK_GROUP_SIZE, "the local size does not divide the global size");
  if (description.one_grid && range.offset != NdRange{}.offset)
    throw refuse(CL_INVALID_GLOBAL_OFFSET, "a kernel in CUDA C++ cannot have a global offset");
  if (!range.part.whole() && !description.in_parts)
    throw refuse(CL_INVALID_OPERATION, "it was not built to run in parts");
  for (std::size_t i = 0; i < 3; ++i)
    if (range.groups(i) > 0xFFFFFFFFU || range.groups(i) / limits.groups[i] > kMostGrids)
      throw refuse(CL_OUT_OF_RESOURCES,
                   std::to_string(range.groups(i)) + " work-groups in dimension " + std::to_string(i));
}

Kernels::Parameters Kernels::parameters_of(const Kernel& kernel) {
  const Function& function = *kernel.function;
  const compiler::Kernel& description = function.kernel;
  std::vector<std::uint64_t> local_sizes;
  for (std::size_t i = 0; i < kernel.args.size(); ++i)
    if (compiler::is_local(description.args[i].kind)) local_sizes.push_back(kernel.args[i].local_size);
  const LocalLayout layout = lay_out_local(description, function.local_begin, local_sizes);
  if (layout.size > function.dynamic_local)
    throw ClError(CL_OUT_OF_RESOURCES, "kernel '" + description.name + "' asks for " +
                                           std::to_string(layout.size) +
                                           " bytes of local memory; the device has " +
                                           std::to_string(function.dynamic_local) + " for it");
  Parameters parameters{kernel.parameters, layout.size};
  std::size_t next = 0;
  for (const compiler::Arg& arg : description.args)
    if (arg.kind == ArgKind::Local)
      std::memcpy(parameters.block.data() + arg.offset, &layout.offsets[next++], sizeof layout.offsets[0]);
  return parameters;
}

std::vector<Grid> Kernels::grids_of(const compiler::Kernel& kernel, const NdRange& range) const {
  const GridLimits& limits = uses_.device.limits;
  const std::uint64_t count = count_grids(range, limits);
  const bool whole = kernel.one_grid                             ? count == 1
                     : kernel.uniform_groups && !kernel.in_parts ? range.groups(0) <= limits.groups[0]
                                                                 : true;
  if (!whole || count > kMostGrids)
    throw ClError(CL_OUT_OF_RESOURCES, "kernel '" + kernel.name + "' needs " + std::to_string(count) +
                                           " CUDA grids for its range; " +
                                           (whole ? "at most " + std::to_string(kMostGrids) + " are allowed"
                                                  : std::string("it can only run as one")));
  return split(range, limits);
}

void Kernels::launch_grid(const Function& function, const Grid& grid, Parameters& parameters,
                          CUstream stream) const {
  const Launch launch{function.native, grid, parameters.local_memory, parameters.block};
  if (uses_.capture.captures(stream))
    launch_once(launch, stream);
  else
    function.launches->launch(launch, stream);
}

void Kernels::handle(protocol::QueryWorkGroup&& message) {
  check_query(message);
  check_device(message.device);
  protocol::WorkGroupAnswer answer{message.request, CL_SUCCESS, {}};
  try {
    answer.value = answer_query(message, *kernels_.get(message.kernel)->function, uses_.device.limits);
    if (answer.value.size() > message.answer_size)
      throw ClError(CL_INVALID_VALUE, "the answer does not fit into the client's memory");
  } catch (const ClError& error) {
    answer.status = error.status();
    answer.value.clear();
  }
  uses_.reporter.report(answer);
}

}  // namespace clique::daemon::cuda
