#include "daemon/backend/opencl/analysis_thread.hpp"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <utility>

#include "daemon/backend/opencl/native.hpp"
#include "daemon/backend/opencl/part_source.hpp"
#include "daemon/backend/opencl/pinned_source.hpp"
#include "daemon/compiler/contract/build_options.hpp"
#include "daemon/compiler/contract/message_io.hpp"

namespace clique::daemon::opencl {

namespace {

/// An analysis that takes longer fails.
constexpr std::chrono::seconds kLimit{60};

/// The architecture matters for code only, which nobody asks for.
constexpr const char* kAnyArchitecture = "sm_90";

std::vector<std::string> extensions_of(cl_device_id device) {
  std::istringstream names(get_text([device](std::size_t size, void* value, std::size_t* size_ret) {
    return clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, size, value, size_ret);
  }));
  return {std::istream_iterator<std::string>(names), {}};
}

/// Whether the driver's compiler accepts a source for the device.
bool accepts(cl_context context, cl_device_id device, const std::string& source, const std::string& options) {
  const char* text = source.c_str();
  const std::size_t size = source.size();
  cl_int status = CL_SUCCESS;
  const Handle<cl_program> program(clCreateProgramWithSource(context, 1, &text, &size, &status));
  return status == CL_SUCCESS &&
         clBuildProgram(program.get(), 1, &device, options.c_str(), nullptr, nullptr) == CL_SUCCESS;
}

}  // namespace

void AnalysisThread::post(const std::shared_ptr<Program>& program, protocol::AnalyseProgram message,
                          cl_device_id device, std::shared_ptr<const FileSet> files) {
  // Not the program itself: commands that wait for its builds need not wait for its analysis.
  thread_.post(std::make_shared<Buildable>(),
               [this, program, message = std::move(message), device, files = std::move(files)] {
                 protocol::ProgramAnalysed answer;
                 try {
                   answer = analyse(*program, message, device, *files);
                 } catch (const std::exception& error) {
                   answer = {0, error.what(), {}};
                 }
                 answer.request = message.request;
                 report_(answer);
               });
}

protocol::ProgramAnalysed AnalysisThread::analyse(const Program& program,
                                                  const protocol::AnalyseProgram& message,
                                                  cl_device_id device, const FileSet& files) {
  if (!program.context || program.source.empty()) return {0, "the program is not from source", {}};
  compiler::Request request;
  request.kind = compiler::Request::Kind::Analyse;
  request.architecture = kAnyArchitecture;
  request.options = message.options;
  request.source = program.source;
  request.extensions = extensions_of(device);
  request.folder = files.folder;
  for (const auto& [path, text] : files.files) {
    request.file_paths.push_back(path);
    request.files.push_back(*text);
  }
  compiler::Result result = compiler_.run(request, kLimit);
  if (result.status != CL_SUCCESS) return {0, std::move(result.log), {}};
  auto analysis = compiler::decode<compiler::Analysis>(result.binary);
  const std::string options = driver_options(compiler::Request::Kind::Build, message.options);
  if (!accepts(program.context->native.get(), device, analysis.check, options))
    return {
        0, "the program depends on predefined macros that differ between the driver and clique-compiler", {}};
  const auto asks_for_group_ids = [](const protocol::Footprint& footprint) {
    return footprint.obstacle.empty() && footprint.group_id_dimensions != 0;
  };
  auto& footprints = analysis.footprints;
  if (std::any_of(footprints.begin(), footprints.end(), asks_for_group_ids)) {
    const PinnedSource pinned(program.source, message.options, files, {});
    if (!accepts(program.context->native.get(), device, part_source(program.source, pinned), options))
      for (protocol::Footprint& footprint : footprints)
        footprint.whole_dimensions |= footprint.group_id_dimensions;
  }
  return {0, {}, std::move(footprints)};
}

}  // namespace clique::daemon::opencl
