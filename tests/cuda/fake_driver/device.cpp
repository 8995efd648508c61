// The driver, its devices, and the context.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "common.hpp"

using namespace fake_cuda;

EXPORT cuInit(unsigned) {
  return std::getenv("FAKE_CUDA_BROKEN") != nullptr ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS;
}
EXPORT cuDriverGetVersion(int* version) {
  const char* wanted = std::getenv("FAKE_CUDA_VERSION");
  *version = wanted != nullptr ? std::atoi(wanted) : 13000;
  return CUDA_SUCCESS;
}
EXPORT cuGetErrorName(CUresult result, const char** name) {
  *name = result == CUDA_ERROR_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_OF_THE_FAKE";
  return CUDA_SUCCESS;
}
EXPORT cuGetErrorString(CUresult result, const char** text) {
  return cuGetErrorName(result, text);
}
EXPORT cuDeviceGetCount(int* count) {
  const char* wanted = std::getenv("FAKE_CUDA_GPUS");
  *count = wanted != nullptr ? std::atoi(wanted) : 1;
  return CUDA_SUCCESS;
}
EXPORT cuDeviceGet(CUdevice* device, int number) {
  *device = number;
  return CUDA_SUCCESS;
}
EXPORT cuDeviceGetName(char* name, int size, CUdevice device) {
  std::strncpy(name, ("Fake GPU " + std::to_string(device)).c_str(), static_cast<std::size_t>(size));
  return CUDA_SUCCESS;
}
EXPORT cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  std::memset(uuid, device + 1, sizeof *uuid);
  return CUDA_SUCCESS;
}
EXPORT cuDeviceGetAttribute(int* value, CUdevice_attribute name, CUdevice /*device*/) {
  static const char* const wanted = std::getenv("FAKE_CUDA_CAPABILITY");
  static const int capability = wanted != nullptr ? std::atoi(wanted) : 90;
  static const std::map<int, int> values{
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, capability / 10},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, capability % 10},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
      {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
      {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
      {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
      {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512},
      {CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, 32},
      {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3},
      {CU_DEVICE_ATTRIBUTE_INTEGRATED, 0},
      {CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT, 0},
      {CU_DEVICE_ATTRIBUTE_ECC_ENABLED, 1},
      {CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 0},
      {CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 0},
      {CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 6},
      {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS, 2048},
      {CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, !is_set("FAKE_CUDA_OTHER_ADDRESSES")},
      {133, 0},  // CU_DEVICE_ATTRIBUTE_MPS_ENABLED, which older headers lack
      {CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, is_set("FAKE_CUDA_HOST_ATOMICS")},
  };
  const auto found = values.find(name);
  *value = found != values.end() ? found->second : 16384;
  return CUDA_SUCCESS;
}
EXPORT cuDeviceTotalMem_v2(std::size_t* size, CUdevice /*device*/) {
  *size = std::size_t{4} << 30U;
  return CUDA_SUCCESS;
}
EXPORT cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice /*device*/) {
  *pool = reinterpret_cast<CUmemoryPool>(1);
  return CUDA_SUCCESS;
}
EXPORT cuMemPoolSetAttribute(CUmemoryPool /*pool*/, CUmemPool_attribute /*name*/, void* /*value*/) {
  return CUDA_SUCCESS;
}
EXPORT cuMemPoolGetAttribute(CUmemoryPool /*pool*/, CUmemPool_attribute /*name*/, void* value) {
  *static_cast<cuuint64_t*>(value) = 0;
  return CUDA_SUCCESS;
}
EXPORT cuMemPoolTrimTo(CUmemoryPool /*pool*/, std::size_t /*kept*/) {
  return CUDA_SUCCESS;
}
// While the file exists that FAKE_CUDA_TAKEN_WHILE names, another process has the GPUs for itself.
EXPORT cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice /*device*/) {
  *context = nullptr;
  const char* file = std::getenv("FAKE_CUDA_TAKEN_WHILE");
  return file != nullptr && ::access(file, F_OK) == 0 ? CUDA_ERROR_DEVICE_UNAVAILABLE : CUDA_SUCCESS;
}
EXPORT cuCtxGetDevice(CUdevice* device) {
  *device = 0;
  return CUDA_SUCCESS;
}
EXPORT cuCtxSetCurrent(CUcontext /*context*/) {
  return CUDA_SUCCESS;
}
EXPORT cuCtxSynchronize() {
  return broken;
}
