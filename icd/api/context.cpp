// Section 4.4: contexts.
#include "icd/core/objects/context.hpp"

#include <algorithm>

#include "icd/api/boundary.hpp"
#include "icd/api/device_types.hpp"
#include "icd/api/entry_points.hpp"
#include "icd/api/properties.hpp"
#include "icd/core/objects/device.hpp"
#include "icd/core/objects/platform.hpp"
#include "icd/core/workers/worker.hpp"

namespace clique::icd::api {

namespace {

using Properties = std::vector<cl_context_properties>;
using Callback = Context::ErrorCallback;

/// Checks the arguments that clCreateContext and clCreateContextFromType share.
Properties checked_properties(const cl_context_properties* properties, Callback callback,
                              const void* user_data) {
  Properties list = property_list(properties);
  for_each_property(list, CL_INVALID_PROPERTY, [](cl_context_properties name, cl_context_properties value) {
    switch (name) {
      case CL_CONTEXT_PLATFORM:
        require(value == reinterpret_cast<cl_context_properties>(Platform::handle()), CL_INVALID_PLATFORM,
                "CL_CONTEXT_PLATFORM is not the handle of this platform");
        break;
      case CL_CONTEXT_INTEROP_USER_SYNC:
        require(value == CL_FALSE || value == CL_TRUE, CL_INVALID_PROPERTY,
                "CL_CONTEXT_INTEROP_USER_SYNC is ", value, "; allowed are CL_TRUE and CL_FALSE");
        break;
      default:
        throw Error(CL_INVALID_PROPERTY, "property ", Hex{static_cast<std::uint64_t>(name)},
                    " is not defined");
    }
  });
  require(callback != nullptr || user_data == nullptr, CL_INVALID_VALUE,
          "user_data is given without pfn_notify");
  return list;
}

/// Removes the devices of nodes that are no longer available.
void leave_out_unavailable(std::vector<Ref<Device>>& devices) {
  const std::vector<Worker*> workers = workers_of(devices);
  const std::vector<std::string> failures = open_all(workers);
  std::erase_if(devices, [&](const Ref<Device>& device) {
    const std::vector<Worker*> own = workers_of({&device, 1});
    return std::any_of(own.begin(), own.end(), [&](const Worker* worker) {
      const auto at = std::find(workers.begin(), workers.end(), worker) - workers.begin();
      return !failures[static_cast<std::size_t>(at)].empty();
    });
  });
}

}  // namespace

cl_context CL_API_CALL clCreateContext(const cl_context_properties* properties, cl_uint num_devices,
                                       const cl_device_id* devices, Callback pfn_notify, void* user_data,
                                       cl_int* errcode_ret) try {
  Properties list = checked_properties(properties, pfn_notify, user_data);
  require(devices != nullptr && num_devices > 0, CL_INVALID_VALUE, "num_devices is ", num_devices,
          devices == nullptr ? " and devices is NULL" : "", "; a context needs a device");
  std::vector<Ref<Device>> members = get_all<Device>(devices, num_devices);
  return created(new Context(std::move(members), std::move(list), pfn_notify, user_data), errcode_ret);
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_context CL_API_CALL clCreateContextFromType(const cl_context_properties* properties,
                                               cl_device_type device_type, Callback pfn_notify,
                                               void* user_data, cl_int* errcode_ret) try {
  Properties list = checked_properties(properties, pfn_notify, user_data);
  std::vector<Ref<Device>> members = devices_of_type(device_type);
  leave_out_unavailable(members);
  require(!members.empty(), CL_DEVICE_NOT_AVAILABLE, "no node that has devices of type ", Hex{device_type},
          " is available");
  return created(new Context(std::move(members), std::move(list), pfn_notify, user_data), errcode_ret);
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_int CL_API_CALL clRetainContext(cl_context context) try {
  get<Context>(context)->retain();
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clReleaseContext(cl_context context) try {
  get<Context>(context)->release();
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clGetContextInfo(cl_context context, cl_context_info param_name, size_t param_value_size,
                                    void* param_value, size_t* param_value_size_ret) try {
  const Ref<Context> object = get<Context>(context);
  const InfoWriter write(param_value_size, param_value, param_value_size_ret);
  switch (param_name) {
    case CL_CONTEXT_REFERENCE_COUNT:
      write(object->api_references());
      break;
    case CL_CONTEXT_NUM_DEVICES:
      write(static_cast<cl_uint>(object->devices().size()));
      break;
    case CL_CONTEXT_DEVICES: {
      std::vector<cl_device_id> handles;
      for (const Ref<Device>& device : object->devices()) handles.push_back(device.get());
      write(handles);
      break;
    }
    case CL_CONTEXT_PROPERTIES:
      write(object->properties());
      break;
    default:
      throw unknown_param(param_name);
  }
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clSetContextDestructorCallback(cl_context context, Context::DestructorCallback pfn_notify,
                                                  void* user_data) try {
  const Ref<Context> object = get<Context>(context);
  require(pfn_notify != nullptr, CL_INVALID_VALUE, "pfn_notify is NULL");
  object->add_destructor(pfn_notify, user_data);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

}  // namespace clique::icd::api
