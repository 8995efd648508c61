// Sections 5.8.1 to 5.8.7: creating and building programs.
#include "icd/core/programs/program.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "icd/api/boundary.hpp"
#include "icd/api/entry_points.hpp"
#include "icd/core/objects/context.hpp"
#include "icd/core/objects/platform.hpp"
#include "icd/core/programs/kernel.hpp"

namespace clique::icd::api {

namespace {

using ProgramCallback = void(CL_CALLBACK*)(cl_program, void*);

/// The devices of an optional list, which must be in `all`; `all` if there is no list. Throws
/// Error(CL_INVALID_VALUE), Error(CL_INVALID_DEVICE).
Program::Devices listed_devices(const Program::Devices& all, cl_uint count, const cl_device_id* list) {
  require((list != nullptr) == (count != 0), CL_INVALID_VALUE, "num_devices is ", count,
          list == nullptr ? " and device_list is NULL" : " and device_list is not NULL");
  if (list == nullptr) return all;
  Program::Devices devices = get_all<Device>(list, count);
  for (const Ref<Device>& device : devices)
    require(std::find(all.begin(), all.end(), device) != all.end(), CL_INVALID_DEVICE,
            "a device in device_list does not belong to the program or context");
  return devices;
}

/// The devices to build for: those of an optional list, and their sub-devices, which run what is built for
/// their parent device.
Program::Devices devices_to_build_for(const Program::Devices& all, cl_uint count, const cl_device_id* list) {
  Program::Devices devices = listed_devices(all, count, list);
  const auto contains = [&devices](const Ref<Device>& device) {
    return std::find(devices.begin(), devices.end(), device) != devices.end();
  };
  for (const Ref<Device>& device : all) {
    Ref<Device> part = device;
    while (part && !contains(part)) part = part->parent();
    if (part && part != device) devices.push_back(device);
  }
  return devices;
}

/// Checks that all devices have a compiler, or a linker.
void require_each(const Program::Devices& devices, cl_device_info property, cl_int status) {
  for (const Ref<Device>& device : devices)
    if (device->value<cl_bool>(property) != CL_TRUE)
      throw Error(status, "the device ", device->text(CL_DEVICE_NAME), " has no ",
                  property == CL_DEVICE_LINKER_AVAILABLE ? "linker" : "compiler");
}

void require_il(const Program::Devices& devices) {
  const bool supported = std::any_of(devices.begin(), devices.end(), [](const Ref<Device>& device) {
    return !device->text(CL_DEVICE_IL_VERSION).empty();
  });
  require(supported, CL_INVALID_OPERATION, "no device accepts intermediate language");
}

void require_callback(ProgramCallback callback, const void* user_data) {
  require(callback != nullptr || user_data == nullptr, CL_INVALID_VALUE,
          "user_data is given without pfn_notify");
}

std::string text(const char* options) {
  return options != nullptr ? options : "";
}

/// Checks that each of the names, which semicolons separate, is a built-in kernel of some device. Throws
/// Error(CL_INVALID_VALUE).
void require_built_in(const Program::Devices& devices, std::string_view names) {
  const auto lists = [](const std::string& all, std::string_view name) {
    return (";" + all + ";").find(";" + std::string(name) + ";") != std::string::npos;
  };
  for (bool last = false; !last;) {
    const std::size_t end = std::min(names.find(';'), names.size());
    const std::string_view name = names.substr(0, end);
    const bool known =
        !name.empty() && std::any_of(devices.begin(), devices.end(), [&](const Ref<Device>& device) {
          return lists(device->text(CL_DEVICE_BUILT_IN_KERNELS), name);
        });
    require(known, CL_INVALID_VALUE, "no device has a built-in kernel '", name, "'");
    last = end == names.size();
    names.remove_prefix(last ? end : end + 1);
  }
}

protocol::Bytes bytes(const void* data, size_t size) {
  const auto* begin = static_cast<const std::uint8_t*>(data);
  return {begin, begin + size};
}

}  // namespace

cl_program CL_API_CALL clCreateProgramWithSource(cl_context context, cl_uint count, const char** strings,
                                                 const size_t* lengths, cl_int* errcode_ret) try {
  auto in = get<Context>(context);
  require(count != 0 && strings != nullptr, CL_INVALID_VALUE, "count is ", count,
          strings == nullptr ? " and strings is NULL" : "");
  std::string source;
  for (cl_uint i = 0; i < count; ++i) {
    require(strings[i] != nullptr, CL_INVALID_VALUE, "strings[", i, "] is NULL");
    const bool terminated = lengths == nullptr || lengths[i] == 0;
    source.append(strings[i], terminated ? std::strlen(strings[i]) : lengths[i]);
  }
  return created(Program::from_source(std::move(in), std::move(source)).get(), errcode_ret);
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_program CL_API_CALL clCreateProgramWithIL(cl_context context, const void* il, size_t length,
                                             cl_int* errcode_ret) try {
  auto in = get<Context>(context);
  require_il(in->devices());
  require(il != nullptr && length != 0, CL_INVALID_VALUE, "length is ", length,
          il == nullptr ? " and il is NULL" : "");
  return created(Program::from_il(std::move(in), bytes(il, length)).get(), errcode_ret);
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_program CL_API_CALL clCreateProgramWithBinary(cl_context context, cl_uint num_devices,
                                                 const cl_device_id* device_list, const size_t* lengths,
                                                 const unsigned char** binaries, cl_int* binary_status,
                                                 cl_int* errcode_ret) try {
  auto in = get<Context>(context);
  require(device_list != nullptr && num_devices != 0, CL_INVALID_VALUE, "num_devices is ", num_devices,
          device_list == nullptr ? " and device_list is NULL" : "");
  auto devices = listed_devices(in->devices(), num_devices, device_list);
  require(lengths != nullptr && binaries != nullptr, CL_INVALID_VALUE, "lengths or binaries is NULL");
  const std::span<cl_int> statuses(binary_status, binary_status != nullptr ? num_devices : 0);
  std::vector<protocol::Bytes> code;
  bool complete = true;
  for (cl_uint i = 0; i < num_devices; ++i) {
    const bool given = lengths[i] != 0 && binaries[i] != nullptr;
    complete = complete && given;
    if (!statuses.empty()) statuses[i] = given ? CL_SUCCESS : CL_INVALID_VALUE;
    code.push_back(given ? bytes(binaries[i], lengths[i]) : protocol::Bytes{});
  }
  require(complete, CL_INVALID_VALUE, "a binary is NULL or has length 0");
  auto program = Program::from_binaries(std::move(in), std::move(devices), std::move(code), statuses);
  return created(program.get(), errcode_ret);
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_program CL_API_CALL clCreateProgramWithBuiltInKernels(cl_context context, cl_uint num_devices,
                                                         const cl_device_id* device_list,
                                                         const char* kernel_names, cl_int* errcode_ret) try {
  auto in = get<Context>(context);
  require(device_list != nullptr && num_devices != 0, CL_INVALID_VALUE, "num_devices is ", num_devices,
          device_list == nullptr ? " and device_list is NULL" : "");
  require(kernel_names != nullptr, CL_INVALID_VALUE, "kernel_names is NULL");
  auto devices = listed_devices(in->devices(), num_devices, device_list);
  require_built_in(devices, kernel_names);
  auto program = Program::from_built_in_kernels(std::move(in), std::move(devices), kernel_names);
  return created(program.get(), errcode_ret);
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_int CL_API_CALL clRetainProgram(cl_program program) try {
  get<Program>(program)->retain();
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clReleaseProgram(cl_program program) try {
  get<Program>(program)->release();
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

/// Deprecated, and only for programs with global constructors, which no device has.
cl_int CL_API_CALL clSetProgramReleaseCallback(cl_program program, ProgramCallback pfn_notify,
                                               void* /*user_data*/) try {
  get<Program>(program);
  require(pfn_notify != nullptr, CL_INVALID_VALUE, "pfn_notify is NULL");
  throw Error(CL_INVALID_OPERATION, "no device supports program scope constructors and destructors");
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clSetProgramSpecializationConstant(cl_program program, cl_uint spec_id, size_t spec_size,
                                                      const void* spec_value) try {
  const auto in = get<Program>(program);
  require_il(in->devices());
  require(in->origin() == Program::Origin::Il, CL_INVALID_PROGRAM,
          "the program was not created from intermediate language");
  require_each(in->devices(), CL_DEVICE_COMPILER_AVAILABLE, CL_COMPILER_NOT_AVAILABLE);
  require(spec_value != nullptr && spec_size != 0, CL_INVALID_VALUE, "spec_size is ", spec_size,
          spec_value == nullptr ? " and spec_value is NULL" : "");
  in->specialize(spec_id, {static_cast<const std::byte*>(spec_value), spec_size});
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clBuildProgram(cl_program program, cl_uint num_devices, const cl_device_id* device_list,
                                  const char* options, ProgramCallback pfn_notify, void* user_data) try {
  const auto built = get<Program>(program);
  const auto devices = devices_to_build_for(built->devices(), num_devices, device_list);
  require_callback(pfn_notify, user_data);
  const auto origin = built->origin();
  if (origin == Program::Origin::Source || origin == Program::Origin::Il)
    require_each(devices, CL_DEVICE_COMPILER_AVAILABLE, CL_COMPILER_NOT_AVAILABLE);
  require(origin != Program::Origin::Link, CL_INVALID_OPERATION, "the program was created by clLinkProgram");
  return built->build(devices, text(options), {pfn_notify, user_data});
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clCompileProgram(cl_program program, cl_uint num_devices, const cl_device_id* device_list,
                                    const char* options, cl_uint num_input_headers,
                                    const cl_program* input_headers, const char** header_include_names,
                                    ProgramCallback pfn_notify, void* user_data) try {
  const auto compiled = get<Program>(program);
  const auto devices = devices_to_build_for(compiled->devices(), num_devices, device_list);
  require((num_input_headers != 0) == (input_headers != nullptr) &&
              (num_input_headers != 0) == (header_include_names != nullptr),
          CL_INVALID_VALUE, "num_input_headers is ", num_input_headers,
          "; input_headers and header_include_names must be given if it is not 0, and NULL otherwise");
  std::vector<Program::Header> headers;
  for (cl_uint i = 0; i < num_input_headers; ++i) {
    require(header_include_names[i] != nullptr, CL_INVALID_VALUE, "header_include_names[", i, "] is NULL");
    headers.push_back({header_include_names[i], get<Program>(input_headers[i])});
    require(headers.back().program->origin() == Program::Origin::Source, CL_INVALID_PROGRAM, "input_headers[",
            i, "] was not created from source");
  }
  require_callback(pfn_notify, user_data);
  require_each(devices, CL_DEVICE_COMPILER_AVAILABLE, CL_COMPILER_NOT_AVAILABLE);
  require(compiled->origin() == Program::Origin::Source || compiled->origin() == Program::Origin::Il,
          CL_INVALID_OPERATION, "the program was not created from source or intermediate language");
  return compiled->compile(devices, text(options), headers, {pfn_notify, user_data});
}
CLIQUE_CATCH_STATUS

cl_program CL_API_CALL clLinkProgram(cl_context context, cl_uint num_devices, const cl_device_id* device_list,
                                     const char* options, cl_uint num_input_programs,
                                     const cl_program* input_programs, ProgramCallback pfn_notify,
                                     void* user_data, cl_int* errcode_ret) try {
  auto in = get<Context>(context);
  auto devices = devices_to_build_for(in->devices(), num_devices, device_list);
  require(num_input_programs != 0 && input_programs != nullptr, CL_INVALID_VALUE, "num_input_programs is ",
          num_input_programs, input_programs == nullptr ? " and input_programs is NULL" : "");
  const auto inputs = get_all<Program>(input_programs, num_input_programs);
  for (const auto& input : inputs)
    require(input->context() == in, CL_INVALID_PROGRAM,
            "a program in input_programs belongs to another context");
  require_callback(pfn_notify, user_data);
  require_each(devices, CL_DEVICE_LINKER_AVAILABLE, CL_LINKER_NOT_AVAILABLE);
  cl_int status = CL_SUCCESS;
  const cl_program linked = Program::link(std::move(in), std::move(devices), text(options), inputs,
                                          {pfn_notify, user_data}, status);
  if (errcode_ret != nullptr) *errcode_ret = status;
  return linked;
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

/// A hint that is not passed on to the nodes' drivers, whose compilers other sessions may be using.
cl_int CL_API_CALL clUnloadPlatformCompiler(cl_platform_id platform) try {
  require(platform == Platform::handle(), CL_INVALID_PLATFORM, "platform is not the handle of this platform");
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

/// Deprecated; as clUnloadPlatformCompiler.
cl_int CL_API_CALL clUnloadCompiler() {
  return CL_SUCCESS;
}

}  // namespace clique::icd::api
