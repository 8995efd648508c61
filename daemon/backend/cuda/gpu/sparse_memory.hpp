#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "daemon/backend/cuda/gpu/memory.hpp"
#include "daemon/worker/limits/memory_budget.hpp"
#include "protocol/messages/message.hpp"

namespace clique::daemon::cuda {

/// The GPU's addresses of a sparse buffer (protocol::CreateBuffer::sparse), of which only those have memory
/// that commands use, or whose content the session needs. Memory is mapped and freed in granules. Main
/// thread, but what use() returns may be released on any thread whose current context is the GPU's.
class SparseMemory : public std::enable_shared_from_this<SparseMemory> {
 public:
  /// Reserves the addresses. Throws ClError(CL_MEM_OBJECT_ALLOCATION_FAILURE).
  /// @param memory, budget outlive this object
  /// @param size of the buffer, in bytes
  SparseMemory(DeviceMemory& memory, MemoryBudget& budget, std::uint64_t size);
  ~SparseMemory();
  SparseMemory(const SparseMemory&) = delete;
  SparseMemory& operator=(const SparseMemory&) = delete;

  CUdeviceptr address() const { return address_; }

  /// Maps memory where [offset, offset + size) has none. Throws ClError(CL_MEM_OBJECT_ALLOCATION_FAILURE) if
  /// there is not enough, and then leaves everything as it was.
  /// @param offset, size within the buffer
  /// @returns what a command has to keep until it has ended: the memory stays as long
  std::shared_ptr<const void> use(std::uint64_t offset, std::uint64_t size);
  /// Frees all memory that has no byte of these ranges, once no command uses it.
  /// @param kept within the buffer
  void trim(std::span<const protocol::ByteRange> kept);

  /// Bytes of a granule of a buffer: more for large ones, because mapping takes a time for each.
  /// @param granularity the GPU's
  static std::uint64_t granule_size(std::uint64_t buffer_size, std::uint64_t granularity);

 private:
  struct Granule {
    MemoryBudget::Share share;  // null: it has no memory
    std::uint32_t users = 0;    // commands that have not ended
    bool kept = false;          // whether its content is needed
  };
  class Use;
  /// The granules [first, last) that have the range's bytes.
  struct Span {
    std::size_t first;
    std::size_t last;
  };
  Span span_of(std::uint64_t offset, std::uint64_t size) const;
  void map(std::size_t granule);
  /// Frees the granule's memory if nobody needs it.
  void free_unneeded(std::size_t granule);
  void release(const Span& used);

  DeviceMemory& memory_;
  MemoryBudget& budget_;
  const std::uint64_t size_;
  const std::uint64_t granule_size_;
  CUdeviceptr address_ = 0;
  std::mutex mutex_;  // guards what follows
  std::vector<Granule> granules_;
};

}  // namespace clique::daemon::cuda
