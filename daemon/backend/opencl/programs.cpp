// Programs and kernels. Builds run on the build thread.
#include <algorithm>
#include <optional>

#include "daemon/backend/opencl/describe.hpp"
#include "daemon/backend/opencl/opencl_backend.hpp"
#include "daemon/backend/opencl/part_source.hpp"
#include "daemon/backend/opencl/pinned_source.hpp"
#include "daemon/common/measurements.hpp"
#include "daemon/compiler/contract/build_options.hpp"

namespace clique::daemon::opencl {

namespace {

using DeviceList = std::vector<std::pair<DeviceId, cl_device_id>>;

auto program_info(cl_program program, cl_program_info name) {
  return [program, name](std::size_t size, void* value, std::size_t* size_ret) {
    return clGetProgramInfo(program, name, size, value, size_ret);
  };
}

auto build_info(cl_program program, cl_device_id device, cl_program_build_info name) {
  return [program, device, name](std::size_t size, void* value, std::size_t* size_ret) {
    return clGetProgramBuildInfo(program, device, name, size, value, size_ret);
  };
}

/// The program's devices and the sizes of its binaries for them, in the driver's order. To be asked for only
/// with the binaries, since PoCL compiles all kernels once more to answer.
struct Binaries {
  std::vector<cl_device_id> devices;
  std::vector<std::size_t> sizes;

  explicit Binaries(cl_program program) {
    devices.resize(get_value<cl_uint>(program_info(program, CL_PROGRAM_NUM_DEVICES)));
    sizes.resize(devices.size());
    if (clGetProgramInfo(program, CL_PROGRAM_DEVICES, devices.size() * sizeof(cl_device_id), devices.data(),
                         nullptr) != CL_SUCCESS)
      devices.clear();
    if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizes.size() * sizeof(std::size_t), sizes.data(),
                         nullptr) != CL_SUCCESS)
      std::fill(sizes.begin(), sizes.end(), 0);
  }
  std::size_t index_of(cl_device_id device) const {
    return static_cast<std::size_t>(std::find(devices.begin(), devices.end(), device) - devices.begin());
  }
};

Handle<cl_program> create_program(const protocol::CreateProgram& message, cl_context context,
                                  const std::vector<cl_device_id>& devices,
                                  std::vector<cl_int>& binary_status, cl_int& status) {
  std::vector<const unsigned char*> pointers;
  std::vector<std::size_t> sizes;
  for (const protocol::Bytes& code : message.code) {
    pointers.push_back(code.data());
    sizes.push_back(code.size());
  }
  const auto count = static_cast<cl_uint>(devices.size());
  switch (message.kind) {
    case protocol::ProgramKind::Source: {
      const auto* text = reinterpret_cast<const char*>(pointers[0]);
      return Handle(clCreateProgramWithSource(context, 1, &text, sizes.data(), &status));
    }
    case protocol::ProgramKind::Binary:
      binary_status.assign(count, CL_INVALID_BINARY);
      return Handle(clCreateProgramWithBinary(context, count, devices.data(), sizes.data(), pointers.data(),
                                              binary_status.data(), &status));
    case protocol::ProgramKind::Il:
      return Handle(clCreateProgramWithIL(context, pointers[0], sizes[0], &status));
    case protocol::ProgramKind::BuiltInKernels: {
      const std::string names(message.code[0].begin(), message.code[0].end());
      return Handle(
          clCreateProgramWithBuiltInKernels(context, count, devices.data(), names.c_str(), &status));
    }
  }
  throw RuleBroken("program " + std::to_string(message.id) + " is of an unknown kind");
}

/// Strict drivers have information on arguments only with this option.
std::string with_arg_info(const std::string& options) {
  return options + " -cl-kernel-arg-info";
}

}  // namespace

void OpenClBackend::report_program(protocol::RequestId request, const Program& program, cl_int status,
                                   const std::vector<DeviceId>& devices,
                                   const std::vector<cl_int>& binary_status, const EditLog& edit_log) {
  protocol::ProgramBuilt answer{request, status, {}, {}};
  DeviceList executables;
  const cl_program native = program.native.get();
  if (native != nullptr) {
    for (std::size_t i = 0; i < devices.size(); ++i) {
      const cl_device_id device = this->device(devices[i]).native;
      protocol::BuildResult result;
      result.device = devices[i];
      result.build_status =
          get_value<cl_build_status>(build_info(native, device, CL_PROGRAM_BUILD_STATUS), CL_BUILD_NONE);
      result.binary_status = i < binary_status.size() ? binary_status[i] : CL_SUCCESS;
      result.binary_type =
          get_value<cl_program_binary_type>(build_info(native, device, CL_PROGRAM_BINARY_TYPE));
      result.global_variables =
          get_value<std::size_t>(build_info(native, device, CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE));
      result.log = get_text(build_info(native, device, CL_PROGRAM_BUILD_LOG));
      if (edit_log) result.log = edit_log(std::move(result.log));
      if (result.build_status == CL_BUILD_SUCCESS && result.binary_type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE)
        executables.emplace_back(devices[i], device);
      answer.devices.push_back(std::move(result));
    }
    if (!executables.empty()) answer.kernels = describe_kernels(native, executables);
  } else {
    for (std::size_t i = 0; i < devices.size(); ++i) {
      protocol::BuildResult result;
      result.device = devices[i];
      result.build_status = CL_BUILD_ERROR;
      result.binary_status = i < binary_status.size() ? binary_status[i] : status;
      answer.devices.push_back(std::move(result));
    }
  }
  surroundings_.reporter.report(answer);
}

