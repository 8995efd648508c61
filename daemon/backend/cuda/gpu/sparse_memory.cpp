#include "daemon/backend/cuda/gpu/sparse_memory.hpp"

#include <algorithm>
#include <string>

namespace clique::daemon::cuda {

namespace {
/// So many granules are mapped in a tenth of a second.
constexpr std::uint64_t kMostGranules = 1024;
}  // namespace

/// Granules that a command uses.
class SparseMemory::Use {
 public:
  Use(std::shared_ptr<SparseMemory> memory, const Span& span) : memory_(std::move(memory)), span_(span) {}
  ~Use() { memory_->release(span_); }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  const std::shared_ptr<SparseMemory> memory_;
  const Span span_;
};

std::uint64_t SparseMemory::granule_size(std::uint64_t buffer_size, std::uint64_t granularity) {
  std::uint64_t size = std::max<std::uint64_t>(granularity, 1);
  while (buffer_size / size >= kMostGranules) size *= 2;
  return size;
}

SparseMemory::SparseMemory(DeviceMemory& memory, MemoryBudget& budget, std::uint64_t size)
    : memory_(memory),
      budget_(budget),
      size_(size),
      granule_size_(granule_size(size, memory.granularity())),
      granules_(size / granule_size_ + 1) {
  address_ = memory_.reserve(granules_.size() * granule_size_);
}

SparseMemory::~SparseMemory() {
  // A failure has no consequence: the end of the process frees everything.
  for (std::size_t i = 0; i < granules_.size(); ++i)
    if (granules_[i].share) static_cast<void>(driver().MemUnmap(address_ + i * granule_size_, granule_size_));
  static_cast<void>(driver().MemAddressFree(address_, granules_.size() * granule_size_));
}

SparseMemory::Span SparseMemory::span_of(std::uint64_t offset, std::uint64_t size) const {
  if (size == 0) return {0, 0};
  return {offset / granule_size_, (offset + size - 1) / granule_size_ + 1};
}

void SparseMemory::map(std::size_t granule) {
  MemoryBudget::Share share = budget_.take(granule_size_);
  memory_.map(address_ + granule * granule_size_, granule_size_);
  budget_.note_peak();
  granules_[granule].share = std::move(share);
}

std::shared_ptr<const void> SparseMemory::use(std::uint64_t offset, std::uint64_t size) {
  const Span span = span_of(offset, size);
  const std::lock_guard lock(mutex_);
  std::size_t next = span.first;
  try {
    for (; next < span.last; ++next)
      if (!granules_[next].share) map(next);
  } catch (const ClError& error) {
    for (std::size_t i = span.first; i < next; ++i) free_unneeded(i);
    throw ClError(error.status(), "bytes " + std::to_string(offset) + " to " + std::to_string(offset + size) +
                                      " of a buffer of " + std::to_string(size_) +
                                      " bytes get no memory on this GPU: " + error.what());
  }
  for (std::size_t i = span.first; i < span.last; ++i) {
    ++granules_[i].users;
    granules_[i].kept = true;
  }
  return std::make_shared<const Use>(shared_from_this(), span);
}

void SparseMemory::trim(std::span<const protocol::ByteRange> kept) {
  const std::lock_guard lock(mutex_);
  for (Granule& granule : granules_) granule.kept = false;
  for (const protocol::ByteRange& range : kept) {
    const Span span = span_of(range.offset, range.size);
    for (std::size_t i = span.first; i < span.last; ++i) granules_[i].kept = true;
  }
  for (std::size_t i = 0; i < granules_.size(); ++i) free_unneeded(i);
}

void SparseMemory::free_unneeded(std::size_t number) {
  Granule& granule = granules_[number];
  if (!granule.share || granule.kept || granule.users != 0) return;
  // If it cannot be unmapped, it still counts, and is used again.
  if (driver().MemUnmap(address_ + number * granule_size_, granule_size_) == CUDA_SUCCESS)
    granule.share.reset();
}

void SparseMemory::release(const Span& used) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = used.first; i < used.last; ++i) {
    --granules_[i].users;
    free_unneeded(i);
  }
}

}  // namespace clique::daemon::cuda
