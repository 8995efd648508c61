// Sections 5.9.1 to 5.9.3: making kernels and setting their arguments.
#include "icd/core/kernel.hpp"

#include <algorithm>

#include "icd/api/boundary.hpp"
#include "icd/api/entry_points.hpp"

namespace clique::icd::api {

namespace {

void require_svm(const Kernel& kernel) {
  const auto& devices = kernel.context()->devices();
  require(std::any_of(devices.begin(), devices.end(),
                      [](const Ref<Device>& device) {
                        return device->value<cl_device_svm_capabilities>(CL_DEVICE_SVM_CAPABILITIES) != 0;
                      }),
          CL_INVALID_OPERATION, "no device has shared virtual memory");
}

}  // namespace

cl_kernel CL_API_CALL clCreateKernel(cl_program program, const char* kernel_name, cl_int* errcode_ret) try {
  const Ref<Program> of = get<Program>(program);
  require(kernel_name != nullptr, CL_INVALID_VALUE, "no name");
  return created(of->create_kernel(kernel_name).get(), errcode_ret);
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_int CL_API_CALL clCreateKernelsInProgram(cl_program program, cl_uint num_kernels, cl_kernel* kernels,
                                            cl_uint* num_kernels_ret) try {
  const std::vector<Ref<Kernel>> all = get<Program>(program)->create_kernels();
  require(kernels == nullptr || num_kernels >= all.size(), CL_INVALID_VALUE, "there are more kernels");
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

cl_int CL_API_CALL clSetKernelArgSVMPointer(cl_kernel kernel, cl_uint arg_index,
                                            const void* /*arg_value*/) try {
  const Ref<Kernel> object = get<Kernel>(kernel);
  require_svm(*object);
  require(arg_index < object->function().parameters.size(), CL_INVALID_ARG_INDEX,
          "the kernel has no such argument");
  throw Error(CL_INVALID_ARG_VALUE, "no pointer to shared virtual memory");
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clSetKernelExecInfo(cl_kernel kernel, cl_kernel_exec_info param_name,
                                       size_t param_value_size, const void* param_value) try {
  const Ref<Kernel> object = get<Kernel>(kernel);
  require_svm(*object);
  require(param_value != nullptr && param_value_size != 0, CL_INVALID_VALUE, "no value");
  require(
      param_name == CL_KERNEL_EXEC_INFO_SVM_PTRS || param_name == CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM,
      CL_INVALID_VALUE, "no such execution information");
  throw Error(CL_INVALID_VALUE, "no pointer to shared virtual memory");
}
CLIQUE_CATCH_STATUS

}  // namespace clique::icd::api