void OpenClBackend::refuse_build(protocol::RequestId request, const std::vector<DeviceId>& devices,
                                 cl_int status, const std::string& log) {
  protocol::ProgramBuilt answer{request, status, {}, {}};
  for (const DeviceId device : devices) {
    protocol::BuildResult result;
    result.device = device;
    result.build_status = CL_BUILD_ERROR;
    result.log = log;
    answer.devices.push_back(std::move(result));
  }
  surroundings_.reporter.report(answer);
}

void OpenClBackend::post_build(const std::shared_ptr<Program>& program, BuildJob job) {
  // Also where the answer is known: it follows those to earlier requests.
  builds_.post(program, [this, program = program.get(), job = std::move(job)] {
    try {
      run_build(*program, job);
    } catch (const compiler::InvalidOptions& error) {
      refuse_build(job.request, job.devices, error.status(), error.what());
    } catch (const std::exception& error) {
      refuse_build(job.request, job.devices, compiler::failure_status(job.kind),
                   std::string("error: ") + error.what() + "\n");
    }
  });
}

void OpenClBackend::run_build(Program& program, const BuildJob& job) {
  if (compiler::is_cuda_source(job.options))
    throw compiler::InvalidOptions(
        compiler::options_status(job.kind),
        "error: '-x cuda' needs a device with the extension cl_clique_cuda_source, which NVIDIA GPUs have "
        "that Clique drives through CUDA; this device is driven through OpenCL\n");
  if (!program.native) return report_program(job.request, program, program.status, job.devices, {});
  for (const auto& header : job.headers)
    if (!header->native) return report_program(job.request, program, header->status, job.devices, {});

  const std::string options = with_arg_info(driver_options(job.kind, job.options));
  PinnedSource::Headers headers;
  for (std::size_t i = 0; i < job.headers.size(); ++i) headers[job.header_names[i]] = job.headers[i]->source;
  const PinnedSource pinned(program.source, job.options, *job.files, headers);
  if (pinned.includes()) {
    const char* text = pinned.text().c_str();
    const std::size_t size = pinned.text().size();
    cl_int status = CL_SUCCESS;
    Handle<cl_program> native(
        clCreateProgramWithSource(program.context->native.get(), 1, &text, &size, &status));
    if (status != CL_SUCCESS) return report_program(job.request, program, status, job.devices, {});
    // Drivers keep one source of a program. Builds for the worker's other devices are lost, as those are that
    // the driver forgets when a program is built again.
    program.native = std::move(native);
  }
  const auto devices = natives(job.devices);
  program.for_parts.reset();
  if (job.in_parts && asks_for_group_ids(program.source, *job.files))
    program.for_parts =
        std::make_shared<Program::ForParts>(Program::ForParts{job.options, job.files, devices});
  const auto count = static_cast<cl_uint>(devices.size());
  const cl_device_id* const list = devices.empty() ? nullptr : devices.data();
  cl_program native = program.native.get();
  std::optional<MeasuredBuild> measured(std::in_place);
  const cl_int status =
      job.kind == compiler::Request::Kind::Build
          ? clBuildProgram(native, count, list, options.c_str(), nullptr, nullptr)
          : clCompileProgram(native, count, list, options.c_str(), 0, nullptr, nullptr, nullptr, nullptr);
  measured.reset();
  report_program(job.request, program, status, job.devices, {},
                 [&pinned](const std::string& log) { return pinned.with_client_names(log); });
}

