#include "daemon/backend/cuda/execution/pinned_memory.hpp"

#include <algorithm>
#include <cstring>

#include "daemon/backend/cuda/gpu/driver.hpp"
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
  const CUresult result = driver().MemHostRegister(
      memory.data(), memory.size(), CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
  if (result == CUDA_SUCCESS)
    registered_.emplace_back(memory);
  else
    spdlog::warn(
        "the driver cannot pin {} MiB of shared memory ({}), so its data is copied once more; if the limit "
        "on "
        "locked memory (ulimit -l) is lower, raise it",
        memory.size() >> 20U, name_of(result));
}

void PinnedMemory::unshare(std::span<std::byte> memory) {
  const auto registered =
      std::erase_if(registered_, [&](std::span<const std::byte> one) { return one.data() == memory.data(); });
  if (registered > 0) driver().MemHostUnregister(memory.data());
}

bool PinnedMemory::is_pinned(std::span<const std::byte> bytes) const {
  {
    const std::lock_guard lock(incoming_->mutex);
    if (incoming_->blocks.contains(bytes.data())) return true;
  }
  return std::any_of(registered_.begin(), registered_.end(), [&](std::span<const std::byte> memory) {
    return protocol::SharedMemory::inside(memory, bytes);
  });
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
