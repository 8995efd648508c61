// Sections 4.2 and 4.3: devices, their timers, and their parts.
#include "icd/core/objects/device.hpp"

#include <algorithm>
#include <chrono>

#include "icd/api/boundary.hpp"
#include "icd/api/device_types.hpp"
#include "icd/api/entry_points.hpp"
#include "icd/core/objects/platform.hpp"

namespace clique::icd::api {

namespace {

/// CLOCK_MONOTONIC, ns.
cl_ulong host_clock() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<cl_ulong>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace

std::vector<Ref<Device>> devices_of_type(cl_device_type type) {
  constexpr cl_device_type kKnown = CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU |
                                    CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_CUSTOM;
  require(type == CL_DEVICE_TYPE_ALL || (type != 0 && (type & ~kKnown) == 0), CL_INVALID_DEVICE_TYPE,
          "device_type is ", Hex{type}, ", which is not defined");
  std::vector<Ref<Device>> found;
  for (const Ref<Device>& device : Platform::instance().devices()) {
    const auto own = device->value<cl_device_type>(CL_DEVICE_TYPE);
    const bool is_default = device == Platform::instance().devices().front();
    const bool wanted = type == CL_DEVICE_TYPE_ALL
                            ? own != CL_DEVICE_TYPE_CUSTOM
                            : (own & type) != 0 || (is_default && (type & CL_DEVICE_TYPE_DEFAULT) != 0);
    if (wanted) found.push_back(device);
  }
  require(!found.empty(), CL_DEVICE_NOT_FOUND, "no device has the type ", Hex{type});
  return found;
}

cl_int CL_API_CALL clGetDeviceIDs(cl_platform_id platform, cl_device_type device_type, cl_uint num_entries,
                                  cl_device_id* devices, cl_uint* num_devices) try {
  require(platform == Platform::handle(), CL_INVALID_PLATFORM, "platform is not the handle of this platform");
  require(devices == nullptr || num_entries > 0, CL_INVALID_VALUE, "num_entries is 0");
  require(devices != nullptr || num_devices != nullptr, CL_INVALID_VALUE, "devices and num_devices are NULL");
  if (num_devices != nullptr) *num_devices = 0;
  const std::vector<Ref<Device>> found = devices_of_type(device_type);
  if (devices != nullptr)
    for (std::size_t i = 0; i < std::min<std::size_t>(num_entries, found.size()); ++i)
      devices[i] = found[i].get();
  if (num_devices != nullptr) *num_devices = static_cast<cl_uint>(found.size());
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clGetDeviceInfo(cl_device_id device, cl_device_info param_name, size_t param_value_size,
                                   void* param_value, size_t* param_value_size_ret) try {
  const Ref<Device> object = get<Device>(device);
  const InfoWriter write(param_value_size, param_value, param_value_size_ret);
  if (param_name == CL_DEVICE_REFERENCE_COUNT) {
    write(object->api_references());
    return CL_SUCCESS;
  }
  const auto answer = object->property(param_name);
  if (!answer) throw unknown_param(param_name);
  write.bytes(*answer);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clCreateSubDevices(cl_device_id in_device, const cl_device_partition_property* properties,
                                      cl_uint num_devices, cl_device_id* out_devices,
                                      cl_uint* num_devices_ret) try {
  const Ref<Device> device = get<Device>(in_device);
  require(properties != nullptr && properties[0] != 0, CL_INVALID_VALUE, "properties are empty");
  const auto schemes = device->list<cl_device_partition_property>(CL_DEVICE_PARTITION_PROPERTIES);
  require(std::find(schemes.begin(), schemes.end(), properties[0]) != schemes.end(), CL_INVALID_VALUE,
          "the device does not support the partition property ",
          Hex{static_cast<std::uint64_t>(properties[0])});
  // The values of CL_DEVICE_PARTITION_BY_COUNTS are closed by a 0 of their own, before the one that closes
  // the list.
  const cl_device_partition_property* end = properties + 1;
  if (properties[0] == CL_DEVICE_PARTITION_BY_COUNTS) {
    while (*end != CL_DEVICE_PARTITION_BY_COUNTS_LIST_END) ++end;
  }
  ++end;
  require(*end == 0, CL_INVALID_VALUE, "properties contain more than one partition property");
  const std::vector<Ref<Device>> parts = device->partition({properties, end + 1});
  require(out_devices == nullptr || num_devices >= parts.size(), CL_INVALID_VALUE, "num_devices is ",
          num_devices, "; the partition has ", parts.size(), " sub-devices");
  if (out_devices != nullptr)
    for (std::size_t i = 0; i < parts.size(); ++i) out_devices[i] = parts[i]->give_out();
  if (num_devices_ret != nullptr) *num_devices_ret = static_cast<cl_uint>(parts.size());
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clRetainDevice(cl_device_id device) try {
  const Ref<Device> object = get<Device>(device);
  if (object->parent()) object->retain();
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clReleaseDevice(cl_device_id device) try {
  const Ref<Device> object = get<Device>(device);
  if (object->parent()) object->release();
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

// Event times are reported on the host's clock, so this is the devices' clock too.
cl_int CL_API_CALL clGetDeviceAndHostTimer(cl_device_id device, cl_ulong* device_timestamp,
                                           cl_ulong* host_timestamp) try {
  get<Device>(device);
  require(device_timestamp != nullptr && host_timestamp != nullptr, CL_INVALID_VALUE,
          "device_timestamp or host_timestamp is NULL");
  *device_timestamp = *host_timestamp = host_clock();
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clGetHostTimer(cl_device_id device, cl_ulong* host_timestamp) try {
  get<Device>(device);
  require(host_timestamp != nullptr, CL_INVALID_VALUE, "host_timestamp is NULL");
  *host_timestamp = host_clock();
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

}  // namespace clique::icd::api
