// Sections 4.1 and 9.2: functions that are found by name.
#include <algorithm>
#include <iterator>
#include <string_view>

#include "icd/api/boundary.hpp"
#include "icd/api/entry_points.hpp"
#include "icd/api/traced.hpp"
#include "icd/core/objects/platform.hpp"
#include "icd/trace/trace.hpp"

namespace clique::icd::api {

namespace {

struct Function {
  std::string_view name;
  void (*address)();
  void (*traced)();
};

#define CLIQUE_NAMED_FUNCTION(name, function)                                     \
  {name, reinterpret_cast<void (*)()>(entry_point<false, &(function), (name)>()), \
   reinterpret_cast<void (*)()>(entry_point<true, &(function), (name)>())}
#define CLIQUE_FUNCTION(name) CLIQUE_NAMED_FUNCTION(#name, api::name)

// The core functions, and those of the extensions that Clique offers.
const Function kFunctions[] = {
    CLIQUE_FUNCTION(clGetPlatformIDs),
    CLIQUE_FUNCTION(clGetPlatformInfo),
    CLIQUE_FUNCTION(clGetDeviceIDs),
    CLIQUE_FUNCTION(clGetDeviceInfo),
    CLIQUE_FUNCTION(clCreateContext),
    CLIQUE_FUNCTION(clCreateContextFromType),
    CLIQUE_FUNCTION(clRetainContext),
    CLIQUE_FUNCTION(clReleaseContext),
    CLIQUE_FUNCTION(clGetContextInfo),
    CLIQUE_FUNCTION(clCreateCommandQueue),
    CLIQUE_FUNCTION(clRetainCommandQueue),
    CLIQUE_FUNCTION(clReleaseCommandQueue),
    CLIQUE_FUNCTION(clGetCommandQueueInfo),
    CLIQUE_FUNCTION(clSetCommandQueueProperty),
    CLIQUE_FUNCTION(clCreateBuffer),
    CLIQUE_FUNCTION(clCreateImage2D),
    CLIQUE_FUNCTION(clCreateImage3D),
    CLIQUE_FUNCTION(clRetainMemObject),
    CLIQUE_FUNCTION(clReleaseMemObject),
    CLIQUE_FUNCTION(clGetSupportedImageFormats),
    CLIQUE_FUNCTION(clGetMemObjectInfo),
    CLIQUE_FUNCTION(clGetImageInfo),
    CLIQUE_FUNCTION(clCreateSampler),
    CLIQUE_FUNCTION(clRetainSampler),
    CLIQUE_FUNCTION(clReleaseSampler),
    CLIQUE_FUNCTION(clGetSamplerInfo),
    CLIQUE_FUNCTION(clCreateProgramWithSource),
    CLIQUE_FUNCTION(clCreateProgramWithBinary),
    CLIQUE_FUNCTION(clRetainProgram),
    CLIQUE_FUNCTION(clReleaseProgram),
    CLIQUE_FUNCTION(clBuildProgram),
    CLIQUE_FUNCTION(clUnloadCompiler),
    CLIQUE_FUNCTION(clGetProgramInfo),
    CLIQUE_FUNCTION(clGetProgramBuildInfo),
    CLIQUE_FUNCTION(clCreateKernel),
    CLIQUE_FUNCTION(clCreateKernelsInProgram),
    CLIQUE_FUNCTION(clRetainKernel),
    CLIQUE_FUNCTION(clReleaseKernel),
    CLIQUE_FUNCTION(clSetKernelArg),
    CLIQUE_FUNCTION(clGetKernelInfo),
    CLIQUE_FUNCTION(clGetKernelWorkGroupInfo),
    CLIQUE_FUNCTION(clWaitForEvents),
    CLIQUE_FUNCTION(clGetEventInfo),
    CLIQUE_FUNCTION(clRetainEvent),
    CLIQUE_FUNCTION(clReleaseEvent),
    CLIQUE_FUNCTION(clGetEventProfilingInfo),
    CLIQUE_FUNCTION(clFlush),
    CLIQUE_FUNCTION(clFinish),
    CLIQUE_FUNCTION(clEnqueueReadBuffer),
    CLIQUE_FUNCTION(clEnqueueWriteBuffer),
    CLIQUE_FUNCTION(clEnqueueCopyBuffer),
    CLIQUE_FUNCTION(clEnqueueReadImage),
    CLIQUE_FUNCTION(clEnqueueWriteImage),
    CLIQUE_FUNCTION(clEnqueueCopyImage),
    CLIQUE_FUNCTION(clEnqueueCopyImageToBuffer),
    CLIQUE_FUNCTION(clEnqueueCopyBufferToImage),
    CLIQUE_FUNCTION(clEnqueueMapBuffer),
    CLIQUE_FUNCTION(clEnqueueMapImage),
    CLIQUE_FUNCTION(clEnqueueUnmapMemObject),
    CLIQUE_FUNCTION(clEnqueueNDRangeKernel),
    CLIQUE_FUNCTION(clEnqueueTask),
    CLIQUE_FUNCTION(clEnqueueNativeKernel),
    CLIQUE_FUNCTION(clEnqueueMarker),
    CLIQUE_FUNCTION(clEnqueueWaitForEvents),
    CLIQUE_FUNCTION(clEnqueueBarrier),
    CLIQUE_FUNCTION(clGetExtensionFunctionAddress),
    CLIQUE_FUNCTION(clSetEventCallback),
    CLIQUE_FUNCTION(clCreateSubBuffer),
    CLIQUE_FUNCTION(clSetMemObjectDestructorCallback),
    CLIQUE_FUNCTION(clCreateUserEvent),
    CLIQUE_FUNCTION(clSetUserEventStatus),
    CLIQUE_FUNCTION(clEnqueueReadBufferRect),
    CLIQUE_FUNCTION(clEnqueueWriteBufferRect),
    CLIQUE_FUNCTION(clEnqueueCopyBufferRect),
    CLIQUE_FUNCTION(clCreateSubDevices),
    CLIQUE_FUNCTION(clRetainDevice),
    CLIQUE_FUNCTION(clReleaseDevice),
    CLIQUE_FUNCTION(clCreateImage),
    CLIQUE_FUNCTION(clCreateProgramWithBuiltInKernels),
    CLIQUE_FUNCTION(clCompileProgram),
    CLIQUE_FUNCTION(clLinkProgram),
    CLIQUE_FUNCTION(clUnloadPlatformCompiler),
    CLIQUE_FUNCTION(clGetKernelArgInfo),
    CLIQUE_FUNCTION(clEnqueueFillBuffer),
    CLIQUE_FUNCTION(clEnqueueFillImage),
    CLIQUE_FUNCTION(clEnqueueMigrateMemObjects),
    CLIQUE_FUNCTION(clEnqueueMarkerWithWaitList),
    CLIQUE_FUNCTION(clEnqueueBarrierWithWaitList),
    CLIQUE_FUNCTION(clGetExtensionFunctionAddressForPlatform),
    CLIQUE_FUNCTION(clCreateCommandQueueWithProperties),
    CLIQUE_FUNCTION(clCreatePipe),
    CLIQUE_FUNCTION(clGetPipeInfo),
    CLIQUE_FUNCTION(clSVMAlloc),
    CLIQUE_FUNCTION(clSVMFree),
    CLIQUE_FUNCTION(clEnqueueSVMFree),
    CLIQUE_FUNCTION(clEnqueueSVMMemcpy),
    CLIQUE_FUNCTION(clEnqueueSVMMemFill),
    CLIQUE_FUNCTION(clEnqueueSVMMap),
    CLIQUE_FUNCTION(clEnqueueSVMUnmap),
    CLIQUE_FUNCTION(clCreateSamplerWithProperties),
    CLIQUE_FUNCTION(clSetKernelArgSVMPointer),
    CLIQUE_FUNCTION(clSetKernelExecInfo),
    CLIQUE_FUNCTION(clGetKernelSubGroupInfoKHR),
    CLIQUE_FUNCTION(clCloneKernel),
    CLIQUE_FUNCTION(clCreateProgramWithIL),
    CLIQUE_FUNCTION(clEnqueueSVMMigrateMem),
    CLIQUE_FUNCTION(clGetDeviceAndHostTimer),
    CLIQUE_FUNCTION(clGetHostTimer),
    CLIQUE_FUNCTION(clGetKernelSubGroupInfo),
    CLIQUE_FUNCTION(clSetDefaultDeviceCommandQueue),
    CLIQUE_FUNCTION(clSetProgramReleaseCallback),
    CLIQUE_FUNCTION(clSetProgramSpecializationConstant),
    CLIQUE_FUNCTION(clCreateBufferWithProperties),
    CLIQUE_FUNCTION(clCreateImageWithProperties),
    CLIQUE_FUNCTION(clSetContextDestructorCallback),
    CLIQUE_FUNCTION(clIcdGetPlatformIDsKHR),
    CLIQUE_FUNCTION(clCreateCommandQueueWithPropertiesKHR),
    CLIQUE_FUNCTION(clGetKernelSuggestedLocalWorkSizeKHR),
    CLIQUE_FUNCTION(clCreateCommandBufferKHR),
    CLIQUE_FUNCTION(clFinalizeCommandBufferKHR),
    CLIQUE_FUNCTION(clRetainCommandBufferKHR),
    CLIQUE_FUNCTION(clReleaseCommandBufferKHR),
    CLIQUE_FUNCTION(clEnqueueCommandBufferKHR),
    CLIQUE_FUNCTION(clCommandBarrierWithWaitListKHR),
    CLIQUE_FUNCTION(clCommandCopyBufferKHR),
    CLIQUE_FUNCTION(clCommandCopyBufferRectKHR),
    CLIQUE_FUNCTION(clCommandCopyBufferToImageKHR),
    CLIQUE_FUNCTION(clCommandCopyImageKHR),
    CLIQUE_FUNCTION(clCommandCopyImageToBufferKHR),
    CLIQUE_FUNCTION(clCommandFillBufferKHR),
    CLIQUE_FUNCTION(clCommandFillImageKHR),
    CLIQUE_FUNCTION(clCommandNDRangeKernelKHR),
    CLIQUE_FUNCTION(clGetCommandBufferInfoKHR),
    CLIQUE_FUNCTION(clCommandSVMMemcpyKHR),
    CLIQUE_FUNCTION(clCommandSVMMemFillKHR),
    CLIQUE_FUNCTION(clUpdateMutableCommandsKHR),
    CLIQUE_FUNCTION(clGetMutableCommandInfoKHR),
    CLIQUE_FUNCTION(clRemapCommandBufferKHR),
    CLIQUE_FUNCTION(clCreateSemaphoreWithPropertiesKHR),
    CLIQUE_FUNCTION(clEnqueueWaitSemaphoresKHR),
    CLIQUE_FUNCTION(clEnqueueSignalSemaphoresKHR),
    CLIQUE_FUNCTION(clGetSemaphoreInfoKHR),
    CLIQUE_FUNCTION(clRetainSemaphoreKHR),
    CLIQUE_FUNCTION(clReleaseSemaphoreKHR),
    CLIQUE_FUNCTION(clGetSemaphoreHandleForTypeKHR),
    CLIQUE_FUNCTION(clSetContentSizeBufferPoCL),
    CLIQUE_FUNCTION(clHostMemAllocINTEL),
    CLIQUE_FUNCTION(clDeviceMemAllocINTEL),
    CLIQUE_FUNCTION(clSharedMemAllocINTEL),
    CLIQUE_FUNCTION(clMemFreeINTEL),
    CLIQUE_FUNCTION(clMemBlockingFreeINTEL),
    CLIQUE_FUNCTION(clGetMemAllocInfoINTEL),
    CLIQUE_FUNCTION(clSetKernelArgMemPointerINTEL),
    CLIQUE_FUNCTION(clEnqueueMemFillINTEL),
    CLIQUE_FUNCTION(clEnqueueMemcpyINTEL),
    CLIQUE_FUNCTION(clEnqueueMigrateMemINTEL),
    CLIQUE_FUNCTION(clEnqueueMemAdviseINTEL),
    CLIQUE_FUNCTION(clCreateFileCLIQUE),
    CLIQUE_FUNCTION(clRetainFileCLIQUE),
    CLIQUE_FUNCTION(clReleaseFileCLIQUE),
    CLIQUE_FUNCTION(clGetFileInfoCLIQUE),
    CLIQUE_FUNCTION(clEnqueueReadFileCLIQUE),
    CLIQUE_FUNCTION(clEnqueueWriteFileCLIQUE),
    CLIQUE_FUNCTION(clEnqueueSVMReadFileCLIQUE),
    CLIQUE_FUNCTION(clEnqueueSVMWriteFileCLIQUE),
    CLIQUE_FUNCTION(clCreateSsgFileObjectAMD),
    CLIQUE_FUNCTION(clGetSsgFileObjectInfoAMD),
    CLIQUE_FUNCTION(clRetainSsgFileObjectAMD),
    CLIQUE_FUNCTION(clReleaseSsgFileObjectAMD),
    CLIQUE_FUNCTION(clEnqueueReadSsgFileAMD),
    CLIQUE_FUNCTION(clEnqueueWriteSsgFileAMD),
    CLIQUE_NAMED_FUNCTION("clCreateProgramWithILKHR", api::clCreateProgramWithIL),
};
#undef CLIQUE_FUNCTION
#undef CLIQUE_NAMED_FUNCTION

void* address_of(const char* name) {
  if (name == nullptr) return nullptr;
  const auto found = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                  [name](const Function& function) { return function.name == name; });
  if (found == std::end(kFunctions)) return nullptr;
  return reinterpret_cast<void*>(trace::start() ? found->traced : found->address);
}

}  // namespace

void* CL_API_CALL clGetExtensionFunctionAddress(const char* func_name) {
  return address_of(func_name);
}

void* CL_API_CALL clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char* func_name) {
  return platform == Platform::handle() ? address_of(func_name) : nullptr;
}

}  // namespace clique::icd::api
