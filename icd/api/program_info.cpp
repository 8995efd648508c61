// Section 5.8.8: queries on programs and their builds.
#include <algorithm>
#include <cstring>

#include "icd/api/boundary.hpp"
#include "icd/api/entry_points.hpp"
#include "icd/core/objects/context.hpp"
#include "icd/core/programs/kernel.hpp"
#include "icd/core/programs/program.hpp"

namespace clique::icd::api {

namespace {

std::vector<cl_device_id> handles(const Program::Devices& devices) {
  std::vector<cl_device_id> handles;
  for (const Ref<Device>& device : devices) handles.push_back(device.get());
  return handles;
}

std::vector<size_t> sizes(const std::vector<Program::Binary>& binaries) {
  std::vector<size_t> sizes;
  sizes.reserve(binaries.size());
  for (const Program::Binary& binary : binaries) sizes.push_back(binary ? binary->size() : 0);
  return sizes;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ";") + name;
  return text;
}

/// CL_PROGRAM_BINARIES: param_value is a list of destinations, one per device; NULL skips the binary.
void write_binaries(Program& program, const InfoWriter& write, size_t size, void* value) {
  std::vector<unsigned char*> places(program.devices().size());
  if (value != nullptr && size >= places.size() * sizeof places[0]) {
    std::memcpy(places.data(), value, places.size() * sizeof places[0]);
    if (std::any_of(places.begin(), places.end(), [](const auto* place) { return place != nullptr; })) {
      const auto binaries = program.binaries();
      for (size_t i = 0; i < places.size(); ++i)
        if (places[i] != nullptr && binaries[i])
          std::copy(binaries[i]->begin(), binaries[i]->end(), places[i]);
    }
  }
  write(places);
}

}  // namespace

cl_int CL_API_CALL clGetProgramInfo(cl_program program, cl_program_info param_name, size_t param_value_size,
                                    void* param_value, size_t* param_value_size_ret) try {
  const Ref<Program> object = get<Program>(program);
  const InfoWriter write(param_value_size, param_value, param_value_size_ret);
  switch (param_name) {
    case CL_PROGRAM_REFERENCE_COUNT:
      write(object->api_references());
      break;
    case CL_PROGRAM_CONTEXT:
      write(static_cast<cl_context>(object->context().get()));
      break;
    case CL_PROGRAM_NUM_DEVICES:
      write(static_cast<cl_uint>(object->devices().size()));
      break;
    case CL_PROGRAM_DEVICES:
      write(handles(object->devices()));
      break;
    case CL_PROGRAM_SOURCE:
      write(object->source());
      break;
    case CL_PROGRAM_IL:
      write(object->il());
      break;
    case CL_PROGRAM_BINARY_SIZES:
      write(sizes(object->binaries()));
      break;
    case CL_PROGRAM_BINARIES:
      write_binaries(*object, write, param_value_size, param_value);
      break;
    case CL_PROGRAM_NUM_KERNELS:
      write(object->kernel_names().size());
      break;
    case CL_PROGRAM_KERNEL_NAMES:
      write(joined(object->kernel_names()));
      break;
    case CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT:
    case CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT:
      write(cl_bool{CL_FALSE});
      break;
    default:
      throw unknown_param(param_name);
  }
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clGetProgramBuildInfo(cl_program program, cl_device_id device,
                                         cl_program_build_info param_name, size_t param_value_size,
                                         void* param_value, size_t* param_value_size_ret) try {
  const Ref<Program> object = get<Program>(program);
  const Program::Build build = object->build_of(*get<Device>(device));
  const InfoWriter write(param_value_size, param_value, param_value_size_ret);
  switch (param_name) {
    case CL_PROGRAM_BUILD_STATUS:
      write(build.status);
      break;
    case CL_PROGRAM_BUILD_OPTIONS:
      write(build.options);
      break;
    case CL_PROGRAM_BUILD_LOG:
      write(build.log);
      break;
    case CL_PROGRAM_BINARY_TYPE:
      write(build.type);
      break;
    case CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE:
      write(build.global_variables);
      break;
    default:
      throw unknown_param(param_name);
  }
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

}  // namespace clique::icd::api
