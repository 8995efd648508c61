// Section 5.9.4: queries on kernels.
#include <CL/cl_ext.h>

#include <cstring>

#include "icd/api/boundary.hpp"
#include "icd/api/entry_points.hpp"
#include "icd/core/objects/context.hpp"
#include "icd/core/programs/kernel.hpp"
#include "icd/core/programs/program.hpp"

namespace clique::icd::api {

namespace {

/// CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL.
constexpr cl_kernel_sub_group_info kCompileSubGroupSize = 0x410A;

/// The kernel on `device`, which may be NULL if the kernel has a single device. Throws
/// Error(CL_INVALID_DEVICE).
const KernelFunction::OnDevice& on_device(const Kernel& kernel, cl_device_id device) {
  const auto& devices = kernel.function().devices;
  if (device == nullptr) {
    require(devices.size() == 1, CL_INVALID_DEVICE, "device is NULL; the kernel has ", devices.size(),
            " devices");
    return devices.front();
  }
  const KernelFunction::OnDevice* found = kernel.function().on(*get<Device>(device));
  require(found != nullptr, CL_INVALID_DEVICE, "the kernel was not built for the device");
  return *found;
}

bool has_global_size(const Kernel& kernel, const Device& device) {
  return kernel.program()->origin() == Program::Origin::BuiltInKernels ||
         (device.value<cl_device_type>(CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CUSTOM) != 0;
}

bool has_sub_groups(const Device& device) {
  return device.value<cl_uint>(CL_DEVICE_MAX_NUM_SUB_GROUPS) != 0 ||
         device.text(CL_DEVICE_EXTENSIONS).find("subgroups") != std::string::npos;
}

/// The size in bytes of an answer of clGetKernelSubGroupInfo. `room` is the size that the application gives
/// for an answer that is a local size. Throws Error(CL_INVALID_VALUE) if the name is not defined or the input
/// does not match it.
size_t sub_group_answer_size(cl_kernel_sub_group_info name, size_t input_size, const void* input,
                             size_t room) {
  const bool sizes =
      input != nullptr && input_size % sizeof(size_t) == 0 && input_size / sizeof(size_t) - 1 < 3;
  switch (name) {
    case CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE:
    case CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE:
      require(sizes, CL_INVALID_VALUE, "input_value_size is ", input_size,
              "; one to three local sizes of type size_t are required");
      return sizeof(size_t);
    case CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT:
      require(input != nullptr && input_size == sizeof(size_t), CL_INVALID_VALUE, "input_value_size is ",
              input_size, "; one count of type size_t is required");
      require(room % sizeof(size_t) == 0 && room / sizeof(size_t) - 1 < 3, CL_INVALID_VALUE,
              "param_value_size is ", room, "; the answer is one to three values of type size_t");
      return room;
    case CL_KERNEL_MAX_NUM_SUB_GROUPS:
    case CL_KERNEL_COMPILE_NUM_SUB_GROUPS:
    case kCompileSubGroupSize:
      return sizeof(size_t);
    default:
      throw unknown_param(name);
  }
}

}  // namespace

cl_int CL_API_CALL clGetKernelInfo(cl_kernel kernel, cl_kernel_info param_name, size_t param_value_size,
                                   void* param_value, size_t* param_value_size_ret) try {
  const Ref<Kernel> object = get<Kernel>(kernel);
  const InfoWriter write(param_value_size, param_value, param_value_size_ret);
  switch (param_name) {
    case CL_KERNEL_FUNCTION_NAME:
      write(object->function().name);
      break;
    case CL_KERNEL_NUM_ARGS:
      write(static_cast<cl_uint>(object->function().parameters.size()));
      break;
    case CL_KERNEL_REFERENCE_COUNT:
      write(object->api_references());
      break;
    case CL_KERNEL_CONTEXT:
      write(static_cast<cl_context>(object->context().get()));
      break;
    case CL_KERNEL_PROGRAM:
      write(static_cast<cl_program>(object->program().get()));
      break;
    case CL_KERNEL_ATTRIBUTES:
      write(object->function().attributes);
      break;
    default:
      throw unknown_param(param_name);
  }
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clGetKernelArgInfo(cl_kernel kernel, cl_uint arg_index, cl_kernel_arg_info param_name,
                                      size_t param_value_size, void* param_value,
                                      size_t* param_value_size_ret) try {
  const Ref<Kernel> object = get<Kernel>(kernel);
  const KernelFunction& function = object->function();
  require(arg_index < function.parameters.size(), CL_INVALID_ARG_INDEX, "arg_index is ", arg_index,
          "; the kernel has ", function.parameters.size(), " arguments");
  require(!function.descriptions.empty(), CL_KERNEL_ARG_INFO_NOT_AVAILABLE,
          "the program was not built from source with -cl-kernel-arg-info");
  const protocol::ArgDescription& arg = function.descriptions[arg_index];
  const InfoWriter write(param_value_size, param_value, param_value_size_ret);
  switch (param_name) {
    case CL_KERNEL_ARG_ADDRESS_QUALIFIER:
      write(cl_kernel_arg_address_qualifier{arg.address});
      break;
    case CL_KERNEL_ARG_ACCESS_QUALIFIER:
      write(cl_kernel_arg_access_qualifier{arg.access});
      break;
    case CL_KERNEL_ARG_TYPE_NAME:
      write(arg.type);
      break;
    case CL_KERNEL_ARG_TYPE_QUALIFIER:
      write(cl_kernel_arg_type_qualifier{arg.qualifier});
      break;
    case CL_KERNEL_ARG_NAME:
      write(arg.name);
      break;
    default:
      throw unknown_param(param_name);
  }
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
                                            cl_kernel_work_group_info param_name, size_t param_value_size,
                                            void* param_value, size_t* param_value_size_ret) try {
  const Ref<Kernel> object = get<Kernel>(kernel);
  const KernelFunction::OnDevice& on = on_device(*object, device);
  const protocol::Bytes* told = on.property(param_name);
  const InfoWriter write(param_value_size, param_value, param_value_size_ret);
  switch (param_name) {
    case CL_KERNEL_GLOBAL_WORK_SIZE:
      require(has_global_size(*object, *on.device), CL_INVALID_VALUE,
              "CL_KERNEL_GLOBAL_WORK_SIZE is defined for custom devices and built-in kernels only");
      [[fallthrough]];
    case CL_KERNEL_WORK_GROUP_SIZE:
    case CL_KERNEL_COMPILE_WORK_GROUP_SIZE:
    case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
    case CL_KERNEL_PRIVATE_MEM_SIZE:
    case CL_KERNEL_SPILL_MEM_SIZE_INTEL:
      require(told != nullptr, CL_INVALID_VALUE, "the node's driver does not provide ", Hex{param_name});
      write(*told);
      break;
    case CL_KERNEL_LOCAL_MEM_SIZE: {
      // The worker described the kernel before any argument was set.
      cl_ulong size = object->local_args_size();
      cl_ulong own = 0;
      if (told != nullptr && told->size() == sizeof own) std::memcpy(&own, told->data(), sizeof own);
      write(size + own);
      break;
    }
    default:
      throw unknown_param(param_name);
  }
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clGetKernelSubGroupInfo(cl_kernel kernel, cl_device_id device,
                                           cl_kernel_sub_group_info param_name, size_t input_value_size,
                                           const void* input_value, size_t param_value_size,
                                           void* param_value, size_t* param_value_size_ret) try {
  const Ref<Kernel> object = get<Kernel>(kernel);
  const KernelFunction::OnDevice& on = on_device(*object, device);
  require(has_sub_groups(*on.device), CL_INVALID_OPERATION, "the device does not support sub-groups");
  const size_t room = param_value != nullptr ? param_value_size : 3 * sizeof(size_t);
  const size_t size = sub_group_answer_size(param_name, input_value_size, input_value, room);
  const InfoWriter write(param_value_size, param_value, param_value_size_ret);
  write(object->query(
      *on.device, param_name,
      {static_cast<const std::byte*>(input_value), input_value != nullptr ? input_value_size : 0}, size));
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clGetKernelSubGroupInfoKHR(cl_kernel in_kernel, cl_device_id in_device,
                                              cl_kernel_sub_group_info param_name, size_t input_value_size,
                                              const void* input_value, size_t param_value_size,
                                              void* param_value, size_t* param_value_size_ret) {
  return api::clGetKernelSubGroupInfo(in_kernel, in_device, param_name, input_value_size, input_value,
                                      param_value_size, param_value, param_value_size_ret);
}

}  // namespace clique::icd::api
