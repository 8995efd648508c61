// Sections 5.9.1 to 5.9.3: making kernels and setting their arguments.
#include "icd/core/programs/kernel.hpp"

#include <algorithm>

#include "icd/api/boundary.hpp"
#include "icd/api/entry_points.hpp"
#include "icd/api/works.hpp"
#include "icd/core/objects/context.hpp"
#include "icd/core/objects/memory.hpp"
#include "icd/core/programs/program.hpp"

namespace clique::icd::api {

namespace {

bool any_device(const Kernel& kernel, bool (Device::*supports)() const) {
  const auto& devices = kernel.context()->devices();
  return std::any_of(devices.begin(), devices.end(),
                     [supports](const Ref<Device>& device) { return (device.get()->*supports)(); });
}

void require_svm(const Kernel& kernel) {
  require(any_device(kernel, &Device::has_svm), CL_INVALID_OPERATION,
          "no device of the context supports shared virtual memory");
}

/// The allocations into which a list of pointers points. Throws Error(CL_INVALID_VALUE).
std::vector<Ref<Memory>> allocations(const Kernel& kernel, size_t size, const void* pointers) {
  // An empty list is a NULL pointer with size 0.
  require((size == 0) == (pointers == nullptr) && size % sizeof(void*) == 0, CL_INVALID_VALUE,
          "param_value_size is ", size, pointers == nullptr ? " and param_value is NULL" : "",
          "; a list of pointers is required");
  std::vector<Ref<Memory>> result;
  for (size_t i = 0; i < size / sizeof(void*); ++i) {
    SvmPointer svm = kernel.context()->svm().find(static_cast<void* const*>(pointers)[i]);
    require(static_cast<bool>(svm), CL_INVALID_VALUE, "pointer ", i,
            " does not point into shared virtual memory");
    if (std::find(result.begin(), result.end(), svm.allocation) == result.end())
      result.push_back(std::move(svm.allocation));
  }
  return result;
}

bool boolean(size_t size, const void* value) {
  require(value != nullptr && size == sizeof(cl_bool), CL_INVALID_VALUE, "param_value_size is ", size,
          "; a cl_bool is required");
  return *static_cast<const cl_bool*>(value) != CL_FALSE;
}

}  // namespace

cl_kernel CL_API_CALL clCreateKernel(cl_program program, const char* kernel_name, cl_int* errcode_ret) try {
  const Ref<Program> of = get<Program>(program);
  require(kernel_name != nullptr, CL_INVALID_VALUE, "kernel_name is NULL");
  return created(of->create_kernel(kernel_name).get(), errcode_ret);
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_int CL_API_CALL clCreateKernelsInProgram(cl_program program, cl_uint num_kernels, cl_kernel* kernels,
                                            cl_uint* num_kernels_ret) try {
  const std::vector<Ref<Kernel>> all = get<Program>(program)->create_kernels();
  require(kernels == nullptr || num_kernels >= all.size(), CL_INVALID_VALUE, "num_kernels is ", num_kernels,
          "; the program has ", all.size(), " kernels");
  if (kernels != nullptr)
    std::transform(all.begin(), all.end(), kernels,
                   [](const Ref<Kernel>& kernel) { return kernel->give_out(); });
  if (num_kernels_ret != nullptr) *num_kernels_ret = static_cast<cl_uint>(all.size());
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_kernel CL_API_CALL clCloneKernel(cl_kernel source_kernel, cl_int* errcode_ret) try {
  return created(get<Kernel>(source_kernel)->clone().get(), errcode_ret);
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_int CL_API_CALL clRetainKernel(cl_kernel kernel) try {
  get<Kernel>(kernel)->retain();
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clReleaseKernel(cl_kernel kernel) try {
  get<Kernel>(kernel)->release();
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clSetKernelArg(cl_kernel kernel, cl_uint arg_index, size_t arg_size,
                                  const void* arg_value) try {
  get<Kernel>(kernel)->set_arg(arg_index, arg_size, arg_value);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

void set_svm_arg(Kernel& kernel, cl_uint index, const void* pointer) {
  require_svm(kernel);
  kernel.set_arg_svm(index, pointer);
}

void set_exec_info(Kernel& kernel, cl_kernel_exec_info param_name, size_t param_value_size,
                   const void* param_value) {
  require_svm(kernel);
  switch (param_name) {
    case CL_KERNEL_EXEC_INFO_SVM_PTRS:
      kernel.set_reached(Kernel::ReachedBy::SvmPointers, allocations(kernel, param_value_size, param_value));
      break;
    case CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL:
      kernel.set_reached(Kernel::ReachedBy::UsmPointers, allocations(kernel, param_value_size, param_value));
      break;
    case CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL:
      kernel.set_indirect_access(boolean(param_value_size, param_value));
      break;
    case CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL:
    case CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL:
      // Devices that can access such allocations at all do so without preparation.
      require(any_device(kernel, &Device::maps_host_memory), CL_INVALID_OPERATION,
              "no device of the context supports host or shared allocations");
      boolean(param_value_size, param_value);
      break;
    case CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM:
      require(!boolean(param_value_size, param_value), CL_INVALID_OPERATION,
              "no device supports fine-grained system sharing");
      break;
    default:
      throw unknown_param(param_name);
  }
}

cl_int CL_API_CALL clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint arg_index, const void* arg_value) try {
  set_svm_arg(*get<Kernel>(kernel), arg_index, arg_value);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clSetKernelExecInfo(cl_kernel kernel, cl_kernel_exec_info param_name,
                                       size_t param_value_size, const void* param_value) try {
  set_exec_info(*get<Kernel>(kernel), param_name, param_value_size, param_value);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

}  // namespace clique::icd::api