void OpenClBackend::handle(protocol::CreateProgram&& message) {
  const auto devices = natives(message.devices);
  check_codes(message);
  auto program = std::make_shared<Program>();
  std::shared_ptr<Context> context;
  cl_int context_status = CL_SUCCESS;
  try {
    context = contexts_.get(message.context);
  } catch (const ClError& error) {
    context_status = error.status();
  }
  program->context = context;
  if (message.kind == protocol::ProgramKind::Source)
    program->source.assign(reinterpret_cast<const char*>(message.code[0].data()), message.code[0].size());
  programs_.add(message.id, program);
  builds_.post(program, [this, message = std::move(message), devices, program = program.get(), context,
                         context_status] {
    std::vector<cl_int> binary_status;
    program->status = context_status;
    if (context)
      program->native =
          create_program(message, context->native.get(), devices, binary_status, program->status);
    if (program->status != CL_SUCCESS) program->native = {};
    if (message.kind != protocol::ProgramKind::Source) {
      report_program(message.request, *program, program->status, message.devices, binary_status);
    } else if (program->status != CL_SUCCESS) {
      surroundings_.reporter.report(
          protocol::Failed{message.id, program->status, "clCreateProgramWithSource", 0});
    }
  });
}

void OpenClBackend::handle(protocol::BuildProgram&& message) {
  static_cast<void>(natives(message.devices));
  post_build(programs_.get(message.program), {message.request,
                                              compiler::Request::Kind::Build,
                                              std::move(message.devices),
                                              std::move(message.options),
                                              files_.claim(message.files),
                                              {},
                                              {},
                                              message.in_parts});
}

void OpenClBackend::handle(protocol::CompileProgram&& message) {
  check_headers(message);
  static_cast<void>(natives(message.devices));
  std::vector<std::shared_ptr<Program>> headers;
  for (const ObjectId id : message.headers) headers.push_back(programs_.get(id));
  post_build(programs_.get(message.program),
             {message.request, compiler::Request::Kind::Compile, std::move(message.devices),
              std::move(message.options), files_.claim(message.files), std::move(headers),
              std::move(message.header_names)});
}

void OpenClBackend::handle(protocol::LinkProgram&& message) {
  auto program = std::make_shared<Program>();
  std::vector<std::shared_ptr<Program>> inputs;
  for (const ObjectId id : message.inputs) inputs.push_back(programs_.get(id));
  cl_int status = CL_SUCCESS;
  try {
    program->context = contexts_.get(message.context);
  } catch (const ClError& error) {
    status = error.status();
  }
  programs_.add(message.id, program);
  auto devices = natives(message.devices);
  builds_.post(program, [this, devices = std::move(devices), message = std::move(message), inputs,
                         program = program.get(), status] {
    program->status = status;
    try {
      static_cast<void>(driver_options(compiler::Request::Kind::Link, message.options));
    } catch (const compiler::InvalidOptions& error) {
      program->status = error.status();
      return refuse_build(message.request, message.devices, error.status(), error.what());
    }
    std::vector<cl_program> natives;
    for (const auto& input : inputs) {
      if (!input->native) program->status = input->status;
      natives.push_back(input->native.get());
    }
    if (program->status == CL_SUCCESS)
      // A program that cannot be linked may exist all the same, with a log.
      program->native = Handle(clLinkProgram(
          program->context->native.get(), static_cast<cl_uint>(devices.size()),
          devices.empty() ? nullptr : devices.data(), message.options.c_str(),
          static_cast<cl_uint>(natives.size()), natives.data(), nullptr, nullptr, &program->status));
    report_program(message.request, *program, program->status, message.devices, {});
  });
}

void OpenClBackend::handle(protocol::AnalyseProgram&& message) {
  const cl_device_id device = this->device(message.device).native;
  if (!analyses_)
    analyses_ = std::make_unique<AnalysisThread>(
        [this](const protocol::ProgramAnalysed& answer) { surroundings_.reporter.report(answer); });
  auto files = files_.claim(message.files);
  const auto program = programs_.get(message.program);
  analyses_->post(program, std::move(message), device, std::move(files));
}

cl_kernel OpenClBackend::native_of_parts(Kernel& kernel) {
  if (!kernel.parts_program) return kernel.native.get();
  if (kernel.parts_native) return kernel.parts_native.get();
  Program::ForParts& program = *kernel.parts_program;
  cl_int status = CL_SUCCESS;
  if (!program.native) {
    const PinnedSource pinned(kernel.program->source, program.options, *program.files, {});
    const std::string source = part_source(kernel.program->source, pinned);
    const char* text = source.c_str();
    const std::size_t size = source.size();
    Handle<cl_program> native(
        clCreateProgramWithSource(kernel.program->context->native.get(), 1, &text, &size, &status));
    check(status, "clCreateProgramWithSource");
    const std::string options = driver_options(compiler::Request::Kind::Build, program.options);
    check(clBuildProgram(native.get(), static_cast<cl_uint>(program.devices.size()), program.devices.data(),
                         options.c_str(), nullptr, nullptr),
          "clBuildProgram");
    program.native = std::move(native);
  }
  Handle<cl_kernel> native(clCreateKernel(program.native.get(), kernel.name.c_str(), &status));
  check(status, "clCreateKernel");
  for (const auto& [index, value] : kernel.values) set_arg(kernel, native.get(), value);
  kernel.parts_native = std::move(native);
  return kernel.parts_native.get();
}

