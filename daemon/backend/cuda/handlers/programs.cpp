#include "daemon/backend/cuda/handlers/programs.hpp"

#include <algorithm>

#include "daemon/backend/cuda/handlers/kernel_queries.hpp"
#include "daemon/common/measurements.hpp"
#include "daemon/compiler/contract/build_options.hpp"
#include "daemon/compiler/contract/message_io.hpp"
#include "daemon/compiler/contract/spirv.hpp"

namespace clique::daemon::cuda {

namespace {

/// A build that takes longer fails.
constexpr std::chrono::seconds kBuildLimit{600};

/// The compute capability in "sm_90", as 90; 0 for other texts.
unsigned long capability(const std::string& architecture) {
  return architecture.starts_with("sm_") ? std::strtoul(architecture.c_str() + 3, nullptr, 10) : 0;
}

/// Throws InvalidBinary if a kernel's description is inconsistent, so that a launch would write outside of
/// the parameter block.
void check_kernels(const compiler::ProgramBinary& binary) {
  constexpr std::uint32_t kMostParameters = 32U << 10U;
  for (const compiler::Kernel& kernel : binary.kernels) {
    const auto inside = [&kernel](std::uint32_t offset, std::uint32_t size) {
      return size <= kernel.params_size && offset <= kernel.params_size - size;
    };
    const bool args = std::all_of(kernel.args.begin(), kernel.args.end(), [&](const compiler::Arg& arg) {
      const std::uint32_t size = arg.kind == compiler::ArgKind::Value     ? arg.size
                                 : arg.kind == compiler::ArgKind::Local   ? sizeof(std::uint32_t)
                                 : arg.kind == compiler::ArgKind::Sampler ? sizeof(std::uint32_t)
                                 : arg.kind == compiler::ArgKind::Dynamic ? 0
                                                                          : sizeof(CUdeviceptr);
      return arg.size == size && inside(arg.offset, size);
    });
    const bool hidden = std::all_of(
        kernel.hidden.begin(), kernel.hidden.end(),
        [&](const compiler::HiddenArg& arg) { return inside(arg.offset, sizeof(std::uint32_t)); });
    if (kernel.params_size > kMostParameters || !args || !hidden)
      throw compiler::InvalidBinary("the description of kernel '" + kernel.name +
                                    "' has parameters outside of its parameter block");
  }
}

std::vector<protocol::KernelDescription> describe_kernels(const Program& program) {
  std::vector<protocol::KernelDescription> result;
  if (!program.module) return result;
  for (const Function& function : program.module->functions()) {
    const compiler::Kernel& kernel = function.kernel;
    protocol::KernelDescription description;
    description.name = kernel.name;
    description.entry = kernel.entry;
    description.attributes = kernel.attributes;
    description.arg_count = static_cast<std::uint32_t>(kernel.args.size());
    for (const compiler::Arg& arg : kernel.args) {
      description.args.push_back(arg.description);
      if (arg.kind == compiler::ArgKind::Value) description.args.back().size = arg.size;
    }
    description.devices.push_back({0, work_group_properties(function)});
    result.push_back(std::move(description));
  }
  return result;
}

}  // namespace

Programs::Programs(Reporter& reporter, const Device& device, const Table<Context>& contexts)
    : reporter_(reporter),
      device_(device),
      contexts_(contexts),
      extensions_(language_extensions(device)),
      compiler_(compiler::find_compiler()),
      builds_([context = device.context] { driver().CtxSetCurrent(context); }) {}

void Programs::warm(std::function<void()> before) {
  builds_.post(std::make_shared<Buildable>(), [this, before = std::move(before)] {
    before();
    compiler_.warm();
  });
}

std::shared_ptr<const Module> Programs::module_of(protocol::ObjectId id) {
  const auto program = programs_.get(id);
  builds_.wait(*program);
  if (!program->module)
    throw ClError(program->status != CL_SUCCESS ? program->status : CL_INVALID_PROGRAM_EXECUTABLE,
                  "program " + std::to_string(id) + " has not been built for this device");
  return program->module;
}

void Programs::report(protocol::RequestId request, const Program& program, cl_int status,
                      const std::vector<protocol::DeviceId>& devices) {
  protocol::ProgramBuilt answer{request, status, {}, describe_kernels(program)};
  for (const protocol::DeviceId device : devices) {
    protocol::BuildResult result;
    result.device = device;
    result.build_status = program.build_status;
    result.binary_status = program.binary_status;
    result.log = program.log;
    if (program.binary) {
      result.binary_type = program.binary->type;
      result.global_variables = program.binary->global_variables;
    }
    answer.devices.push_back(std::move(result));
  }
  reporter_.report(answer);
}

void Programs::load(Program& program) {
  if (program.binary->type != CL_PROGRAM_BINARY_TYPE_EXECUTABLE) return;
  check_kernels(*program.binary);
  // The driver has a cache of its own, but that is slower and smaller.
  const auto key = compiler::CacheKeyBuilder()
                       .add("machine code")
                       .add(device_.architecture())
                       .add(std::to_string(driver_version()))
                       .add(program.binary->code)
                       .key();
  auto code = cache_.get(key);
  if (!code) {
    code = assemble(program.binary->code, program.log);
    cache_.put(key, *code);
  }
  program.module = std::make_shared<const Module>(program.binary, *code, device_.most_local);
}

cl_int Programs::compile(Program& program, const compiler::Request& request, cl_int failure) {
  const MeasuredBuild measured;
  return take_result(program, compiler_.run(request, kBuildLimit), failure);
}

cl_int Programs::take_result(Program& program, compiler::Result result, cl_int failure) {
  program.log = std::move(result.log);
  program.binary.reset();
  program.module.reset();
  program.bytes.clear();
  cl_int status = result.status;
  if (status == CL_SUCCESS) {
    try {
      program.binary =
          std::make_shared<const compiler::ProgramBinary>(compiler::parse_program_binary(result.binary));
      program.bytes = std::move(result.binary);
      load(program);
    } catch (const std::exception& error) {
      program.log += std::string(program.log.empty() || program.log.ends_with('\n') ? "" : "\n") +
                     "the program cannot be loaded on the GPU: " + error.what() + "\n";
      program.binary.reset();
      program.bytes.clear();
      status = failure;
    }
  }
  program.build_status = status == CL_SUCCESS ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
  return status;
}

compiler::Request Programs::request(compiler::Request::Kind kind, const std::string& options) const {
  compiler::Request request;
  request.kind = kind;
  request.architecture = device_.architecture();
  request.options = options;
  request.extensions = extensions_;
  return request;
}

compiler::Request Programs::request(compiler::Request::Kind kind, const std::string& options,
                                    const FileSet& files) const {
  compiler::Request request = this->request(kind, options);
  request.folder = files.folder;
  for (const auto& [path, text] : files.files) {
    request.file_paths.push_back(path);
    request.files.push_back(*text);
  }
  return request;
}

void Programs::handle(protocol::CreateProgram&& message) {
  check_devices(message.devices);
  check_codes(message);
  auto program = std::make_shared<Program>();
  program->kind = message.kind;
  try {
    contexts_.get(message.context);
  } catch (const ClError& error) {
    program->status = error.status();
  }
  programs_.add(message.id, program);
  builds_.post(program, [this, message = std::move(message), program = program.get()] {
    switch (message.kind) {
      case protocol::ProgramKind::Source:
        program->source.assign(reinterpret_cast<const char*>(message.code[0].data()), message.code[0].size());
        return;
      case protocol::ProgramKind::Binary:
        try {
          program->binary = std::make_shared<const compiler::ProgramBinary>(
              compiler::parse_program_binary(message.code[0]));
          check_kernels(*program->binary);
          if (capability(program->binary->architecture) > capability(device_.architecture()))
            throw compiler::InvalidBinary("the binary is for a later GPU");
          program->bytes = message.code[0];
        } catch (const compiler::InvalidBinary&) {
          program->binary.reset();
          program->binary_status = program->status = CL_INVALID_BINARY;
        }
        break;
      case protocol::ProgramKind::Il:
        if (!compiler::find_spirv_translator()) {
          program->status = CL_INVALID_OPERATION;
        } else if (!compiler::is_spirv(message.code[0])) {
          program->status = CL_INVALID_VALUE;
        } else {
          program->il = message.code[0];
        }
        break;
      case protocol::ProgramKind::BuiltInKernels:
        program->status = CL_INVALID_VALUE;
        break;
    }
    report(message.request, *program, program->status, message.devices);
  });
}

void Programs::handle(protocol::BuildProgram&& message) {
  check_devices(message.devices);
  const auto program = programs_.get(message.program);
  auto files = files_.claim(message.files);
  builds_.post(program, [this, message = std::move(message), files = std::move(files),
                         program = program.get()] {
    cl_int status = program->status;
    if (status != CL_SUCCESS) {
      program->build_status = CL_BUILD_ERROR;
    } else if (program->kind == protocol::ProgramKind::Source || program->kind == protocol::ProgramKind::Il) {
      auto build = request(compiler::Request::Kind::Build, message.options, *files);
      build.source = program->source;
      build.il = program->il;
      build.in_parts = message.in_parts;
      status = compile(*program, build, CL_BUILD_PROGRAM_FAILURE);
    } else if (program->binary && program->binary->type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE) {
      compiler::Result ready;
      ready.binary = program->bytes;
      status = take_result(*program, std::move(ready), CL_BUILD_PROGRAM_FAILURE);
    } else {
      auto build = request(compiler::Request::Kind::Build, message.options);
      build.inputs = {program->bytes};
      status = compile(*program, build, CL_BUILD_PROGRAM_FAILURE);
    }
    report(message.request, *program, status, message.devices);
  });
}

void Programs::handle(protocol::CompileProgram&& message) {
  check_devices(message.devices);
  check_headers(message);
  std::vector<std::shared_ptr<Program>> headers;
  for (const protocol::ObjectId id : message.headers) headers.push_back(programs_.get(id));
  const auto program = programs_.get(message.program);
  auto files = files_.claim(message.files);
  builds_.post(program, [this, message = std::move(message), headers = std::move(headers),
                         files = std::move(files), program = program.get()] {
    cl_int status = program->status;
    for (const auto& header : headers)
      if (status == CL_SUCCESS) status = header->status;
    if (status == CL_SUCCESS && program->kind != protocol::ProgramKind::Source &&
        program->kind != protocol::ProgramKind::Il)
      status = CL_INVALID_OPERATION;
    if (status == CL_SUCCESS) {
      auto build = request(compiler::Request::Kind::Compile, message.options, *files);
      build.source = program->source;
      build.il = program->il;
      build.header_names = message.header_names;
      for (const auto& header : headers) build.headers.push_back(header->source);
      status = compile(*program, build, CL_COMPILE_PROGRAM_FAILURE);
    } else {
      program->build_status = CL_BUILD_ERROR;
    }
    report(message.request, *program, status, message.devices);
  });
}

void Programs::handle(protocol::LinkProgram&& message) {
  check_devices(message.devices);
  auto program = std::make_shared<Program>();
  program->kind = protocol::ProgramKind::Binary;
  std::vector<std::shared_ptr<Program>> inputs;
  for (const protocol::ObjectId id : message.inputs) inputs.push_back(programs_.get(id));
  programs_.add(message.id, program);
  builds_.post(program,
               [this, message = std::move(message), inputs = std::move(inputs), program = program.get()] {
                 auto link = request(compiler::Request::Kind::Link, message.options);
                 for (const auto& input : inputs) {
                   if (!input->binary && program->status == CL_SUCCESS)
                     program->status = input->status != CL_SUCCESS ? input->status : CL_INVALID_OPERATION;
                   link.inputs.push_back(input->bytes);
                 }
                 cl_int status = program->status;
                 if (status == CL_SUCCESS) {
                   status = compile(*program, link, CL_LINK_PROGRAM_FAILURE);
                 } else {
                   program->build_status = CL_BUILD_ERROR;
                 }
                 report(message.request, *program, status, message.devices);
               });
}

void Programs::handle(protocol::AnalyseProgram&& message) {
  check_device(message.device);
  const auto program = programs_.get(message.program);
  auto files = files_.claim(message.files);
  // Not the program itself: commands that wait for its builds need not wait for its analysis.
  builds_.post(std::make_shared<Buildable>(),
               [this, program, message = std::move(message), files = std::move(files)] {
                 protocol::ProgramAnalysed answer;
                 try {
                   answer = analyse(*program, message.options, *files);
                 } catch (const std::exception& error) {
                   answer = {0, error.what(), {}};
                 }
                 answer.request = message.request;
                 reporter_.report(answer);
               });
}

protocol::ProgramAnalysed Programs::analyse(const Program& program, const std::string& options,
                                            const FileSet& files) {
  if (program.source.empty()) return {0, "the program is not from source", {}};
  if (compiler::is_cuda_source(options)) return {0, "the program is in CUDA C++", {}};
  auto request = this->request(compiler::Request::Kind::Analyse, options, files);
  request.source = program.source;
  compiler::Result result = compiler_.run(request, kBuildLimit);
  if (result.status != CL_SUCCESS) return {0, std::move(result.log), {}};
  auto footprints = compiler::decode<compiler::Analysis>(result.binary).footprints;
  // Kernels that are built to run in parts see the whole range (Kernel::in_parts).
  for (protocol::Footprint& footprint : footprints)
    footprint.whole_dimensions = footprint.group_id_dimensions = 0;
  return {0, {}, std::move(footprints)};
}

void Programs::handle(protocol::GetProgramBinary&& message) {
  check_device(message.device);
  const auto program = programs_.get(message.program);
  builds_.post(program, [this, request = message.request, program = program.get()] {
    reporter_.report(protocol::ProgramBinary{request, CL_SUCCESS, program->bytes});
  });
}

}  // namespace clique::daemon::cuda
