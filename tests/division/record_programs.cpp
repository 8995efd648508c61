// A layer (OPENCL_LAYERS) that writes the programs which an application builds into the folder
// $RECORD_PROGRAMS: a file for each source and options, with the options in its first line. For
// division_survey.
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl_icd.h>
#include <CL/cl_layer.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

namespace {

cl_icd_dispatch layer{};
const cl_icd_dispatch* target = nullptr;

/// The program's source; empty: it was not made from any.
std::string source_of(cl_program program) {
  std::size_t size = 0;
  if (target->clGetProgramInfo(program, CL_PROGRAM_SOURCE, 0, nullptr, &size) != CL_SUCCESS || size < 2)
    return {};
  std::string text(size, '\0');
  if (target->clGetProgramInfo(program, CL_PROGRAM_SOURCE, size, text.data(), nullptr) != CL_SUCCESS)
    return {};
  text.pop_back();
  return text;
}

cl_int build(cl_program program, cl_uint count, const cl_device_id* devices, const char* options,
             void(CL_CALLBACK* notify)(cl_program, void*), void* data) {
  const char* const folder = std::getenv("RECORD_PROGRAMS");
  if (const std::string source = source_of(program); folder != nullptr && !source.empty()) {
    const std::string text =
        std::string("// options: ") + (options == nullptr ? "" : options) + '\n' + source + '\n';
    std::error_code ignored;
    std::filesystem::create_directories(folder, ignored);
    const std::string name = std::to_string(std::hash<std::string>()(text)) + ".cl";
    std::ofstream(std::filesystem::path(folder) / name, std::ios::binary) << text;
  }
  return target->clBuildProgram(program, count, devices, options, notify, data);
}

}  // namespace

extern "C" {

cl_int clGetLayerInfo(cl_layer_info name, size_t size, void* value, size_t* size_ret) {
  if (name != CL_LAYER_API_VERSION) return CL_INVALID_VALUE;
  if (value != nullptr) {
    if (size < sizeof(cl_layer_api_version)) return CL_INVALID_VALUE;
    *static_cast<cl_layer_api_version*>(value) = CL_LAYER_API_VERSION_100;
  }
  if (size_ret != nullptr) *size_ret = sizeof(cl_layer_api_version);
  return CL_SUCCESS;
}

cl_int clInitLayer(cl_uint entries, const cl_icd_dispatch* below, cl_uint* own_entries,
                   const cl_icd_dispatch** own) {
  target = below;
  layer.clBuildProgram = build;
  *own_entries = entries;
  *own = &layer;
  return CL_SUCCESS;
}

// Newer loaders call this function instead.
cl_int clInitLayerWithProperties(cl_uint entries, const cl_icd_dispatch* below, cl_uint* own_entries,
                                 const cl_icd_dispatch** own, const void* /*properties*/) {
  return clInitLayer(entries, below, own_entries, own);
}
}