void OpenClBackend::handle(protocol::GetProgramBinary&& message) {
  const cl_device_id device = this->device(message.device).native;
  const auto& program = programs_.get(message.program);
  builds_.post(program, [this, request = message.request, device, program = program.get()] {
    protocol::ProgramBinary answer{request, CL_SUCCESS, {}};
    if (program->native) {
      const Binaries binaries(program->native.get());
      const std::size_t index = binaries.index_of(device);
      if (index == binaries.devices.size()) {
        answer.status = CL_INVALID_DEVICE;
      } else if (binaries.sizes[index] != 0) {
        answer.binary.resize(binaries.sizes[index]);
        // The driver skips binaries with a null pointer.
        std::vector<unsigned char*> pointers(binaries.devices.size());
        pointers[index] = answer.binary.data();
        answer.status = clGetProgramInfo(program->native.get(), CL_PROGRAM_BINARIES,
                                         pointers.size() * sizeof(unsigned char*), pointers.data(), nullptr);
      }
    }
    surroundings_.reporter.report(answer);
  });
}

void OpenClBackend::handle(protocol::CreateKernel&& message) {
  kernels_.create(message.id, surroundings_.reporter, [&] {
    auto kernel = std::make_shared<Kernel>();
    kernel->name = message.name;
    kernel->program = programs_.get(message.program);
    builds_.wait(*kernel->program);
    if (!kernel->program->native)
      throw ClError(kernel->program->status,
                    "program " + std::to_string(message.program) + " could not be created");
    cl_int status = CL_SUCCESS;
    kernel->native = Handle(clCreateKernel(kernel->program->native.get(), message.name.c_str(), &status));
    check(status, "clCreateKernel");
    kernel->parts_program = kernel->program->for_parts;
    kernel->args.resize(get_value<cl_uint>([&](std::size_t size, void* value, std::size_t* size_ret) {
      return clGetKernelInfo(kernel->native.get(), CL_KERNEL_NUM_ARGS, size, value, size_ret);
    }));
    return kernel;
  });
}

void OpenClBackend::handle(protocol::QueryWorkGroup&& message) {
  protocol::WorkGroupAnswer answer{message.request, CL_SUCCESS, {}};
  check_query(message);
  const cl_device_id device = this->device(message.device).native;
  try {
    const Kernel& kernel = *kernels_.get(message.kernel);
    answer.value.resize(message.answer_size);
    std::size_t size = answer.value.size();
    if (message.name == protocol::QueryWorkGroup::kSuggestedLocalSize) {
      answer.status = suggest_local_size(message, kernel, answer.value);
      size = answer.value.size();
    } else if (message.name >= CL_KERNEL_WORK_GROUP_SIZE && message.name <= CL_KERNEL_GLOBAL_WORK_SIZE) {
      answer.status = clGetKernelWorkGroupInfo(kernel.native.get(), device, message.name, answer.value.size(),
                                               answer.value.data(), &size);
    } else {
      answer.status =
          clGetKernelSubGroupInfo(kernel.native.get(), device, message.name, message.input.size(),
                                  message.input.data(), answer.value.size(), answer.value.data(), &size);
    }
    answer.value.resize(answer.status == CL_SUCCESS ? std::min<std::size_t>(size, answer.value.size()) : 0);
  } catch (const ClError& error) {
    answer.status = error.status();
    answer.value.clear();
  }
  surroundings_.reporter.report(answer);
}

cl_int OpenClBackend::suggest_local_size(const protocol::QueryWorkGroup& message, const Kernel& kernel,
                                         protocol::Bytes& answer) {
  const std::size_t dimensions = suggestion_dimensions(message);
  std::array<std::size_t, 6> range{};
  std::copy(message.input.begin(), message.input.end(), reinterpret_cast<std::uint8_t*>(range.data()));
  auto* suggest = reinterpret_cast<clGetKernelSuggestedLocalWorkSizeKHR_fn>(
      clGetExtensionFunctionAddressForPlatform(platform_, "clGetKernelSuggestedLocalWorkSizeKHR"));
  if (suggest == nullptr) return CL_INVALID_OPERATION;
  cl_int status = CL_SUCCESS;
  const Handle<cl_command_queue> queue(
      clCreateCommandQueue(kernel.program->context->native.get(), device(message.device).native, 0, &status));
  if (status != CL_SUCCESS) return status;
  std::array<std::size_t, 3> local{};
  status = suggest(queue.get(), kernel.native.get(), static_cast<cl_uint>(dimensions), range.data(),
                   range.data() + dimensions, local.data());
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(local.data());
  answer.assign(bytes, bytes + dimensions * sizeof(std::size_t));
  return status;
}

}  // namespace clique::daemon::opencl
