// Allocating, reserving, mapping and registering memory.
#include "memory.hpp"

#include <fcntl.h>

#include <string>

#include "streams.hpp"

using namespace fake_cuda;

namespace {

/// What a CUipcMemHandle holds, to name memory of this process.
struct SharedName {
  pid_t process;
  int file;
  std::size_t size;
};

/// Bytes of the largest piece of host memory that can be registered.
constexpr std::size_t kMostRegistered = 1U << 30U;

/// Bytes for which there is always room.
constexpr std::size_t kSmall = 1U << 20U;

/// Whether another process, which has ended, still holds all memory: while the file exists that
/// FAKE_CUDA_FULL_WHILE names.
bool others_hold() {
  static const char* const file = std::getenv("FAKE_CUDA_FULL_WHILE");
  return file != nullptr && ::access(file, F_OK) == 0;
}

/// @returns MAP_FAILED if there are no addresses.
void* reserve_aligned(std::size_t size) {
  constexpr std::size_t kUnit = Pages::kGranularity;
  void* const all =
      ::mmap(nullptr, size + kUnit, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) return all;
  const auto begin = reinterpret_cast<std::uintptr_t>(all);
  const std::uintptr_t place = (begin + kUnit - 1) / kUnit * kUnit;
  if (place != begin) ::munmap(all, place - begin);
  ::munmap(reinterpret_cast<void*>(place + size), begin + kUnit - place);
  return reinterpret_cast<void*>(place);
}

}  // namespace

EXPORT cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  *total = std::size_t{4} << 30U;
  *free = others_hold() ? 0 : *total;
  return CUDA_SUCCESS;
}
EXPORT cuMemAlloc_v2(CUdeviceptr* address, std::size_t size) {
  if (broken != CUDA_SUCCESS) return broken;
  if (size > (std::size_t{4} << 30U)) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = memory.take_file(size);
  return *address != 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
EXPORT cuMemGetAddressRange_v2(CUdeviceptr* /*base*/, std::size_t* size, CUdeviceptr address) {
  const auto block = memory.find(address);
  if (!block) return CUDA_ERROR_NOT_FOUND;
  *size = block->size;
  return CUDA_SUCCESS;
}
EXPORT cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr address) {
  const auto block = memory.find(address);
  if (!block || block->file < 0) return CUDA_ERROR_INVALID_VALUE;
  const SharedName name{::getpid(), block->file, block->size};
  *handle = {};
  std::memcpy(handle->reserved, &name, sizeof name);
  return CUDA_SUCCESS;
}
EXPORT cuIpcOpenMemHandle_v2(CUdeviceptr* address, CUipcMemHandle handle, unsigned /*flags*/) {
  SharedName name{};
  std::memcpy(&name, handle.reserved, sizeof name);
  const std::string path = "/proc/" + std::to_string(name.process) + "/fd/" + std::to_string(name.file);
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return CUDA_ERROR_INVALID_VALUE;
  *address = memory.add_file(file, name.size);
  return *address != 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
EXPORT cuMemGetAllocationGranularity(std::size_t* size, const CUmemAllocationProp* /*property*/,
                                     CUmemAllocationGranularity_flags /*which*/) {
  *size = Pages::kGranularity;
  return CUDA_SUCCESS;
}
EXPORT cuMemAddressReserve(CUdeviceptr* address, std::size_t size, std::size_t /*alignment*/,
                           CUdeviceptr wanted, unsigned long long /*flags*/) {
  // Like the real driver, takes hints only for large pieces. 0 is no hint: as root, the kernel would place
  // the memory there.
  void* place = MAP_FAILED;
  if (wanted != 0 && size >= (32U << 20U) && wanted % (32U << 20U) == 0)
    place = ::mmap(reinterpret_cast<void*>(wanted), size, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (place == MAP_FAILED) place = reserve_aligned(size);
  if (place == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = reinterpret_cast<CUdeviceptr>(place);
  return CUDA_SUCCESS;
}
EXPORT cuMemAddressFree(CUdeviceptr address, std::size_t size) {
  return ::munmap(reinterpret_cast<void*>(address), size) == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
EXPORT cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t size,
                   const CUmemAllocationProp* /*property*/, unsigned long long /*flags*/) {
  return broken != CUDA_SUCCESS ? broken.load() : pages.create(handle, size);
}
EXPORT cuMemRelease(CUmemGenericAllocationHandle handle) {
  return pages.release(handle);
}
EXPORT cuMemMap(CUdeviceptr address, std::size_t size, std::size_t /*offset*/,
                CUmemGenericAllocationHandle handle, unsigned long long /*flags*/) {
  return pages.map(address, size, handle);
}
EXPORT cuMemSetAccess(CUdeviceptr address, std::size_t size, const CUmemAccessDesc* /*access*/,
                      std::size_t /*count*/) {
  return pages.set_access(address, size);
}
EXPORT cuMemUnmap(CUdeviceptr address, std::size_t size) {
  return pages.unmap(address, size);
}
EXPORT cuMemFree_v2(CUdeviceptr address) {
  memory.give_back(address);
  return broken;
}
EXPORT cuMemAllocAsync(CUdeviceptr* address, std::size_t size, CUstream /*stream*/) {
  if (broken != CUDA_SUCCESS) return broken;
  if (size > (std::size_t{4} << 30U) || (size > kSmall && others_hold())) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = memory.take(size);
  return CUDA_SUCCESS;
}
EXPORT cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return stream->put([address] { memory.give_back(address); });
}
EXPORT cuMemHostAlloc(void** block, std::size_t size, unsigned /*flags*/) {
  *block = std::aligned_alloc(4096, (size + 4095) / 4096 * 4096);
  return CUDA_SUCCESS;
}
EXPORT cuMemHostRegister_v2(void* block, std::size_t size, unsigned flags) {
  if (broken != CUDA_SUCCESS) return broken;
  if (flags != (CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP)) return CUDA_ERROR_INVALID_VALUE;
  if (size > kMostRegistered) return CUDA_ERROR_OUT_OF_MEMORY;
  const auto address = reinterpret_cast<CUdeviceptr>(block);
  if (memory.find(address)) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  memory.add_registered(address, size);
  return CUDA_SUCCESS;
}
EXPORT cuMemHostUnregister(void* block) {
  const auto address = reinterpret_cast<CUdeviceptr>(block);
  if (!memory.find(address)) return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
  memory.forget(address);
  return CUDA_SUCCESS;
}
EXPORT cuMemFreeHost(void* block) {
  std::free(block);
  return CUDA_SUCCESS;
}
EXPORT cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* block, unsigned /*flags*/) {
  *address = reinterpret_cast<CUdeviceptr>(block);
  if (is_set("FAKE_CUDA_OTHER_ADDRESSES") && memory.find(*address)) *address += 1U << 20U;
  return CUDA_SUCCESS;
}
