#include "daemon/backend/cuda/execution/pinned_memory.hpp"

#include <cstring>
#include <iterator>

#include "daemon/common/log.hpp"
#include "protocol/transport/shared_memory.hpp"

namespace clique::daemon::cuda {

namespace {

/// Bytes of staging blocks that should be in use at a time.
constexpr std::size_t kMostStaging = 512U << 20U;

std::byte* make_pinned(std::size_t size) {
  void* block = nullptr;
  CLIQUE_CUDA(MemHostAlloc(&block, size, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
  return static_cast<std::byte*>(block);
}

void destroy_pinned(std::byte* block) {
  static_cast<void>(driver().MemFreeHost(block));
}

}  // namespace

PinnedMemory::PinnedMemory(Reporter& reporter)
    : reporter_(reporter),
      staging_({make_pinned, destroy_pinned, kMostStaging, [this] { reporter_.hear(); }}) {}

void PinnedMemory::share(std::span<std::byte> memory) {
  const CUresult result = pin(memory);
  if (result != CUDA_SUCCESS)
    spdlog::warn(
        "the driver cannot pin {} MiB of shared memory ({}), so its data is copied once more; if the limit "
        "on locked memory (ulimit -l) is lower, raise it",
        memory.size() >> 20U, name_of(result));
}

void PinnedMemory::share_in_place(std::span<std::byte> memory) {
  if (const CUresult result = pin(memory); result != CUDA_SUCCESS)
    throw ClError(status_of(result),
                  fmt::format("the driver cannot pin them ({}); if the host has too little free memory, free "
                              "some; if the limit on locked memory (ulimit -l) is lower, raise it",
                              name_of(result)));
  CUdeviceptr address = 0;
  const CUresult result = driver().MemHostGetDevicePointer(&address, memory.data(), 0);
  if (result == CUDA_SUCCESS && address == reinterpret_cast<CUdeviceptr>(memory.data())) return;
  unshare(memory);
  throw ClError(CL_OUT_OF_RESOURCES, "the GPU cannot use them at the addresses that they have on the host");
}

CUresult PinnedMemory::pin(std::span<std::byte> memory) {
  const CUresult result = driver().MemHostRegister(
      memory.data(), memory.size(), CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
  if (result == CUDA_SUCCESS) registered_[memory.data()] = memory.size();
  return result;
}

void PinnedMemory::unshare(std::span<std::byte> memory) {
  if (registered_.erase(memory.data()) > 0) driver().MemHostUnregister(memory.data());
}

bool PinnedMemory::is_pinned(std::span<const std::byte> bytes) const {
  {
    const std::lock_guard lock(incoming_->mutex);
    if (incoming_->blocks.contains(bytes.data())) return true;
  }
  const auto after = registered_.upper_bound(bytes.data());
  if (after == registered_.begin()) return false;
  const auto& [begin, size] = *std::prev(after);
  return protocol::SharedMemory::inside({begin, size}, bytes);
}

std::shared_ptr<std::byte> PinnedMemory::outgoing(std::size_t size) {
  auto shared = reporter_.take(size);
  return shared && is_pinned({shared.get(), size}) ? shared : staging_.take(size);
}

std::shared_ptr<std::byte> PinnedMemory::chunk(const std::shared_ptr<std::byte>& shared, std::size_t size) {
  return shared && is_pinned({shared.get(), size}) ? shared : staging_.take_uncounted(size);
}

std::shared_ptr<std::byte> PinnedMemory::incoming(std::size_t size) {
  std::shared_ptr<std::byte> block = staging_.take_uncounted(size);
  std::byte* const bytes = block.get();
  {
    const std::lock_guard lock(incoming_->mutex);
    incoming_->blocks.insert(bytes);
  }
  return {bytes, [block = std::move(block), incoming = incoming_](std::byte* released) {
            const std::lock_guard lock(incoming->mutex);
            incoming->blocks.erase(released);
          }};
}

std::shared_ptr<std::byte> PinnedMemory::pinned(const protocol::Payload& data) {
  // The driver copies a large block through pinned memory itself, as fast as we would.
  if (is_pinned(data.bytes) || data.bytes.size() > protocol::kMaxPayload)
    return {std::const_pointer_cast<void>(data.owner), const_cast<std::byte*>(data.bytes.data())};
  auto block = staging_.take(data.bytes.size());
  std::memcpy(block.get(), data.bytes.data(), data.bytes.size());
  return block;
}

}  // namespace clique::daemon::cuda
