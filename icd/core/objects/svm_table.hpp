#pragma once

#include <CL/cl.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "icd/common/object.hpp"

namespace clique::icd {

class Memory;

/// The position of a pointer in an allocation of shared virtual memory. Without an allocation: it points
/// elsewhere.
struct SvmPointer {
  Ref<Memory> allocation;
  std::size_t offset = 0;

  explicit operator bool() const { return static_cast<bool>(allocation); }
  /// Bytes from there to the end of the allocation.
  std::size_t room() const;
};

/// The allocations of shared virtual memory to which a context's application holds a reference. Any thread.
class SvmTable {
 public:
  /// Gives an allocation to the application. @returns its address.
  void* add(Memory& allocation);
  SvmPointer find(const void* pointer) const;
  /// Releases the application's reference to the allocation that begins at `pointer`. @returns false if none
  /// does.
  bool release(const void* pointer);
  /// All device allocations.
  std::vector<Ref<Memory>> device_allocations() const;
  /// Changes whenever an allocation is added or released.
  std::uint64_t version() const { return version_.load(std::memory_order_acquire); }

 private:
  mutable std::mutex mutex_;
  std::map<const std::byte*, cl_mem> allocations_;
  std::atomic<std::uint64_t> version_ = 1;
};

}  // namespace clique::icd
