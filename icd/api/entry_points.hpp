// Every entry point of the platform, declared with the type that the specification's headers give it. Each is
// defined in the file of its kind of object, or in unsupported.cpp.
#pragma once

#include <CL/cl.h>
#include <CL/cl_egl.h>
#include <CL/cl_ext.h>
#include <CL/cl_gl.h>
#include <CL/cl_icd.h>

#include "icd/api/command_buffer_functions.hpp"
#include "icd/api/semaphore_functions.hpp"
#include "icd/api/ssg_file_functions.hpp"
#include "icd/include/CL/cl_ext_clique.h"

namespace clique::icd::api {

// OpenCL 1.0
decltype(::clGetPlatformIDs) clGetPlatformIDs;
decltype(::clGetPlatformInfo) clGetPlatformInfo;
decltype(::clGetDeviceIDs) clGetDeviceIDs;
decltype(::clGetDeviceInfo) clGetDeviceInfo;
decltype(::clCreateContext) clCreateContext;
decltype(::clCreateContextFromType) clCreateContextFromType;
decltype(::clRetainContext) clRetainContext;
decltype(::clReleaseContext) clReleaseContext;
decltype(::clGetContextInfo) clGetContextInfo;
decltype(::clCreateCommandQueue) clCreateCommandQueue;
decltype(::clRetainCommandQueue) clRetainCommandQueue;
decltype(::clReleaseCommandQueue) clReleaseCommandQueue;
decltype(::clGetCommandQueueInfo) clGetCommandQueueInfo;
decltype(::clSetCommandQueueProperty) clSetCommandQueueProperty;
decltype(::clCreateBuffer) clCreateBuffer;
decltype(::clCreateImage2D) clCreateImage2D;
decltype(::clCreateImage3D) clCreateImage3D;
decltype(::clRetainMemObject) clRetainMemObject;
decltype(::clReleaseMemObject) clReleaseMemObject;
decltype(::clGetSupportedImageFormats) clGetSupportedImageFormats;
decltype(::clGetMemObjectInfo) clGetMemObjectInfo;
decltype(::clGetImageInfo) clGetImageInfo;
decltype(::clCreateSampler) clCreateSampler;
decltype(::clRetainSampler) clRetainSampler;
decltype(::clReleaseSampler) clReleaseSampler;
decltype(::clGetSamplerInfo) clGetSamplerInfo;
decltype(::clCreateProgramWithSource) clCreateProgramWithSource;
decltype(::clCreateProgramWithBinary) clCreateProgramWithBinary;
decltype(::clRetainProgram) clRetainProgram;
decltype(::clReleaseProgram) clReleaseProgram;
decltype(::clBuildProgram) clBuildProgram;
decltype(::clUnloadCompiler) clUnloadCompiler;
decltype(::clGetProgramInfo) clGetProgramInfo;
decltype(::clGetProgramBuildInfo) clGetProgramBuildInfo;
decltype(::clCreateKernel) clCreateKernel;
decltype(::clCreateKernelsInProgram) clCreateKernelsInProgram;
decltype(::clRetainKernel) clRetainKernel;
decltype(::clReleaseKernel) clReleaseKernel;
decltype(::clSetKernelArg) clSetKernelArg;
decltype(::clGetKernelInfo) clGetKernelInfo;
decltype(::clGetKernelWorkGroupInfo) clGetKernelWorkGroupInfo;
decltype(::clWaitForEvents) clWaitForEvents;
decltype(::clGetEventInfo) clGetEventInfo;
decltype(::clRetainEvent) clRetainEvent;
decltype(::clReleaseEvent) clReleaseEvent;
decltype(::clGetEventProfilingInfo) clGetEventProfilingInfo;
decltype(::clFlush) clFlush;
decltype(::clFinish) clFinish;
decltype(::clEnqueueReadBuffer) clEnqueueReadBuffer;
decltype(::clEnqueueWriteBuffer) clEnqueueWriteBuffer;
decltype(::clEnqueueCopyBuffer) clEnqueueCopyBuffer;
decltype(::clEnqueueReadImage) clEnqueueReadImage;
decltype(::clEnqueueWriteImage) clEnqueueWriteImage;
decltype(::clEnqueueCopyImage) clEnqueueCopyImage;
decltype(::clEnqueueCopyImageToBuffer) clEnqueueCopyImageToBuffer;
decltype(::clEnqueueCopyBufferToImage) clEnqueueCopyBufferToImage;
decltype(::clEnqueueMapBuffer) clEnqueueMapBuffer;
decltype(::clEnqueueMapImage) clEnqueueMapImage;
decltype(::clEnqueueUnmapMemObject) clEnqueueUnmapMemObject;
decltype(::clEnqueueNDRangeKernel) clEnqueueNDRangeKernel;
decltype(::clEnqueueTask) clEnqueueTask;
decltype(::clEnqueueNativeKernel) clEnqueueNativeKernel;
decltype(::clEnqueueMarker) clEnqueueMarker;
decltype(::clEnqueueWaitForEvents) clEnqueueWaitForEvents;
decltype(::clEnqueueBarrier) clEnqueueBarrier;
decltype(::clGetExtensionFunctionAddress) clGetExtensionFunctionAddress;
decltype(::clCreateFromGLBuffer) clCreateFromGLBuffer;
decltype(::clCreateFromGLTexture2D) clCreateFromGLTexture2D;
decltype(::clCreateFromGLTexture3D) clCreateFromGLTexture3D;
decltype(::clCreateFromGLRenderbuffer) clCreateFromGLRenderbuffer;
decltype(::clGetGLObjectInfo) clGetGLObjectInfo;
decltype(::clGetGLTextureInfo) clGetGLTextureInfo;
decltype(::clEnqueueAcquireGLObjects) clEnqueueAcquireGLObjects;
decltype(::clEnqueueReleaseGLObjects) clEnqueueReleaseGLObjects;
decltype(::clGetGLContextInfoKHR) clGetGLContextInfoKHR;

// OpenCL 1.1
decltype(::clSetEventCallback) clSetEventCallback;
decltype(::clCreateSubBuffer) clCreateSubBuffer;
decltype(::clSetMemObjectDestructorCallback) clSetMemObjectDestructorCallback;
decltype(::clCreateUserEvent) clCreateUserEvent;
decltype(::clSetUserEventStatus) clSetUserEventStatus;
decltype(::clEnqueueReadBufferRect) clEnqueueReadBufferRect;
decltype(::clEnqueueWriteBufferRect) clEnqueueWriteBufferRect;
decltype(::clEnqueueCopyBufferRect) clEnqueueCopyBufferRect;

// cl_ext_device_fission
decltype(::clCreateSubDevicesEXT) clCreateSubDevicesEXT;
decltype(::clRetainDeviceEXT) clRetainDeviceEXT;
decltype(::clReleaseDeviceEXT) clReleaseDeviceEXT;

// cl_khr_gl_event
decltype(::clCreateEventFromGLsyncKHR) clCreateEventFromGLsyncKHR;

// OpenCL 1.2
decltype(::clCreateSubDevices) clCreateSubDevices;
decltype(::clRetainDevice) clRetainDevice;
decltype(::clReleaseDevice) clReleaseDevice;
decltype(::clCreateImage) clCreateImage;
decltype(::clCreateProgramWithBuiltInKernels) clCreateProgramWithBuiltInKernels;
decltype(::clCompileProgram) clCompileProgram;
decltype(::clLinkProgram) clLinkProgram;
decltype(::clUnloadPlatformCompiler) clUnloadPlatformCompiler;
decltype(::clGetKernelArgInfo) clGetKernelArgInfo;
decltype(::clEnqueueFillBuffer) clEnqueueFillBuffer;
decltype(::clEnqueueFillImage) clEnqueueFillImage;
decltype(::clEnqueueMigrateMemObjects) clEnqueueMigrateMemObjects;
decltype(::clEnqueueMarkerWithWaitList) clEnqueueMarkerWithWaitList;
decltype(::clEnqueueBarrierWithWaitList) clEnqueueBarrierWithWaitList;
decltype(::clGetExtensionFunctionAddressForPlatform) clGetExtensionFunctionAddressForPlatform;
decltype(::clCreateFromGLTexture) clCreateFromGLTexture;

// cl_khr_egl_image
decltype(::clCreateFromEGLImageKHR) clCreateFromEGLImageKHR;
decltype(::clEnqueueAcquireEGLObjectsKHR) clEnqueueAcquireEGLObjectsKHR;
decltype(::clEnqueueReleaseEGLObjectsKHR) clEnqueueReleaseEGLObjectsKHR;

// cl_khr_egl_event
decltype(::clCreateEventFromEGLSyncKHR) clCreateEventFromEGLSyncKHR;

// OpenCL 2.0
decltype(::clCreateCommandQueueWithProperties) clCreateCommandQueueWithProperties;
decltype(::clCreatePipe) clCreatePipe;
decltype(::clGetPipeInfo) clGetPipeInfo;
decltype(::clSVMAlloc) clSVMAlloc;
decltype(::clSVMFree) clSVMFree;
decltype(::clEnqueueSVMFree) clEnqueueSVMFree;
decltype(::clEnqueueSVMMemcpy) clEnqueueSVMMemcpy;
decltype(::clEnqueueSVMMemFill) clEnqueueSVMMemFill;
decltype(::clEnqueueSVMMap) clEnqueueSVMMap;
decltype(::clEnqueueSVMUnmap) clEnqueueSVMUnmap;
decltype(::clCreateSamplerWithProperties) clCreateSamplerWithProperties;
decltype(::clSetKernelArgSVMPointer) clSetKernelArgSVMPointer;
decltype(::clSetKernelExecInfo) clSetKernelExecInfo;

// cl_khr_sub_groups
decltype(::clGetKernelSubGroupInfoKHR) clGetKernelSubGroupInfoKHR;

// OpenCL 2.1
decltype(::clCloneKernel) clCloneKernel;
decltype(::clCreateProgramWithIL) clCreateProgramWithIL;
decltype(::clEnqueueSVMMigrateMem) clEnqueueSVMMigrateMem;
decltype(::clGetDeviceAndHostTimer) clGetDeviceAndHostTimer;
decltype(::clGetHostTimer) clGetHostTimer;
decltype(::clGetKernelSubGroupInfo) clGetKernelSubGroupInfo;
decltype(::clSetDefaultDeviceCommandQueue) clSetDefaultDeviceCommandQueue;

// OpenCL 2.2
decltype(::clSetProgramReleaseCallback) clSetProgramReleaseCallback;
decltype(::clSetProgramSpecializationConstant) clSetProgramSpecializationConstant;

// OpenCL 3.0
decltype(::clCreateBufferWithProperties) clCreateBufferWithProperties;
decltype(::clCreateImageWithProperties) clCreateImageWithProperties;
decltype(::clSetContextDestructorCallback) clSetContextDestructorCallback;

// Not in the dispatch table; clGetExtensionFunctionAddress returns them.
decltype(::clIcdGetPlatformIDsKHR) clIcdGetPlatformIDsKHR;
decltype(::clCreateCommandQueueWithPropertiesKHR) clCreateCommandQueueWithPropertiesKHR;
decltype(::clGetKernelSuggestedLocalWorkSizeKHR) clGetKernelSuggestedLocalWorkSizeKHR;

/// cl_pocl_content_size, which not all headers have.
cl_int CL_API_CALL clSetContentSizeBufferPoCL(cl_mem buffer, cl_mem content_size_buffer);

// cl_intel_unified_shared_memory, whose types the OpenCL headers have under names of their own.
void* CL_API_CALL clHostMemAllocINTEL(cl_context context, const cl_properties* properties, size_t size,
                                      cl_uint alignment, cl_int* errcode_ret);
void* CL_API_CALL clDeviceMemAllocINTEL(cl_context context, cl_device_id device,
                                        const cl_properties* properties, size_t size, cl_uint alignment,
                                        cl_int* errcode_ret);
void* CL_API_CALL clSharedMemAllocINTEL(cl_context context, cl_device_id device,
                                        const cl_properties* properties, size_t size, cl_uint alignment,
                                        cl_int* errcode_ret);
cl_int CL_API_CALL clMemFreeINTEL(cl_context context, void* ptr);
cl_int CL_API_CALL clMemBlockingFreeINTEL(cl_context context, void* ptr);
cl_int CL_API_CALL clGetMemAllocInfoINTEL(cl_context context, const void* ptr, cl_uint param_name,
                                          size_t param_value_size, void* param_value,
                                          size_t* param_value_size_ret);
cl_int CL_API_CALL clSetKernelArgMemPointerINTEL(cl_kernel kernel, cl_uint arg_index, const void* arg_value);
cl_int CL_API_CALL clEnqueueMemFillINTEL(cl_command_queue command_queue, void* dst_ptr, const void* pattern,
                                         size_t pattern_size, size_t size, cl_uint num_events_in_wait_list,
                                         const cl_event* event_wait_list, cl_event* event);
cl_int CL_API_CALL clEnqueueMemcpyINTEL(cl_command_queue command_queue, cl_bool blocking, void* dst_ptr,
                                        const void* src_ptr, size_t size, cl_uint num_events_in_wait_list,
                                        const cl_event* event_wait_list, cl_event* event);
cl_int CL_API_CALL clEnqueueMigrateMemINTEL(cl_command_queue command_queue, const void* ptr, size_t size,
                                            cl_mem_migration_flags flags, cl_uint num_events_in_wait_list,
                                            const cl_event* event_wait_list, cl_event* event);
cl_int CL_API_CALL clEnqueueMemAdviseINTEL(cl_command_queue command_queue, const void* ptr, size_t size,
                                           cl_uint advice, cl_uint num_events_in_wait_list,
                                           const cl_event* event_wait_list, cl_event* event);

// cl_clique_file
clCreateFileCLIQUE_t clCreateFileCLIQUE;
clRetainFileCLIQUE_t clRetainFileCLIQUE;
clReleaseFileCLIQUE_t clReleaseFileCLIQUE;
clGetFileInfoCLIQUE_t clGetFileInfoCLIQUE;
clEnqueueReadFileCLIQUE_t clEnqueueReadFileCLIQUE;
clEnqueueWriteFileCLIQUE_t clEnqueueWriteFileCLIQUE;
clEnqueueSVMReadFileCLIQUE_t clEnqueueSVMReadFileCLIQUE;
clEnqueueSVMWriteFileCLIQUE_t clEnqueueSVMWriteFileCLIQUE;

}  // namespace clique::icd::api
