// The extensions that Clique offers, and lists of names with versions.
#pragma once

#include <CL/cl_ext.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace clique::icd {

/// Whether a device's extension still works through Clique. Extensions of the kernel language do, and those
/// whose host side consists of queries or build options. Extensions with entry points or properties that
/// Clique lacks do not.
bool carries_extension(std::string_view name);
/// The extensions that Clique implements itself, whatever the devices support.
std::vector<cl_name_version> own_extensions();
/// Whether a clGetDeviceInfo name belongs to an extension that Clique does not offer.
bool belongs_to_absent_extension(cl_device_info name);
/// Whether an optional feature of OpenCL C (CL_DEVICE_OPENCL_C_FEATURES) needs something that Clique lacks.
bool is_absent_feature(std::string_view name);

/// CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR of a device whose queues support these properties: kernels may
/// print, a command buffer may be enqueued while it runs, it may have several queues of the device, and these
/// may be out of order.
cl_device_command_buffer_capabilities_khr command_buffer_capabilities(cl_command_queue_properties queues);

cl_name_version name_version(std::string_view name, cl_version version);
inline std::string_view name_of(const cl_name_version& entry) {
  // A node may leave out the closing zero.
  return {entry.name, ::strnlen(entry.name, sizeof entry.name)};
}
/// Sorted by name, each name once: of several versions, the highest.
std::vector<cl_name_version> sorted_by_name(std::vector<cl_name_version> list);
/// The names, separated by single spaces.
std::string names_of(const std::vector<cl_name_version>& list);
/// The words of a text, which are separated by any number of spaces.
std::vector<std::string_view> words(std::string_view text);

}  // namespace clique::icd
