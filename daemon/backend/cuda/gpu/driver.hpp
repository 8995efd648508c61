// CUDA's driver API, opened at run time, so that one build serves nodes with and without NVIDIA GPUs.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <string>

#include "daemon/backend/common/checks.hpp"

namespace clique::daemon::cuda {

// Every call that is used: its name without "cu", its symbol in libcuda.so.1, its parameters. Symbols name
// their version, since cuda.h would choose the one of the toolkit that Clique is built with.
#define CLIQUE_CUDA_CALLS(X)                                                                                 \
  X(Init, cuInit, unsigned)                                                                                  \
  X(DriverGetVersion, cuDriverGetVersion, int*)                                                              \
  X(GetErrorName, cuGetErrorName, CUresult, const char**)                                                    \
  X(GetErrorString, cuGetErrorString, CUresult, const char**)                                                \
  X(DeviceGetCount, cuDeviceGetCount, int*)                                                                  \
  X(DeviceGet, cuDeviceGet, CUdevice*, int)                                                                  \
  X(DeviceGetName, cuDeviceGetName, char*, int, CUdevice)                                                    \
  X(DeviceGetUuid, cuDeviceGetUuid_v2, CUuuid*, CUdevice)                                                    \
  X(DeviceGetAttribute, cuDeviceGetAttribute, int*, CUdevice_attribute, CUdevice)                            \
  X(DeviceTotalMem, cuDeviceTotalMem_v2, std::size_t*, CUdevice)                                             \
  X(DeviceGetDefaultMemPool, cuDeviceGetDefaultMemPool, CUmemoryPool*, CUdevice)                             \
  X(MemPoolSetAttribute, cuMemPoolSetAttribute, CUmemoryPool, CUmemPool_attribute, void*)                    \
  X(MemPoolGetAttribute, cuMemPoolGetAttribute, CUmemoryPool, CUmemPool_attribute, void*)                    \
  X(MemPoolTrimTo, cuMemPoolTrimTo, CUmemoryPool, std::size_t)                                               \
  X(CtxGetDevice, cuCtxGetDevice, CUdevice*)                                                                 \
  X(MemGetInfo, cuMemGetInfo_v2, std::size_t*, std::size_t*)                                                 \
  X(DevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, CUcontext*, CUdevice)                                  \
  X(CtxSetCurrent, cuCtxSetCurrent, CUcontext)                                                               \
  X(CtxSynchronize, cuCtxSynchronize, void)                                                                  \
  X(MemAlloc, cuMemAlloc_v2, CUdeviceptr*, std::size_t)                                                      \
  X(MemFree, cuMemFree_v2, CUdeviceptr)                                                                      \
  X(MemAllocAsync, cuMemAllocAsync, CUdeviceptr*, std::size_t, CUstream)                                     \
  X(MemFreeAsync, cuMemFreeAsync, CUdeviceptr, CUstream)                                                     \
  X(MemGetAddressRange, cuMemGetAddressRange_v2, CUdeviceptr*, std::size_t*, CUdeviceptr)                    \
  X(MemGetAllocationGranularity, cuMemGetAllocationGranularity, std::size_t*, const CUmemAllocationProp*,    \
    CUmemAllocationGranularity_flags)                                                                        \
  X(MemAddressReserve, cuMemAddressReserve, CUdeviceptr*, std::size_t, std::size_t, CUdeviceptr,             \
    unsigned long long)                                                                                      \
  X(MemAddressFree, cuMemAddressFree, CUdeviceptr, std::size_t)                                              \
  X(MemCreate, cuMemCreate, CUmemGenericAllocationHandle*, std::size_t, const CUmemAllocationProp*,          \
    unsigned long long)                                                                                      \
  X(MemRelease, cuMemRelease, CUmemGenericAllocationHandle)                                                  \
  X(MemMap, cuMemMap, CUdeviceptr, std::size_t, std::size_t, CUmemGenericAllocationHandle,                   \
    unsigned long long)                                                                                      \
  X(MemUnmap, cuMemUnmap, CUdeviceptr, std::size_t)                                                          \
  X(MemSetAccess, cuMemSetAccess, CUdeviceptr, std::size_t, const CUmemAccessDesc*, std::size_t)             \
  X(IpcGetMemHandle, cuIpcGetMemHandle, CUipcMemHandle*, CUdeviceptr)                                        \
  X(IpcOpenMemHandle, cuIpcOpenMemHandle_v2, CUdeviceptr*, CUipcMemHandle, unsigned)                         \
  X(MemHostAlloc, cuMemHostAlloc, void**, std::size_t, unsigned)                                             \
  X(MemFreeHost, cuMemFreeHost, void*)                                                                       \
  X(MemHostRegister, cuMemHostRegister_v2, void*, std::size_t, unsigned)                                     \
  X(MemHostUnregister, cuMemHostUnregister, void*)                                                           \
  X(MemHostGetDevicePointer, cuMemHostGetDevicePointer_v2, CUdeviceptr*, void*, unsigned)                    \
  X(MemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, CUdeviceptr, const void*, std::size_t, CUstream)                  \
  X(MemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, void*, CUdeviceptr, std::size_t, CUstream)                        \
  X(MemcpyDtoDAsync, cuMemcpyDtoDAsync_v2, CUdeviceptr, CUdeviceptr, std::size_t, CUstream)                  \
  X(Memcpy3DAsync, cuMemcpy3DAsync_v2, const CUDA_MEMCPY3D*, CUstream)                                       \
  X(MemsetD8Async, cuMemsetD8Async, CUdeviceptr, unsigned char, std::size_t, CUstream)                       \
  X(MemsetD16Async, cuMemsetD16Async, CUdeviceptr, unsigned short, std::size_t, CUstream)                    \
  X(MemsetD32Async, cuMemsetD32Async, CUdeviceptr, unsigned, std::size_t, CUstream)                          \
  X(Array3DCreate, cuArray3DCreate_v2, CUarray*, const CUDA_ARRAY3D_DESCRIPTOR*)                             \
  X(ArrayDestroy, cuArrayDestroy, CUarray)                                                                   \
  X(TexObjectCreate, cuTexObjectCreate, CUtexObject*, const CUDA_RESOURCE_DESC*, const CUDA_TEXTURE_DESC*,   \
    const CUDA_RESOURCE_VIEW_DESC*)                                                                          \
  X(TexObjectDestroy, cuTexObjectDestroy, CUtexObject)                                                       \
  X(SurfObjectCreate, cuSurfObjectCreate, CUsurfObject*, const CUDA_RESOURCE_DESC*)                          \
  X(SurfObjectDestroy, cuSurfObjectDestroy, CUsurfObject)                                                    \
  X(StreamCreate, cuStreamCreate, CUstream*, unsigned)                                                       \
  X(StreamDestroy, cuStreamDestroy_v2, CUstream)                                                             \
  X(StreamQuery, cuStreamQuery, CUstream)                                                                    \
  X(StreamSynchronize, cuStreamSynchronize, CUstream)                                                        \
  X(StreamWriteValue32, cuStreamWriteValue32_v2, CUstream, CUdeviceptr, cuuint32_t, unsigned)                \
  X(StreamWaitValue32, cuStreamWaitValue32_v2, CUstream, CUdeviceptr, cuuint32_t, unsigned)                  \
  X(StreamBeginCapture, cuStreamBeginCapture_v2, CUstream, CUstreamCaptureMode)                              \
  X(StreamEndCapture, cuStreamEndCapture, CUstream, CUgraph*)                                                \
  X(StreamGetCaptureInfo, cuStreamGetCaptureInfo_v2, CUstream, CUstreamCaptureStatus*, cuuint64_t*,          \
    CUgraph*, const CUgraphNode**, std::size_t*)                                                             \
  X(StreamUpdateCaptureDependencies, cuStreamUpdateCaptureDependencies, CUstream, CUgraphNode*, std::size_t, \
    unsigned)                                                                                                \
  X(GraphCreate, cuGraphCreate, CUgraph*, unsigned)                                                          \
  X(GraphAddKernelNode, cuGraphAddKernelNode_v2, CUgraphNode*, CUgraph, const CUgraphNode*, std::size_t,     \
    const CUDA_KERNEL_NODE_PARAMS*)                                                                          \
  X(GraphInstantiateWithFlags, cuGraphInstantiateWithFlags, CUgraphExec*, CUgraph, unsigned long long)       \
  X(GraphDestroy, cuGraphDestroy, CUgraph)                                                                   \
  X(GraphExecDestroy, cuGraphExecDestroy, CUgraphExec)                                                       \
  X(GraphExecKernelNodeSetParams, cuGraphExecKernelNodeSetParams_v2, CUgraphExec, CUgraphNode,               \
    const CUDA_KERNEL_NODE_PARAMS*)                                                                          \
  X(GraphLaunch, cuGraphLaunch, CUgraphExec, CUstream)                                                       \
  X(EventCreate, cuEventCreate, CUevent*, unsigned)                                                          \
  X(EventRecord, cuEventRecord, CUevent, CUstream)                                                           \
  X(EventQuery, cuEventQuery, CUevent)                                                                       \
  X(EventElapsedTime, cuEventElapsedTime, float*, CUevent, CUevent)                                          \
  X(LinkCreate, cuLinkCreate_v2, unsigned, CUjit_option*, void**, CUlinkState*)                              \
  X(LinkAddData, cuLinkAddData_v2, CUlinkState, CUjitInputType, void*, std::size_t, const char*, unsigned,   \
    CUjit_option*, void**)                                                                                   \
  X(LinkComplete, cuLinkComplete, CUlinkState, void**, std::size_t*)                                         \
  X(LinkDestroy, cuLinkDestroy, CUlinkState)                                                                 \
  X(ModuleLoadData, cuModuleLoadData, CUmodule*, const void*)                                                \
  X(ModuleUnload, cuModuleUnload, CUmodule)                                                                  \
  X(ModuleGetFunction, cuModuleGetFunction, CUfunction*, CUmodule, const char*)                              \
  X(FuncGetAttribute, cuFuncGetAttribute, int*, CUfunction_attribute, CUfunction)                            \
  X(FuncGetParamInfo, cuFuncGetParamInfo, CUfunction, std::size_t, std::size_t*, std::size_t*)               \
  X(FuncSetAttribute, cuFuncSetAttribute, CUfunction, CUfunction_attribute, int)                             \
  X(LaunchKernel, cuLaunchKernel, CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,    \
    unsigned, CUstream, void**, void**)

/// The driver's entry points.
struct Driver {
#define CLIQUE_CUDA_MEMBER(name, symbol, ...) CUresult(CUDAAPI* name)(__VA_ARGS__) = nullptr;
  CLIQUE_CUDA_CALLS(CLIQUE_CUDA_MEMBER)
#undef CLIQUE_CUDA_MEMBER
};

/// The oldest driver that is supported, as driver_version() counts: it can tell where a kernel's parameters
/// lie, and reads the PTX version that clique-compiler writes (8.3).
inline constexpr int kLeastDriver = 12040;

/// Opens and initialises the driver, unless that has been done. Any thread. Throws std::runtime_error with a
/// message for the user if there is no driver, or it is too old or does not start.
const Driver& open_driver();

/// The driver. Only after open_driver().
const Driver& driver();

/// The version of CUDA that the driver supports: 13000 for 13.0.
int driver_version();

/// CUDA's name of the result, such as "CUDA_ERROR_INVALID_VALUE".
const char* name_of(CUresult result);

/// The OpenCL status that comes closest to the result.
cl_int status_of(CUresult result);

/// Whether no call of this process can succeed after such a result, as after a kernel's fault or the loss of
/// the GPU.
bool is_fatal(CUresult result);

/// Throws ClError, which names the call and the result, unless the call succeeded.
inline void check(CUresult result, const char* call) {
  if (result != CUDA_SUCCESS) throw ClError(status_of(result), std::string(call) + ": " + name_of(result));
}

/// Calls the driver: CLIQUE_CUDA(MemAlloc(&address, size)). Throws ClError.
#define CLIQUE_CUDA(call) ::clique::daemon::cuda::check(::clique::daemon::cuda::driver().call, "cu" #call)

}  // namespace clique::daemon::cuda
