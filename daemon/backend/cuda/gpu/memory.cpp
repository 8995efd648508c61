#include "daemon/backend/cuda/gpu/memory.hpp"

#include <algorithm>
#include <limits>

#include "daemon/backend/cuda/gpu/room.hpp"
#include "protocol/transport/placed_memory.hpp"

namespace clique::daemon::cuda {

namespace {
/// Describes memory of the GPU that can be mapped at any address.
CUmemAllocationProp placed_memory(CUdevice device) {
  CUmemAllocationProp property{};
  property.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  property.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  property.location.id = device;
  return property;
}

CUresult at_once(const std::function<CUresult()>& allocate) {
  return allocate();
}

/// Maps new memory of the GPU at reserved addresses. Throws ClError.
/// @param size a multiple of the granularity
/// @param call calls what allocates: at_once or when_there_is_room
void map_new(CUdevice device, CUdeviceptr address, std::size_t size,
             CUresult (&call)(const std::function<CUresult()>&)) {
  const CUmemAllocationProp property = placed_memory(device);
  CUmemGenericAllocationHandle memory = 0;
  check(call([&] { return driver().MemCreate(&memory, size, &property, 0); }), "cuMemCreate");
  const CUresult mapped = driver().MemMap(address, size, 0, memory, 0);
  // The mapping keeps the memory.
  static_cast<void>(driver().MemRelease(memory));
  check(mapped, "cuMemMap");
  const CUmemAccessDesc access{property.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  const CUresult accessible = driver().MemSetAccess(address, size, &access, 1);
  if (accessible != CUDA_SUCCESS) static_cast<void>(driver().MemUnmap(address, size));
  check(accessible, "cuMemSetAccess");
}
}  // namespace

/// Memory that is mapped at a chosen address.
class DeviceMemory::Placed {
 public:
  /// @param size a multiple of the granularity
  explicit Placed(std::size_t size) : size_(size), room_(rounded(size, protocol::PlacedMemory::kGranule)) {}
  ~Placed() {
    if (mapped_) driver().MemUnmap(reserved_, size_);
    if (reserved_ != 0) driver().MemAddressFree(reserved_, room_);
  }
  Placed(const Placed&) = delete;
  Placed& operator=(const Placed&) = delete;

  void put(CUdeviceptr address, CUdevice device) {
    // The address is a hint: if the driver cannot meet it, or `room_` were less than kGranule, it chooses
    // another.
    CLIQUE_CUDA(MemAddressReserve(&reserved_, room_, 0, address, 0));
    if (reserved_ != address)
      throw ClError(CL_MEM_OBJECT_ALLOCATION_FAILURE, "the address of a buffer is in use on the GPU");
    map_new(device, reserved_, size_, when_there_is_room);
    mapped_ = true;
  }
  const CUdeviceptr& address() const { return reserved_; }

 private:
  const std::size_t size_;
  const std::size_t room_;
  CUdeviceptr reserved_ = 0;
  bool mapped_ = false;
};

DeviceMemory::DeviceMemory(const Device& device) : device_(device.native) {
  if (device.placeable) {
    const CUmemAllocationProp property = placed_memory(device_);
    CLIQUE_CUDA(MemGetAllocationGranularity(&granularity_, &property, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  }
  CLIQUE_CUDA(StreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
  if (!device.pooled) return;
  // Freed memory stays in the pool, since the session will ask for it again, or end.
  CLIQUE_CUDA(DeviceGetDefaultMemPool(&pool_, device_));
  cuuint64_t kept = std::numeric_limits<cuuint64_t>::max();
  CLIQUE_CUDA(MemPoolSetAttribute(pool_, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &kept));
}

void DeviceMemory::trim() {
  if (pool_ == nullptr) return;
  CLIQUE_CUDA(StreamSynchronize(stream_));
  CLIQUE_CUDA(MemPoolTrimTo(pool_, 0));
}

void DeviceMemory::warm() {
  try {
    take(1);
  } catch (const ClError&) {
    // The first buffer reports it.
  }
}

std::shared_ptr<const CUdeviceptr> DeviceMemory::take(std::uint64_t size) {
  auto address = std::make_unique<CUdeviceptr>(0);
  size = std::max<std::uint64_t>(size, 1);
  if (pool_ != nullptr) {
    const auto allocate = [&] { return driver().MemAllocAsync(address.get(), size, stream_); };
    CUresult result = allocate();
    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
      trim();
      result = when_there_is_room(allocate);
    }
    check(result, "cuMemAllocAsync");
    CLIQUE_CUDA(StreamSynchronize(stream_));
  } else {
    check(when_there_is_room([&] { return driver().MemAlloc(address.get(), size); }), "cuMemAlloc");
  }
  return {address.release(), [this](const CUdeviceptr* gone) {
            give_back(*gone);
            delete gone;
          }};
}

std::shared_ptr<const CUdeviceptr> DeviceMemory::take_at(CUdeviceptr address, std::uint64_t size) const {
  if (granularity_ == 0 || address % protocol::PlacedMemory::kGranule != 0 ||
      size > std::numeric_limits<std::uint64_t>::max() - address - protocol::PlacedMemory::kGranule)
    throw ClError(CL_MEM_OBJECT_ALLOCATION_FAILURE,
                  granularity_ == 0
                      ? "the GPU cannot map memory at a chosen address"
                      : "a buffer's address must be aligned to its granule, and the buffer must end "
                        "below 2^64");
  auto placed = std::make_shared<Placed>(rounded(std::max<std::uint64_t>(size, 1), granularity_));
  placed->put(address, device_);
  return {placed, &placed->address()};
}

CUdeviceptr DeviceMemory::reserve(std::uint64_t size) const {
  if (granularity_ == 0)
    throw ClError(CL_MEM_OBJECT_ALLOCATION_FAILURE,
                  "the GPU cannot have sparse buffers: it has no virtual memory management");
  CUdeviceptr address = 0;
  CLIQUE_CUDA(MemAddressReserve(&address, size, 0, 0, 0));
  return address;
}

void DeviceMemory::map(CUdeviceptr address, std::uint64_t size) {
  // What this process keeps for reuse is given back before it waits for others.
  try {
    map_new(device_, address, size, at_once);
  } catch (const ClError&) {
    trim();
    map_new(device_, address, size, when_there_is_room);
  }
}

std::shared_ptr<const CUdeviceptr> DeviceMemory::copy_of(const void* data, std::size_t size) {
  auto memory = take(size);
  CLIQUE_CUDA(MemcpyHtoDAsync(*memory, data, size, stream_));
  CLIQUE_CUDA(StreamSynchronize(stream_));
  return memory;
}

void DeviceMemory::give_back(CUdeviceptr address) const {
  // A failure has no consequence: the end of the process frees everything.
  if (pool_ != nullptr) {
    static_cast<void>(driver().MemFreeAsync(address, stream_));
  } else {
    static_cast<void>(driver().MemFree(address));
  }
}

}  // namespace clique::daemon::cuda
