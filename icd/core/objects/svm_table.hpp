#pragma once

#include <CL/cl.h>

#include <cstddef>
#include <map>
#include <mutex>

#include "icd/core/objects/object.hpp"

namespace clique::icd {

class Memory;

/// Where in an allocation of shared virtual memory a pointer points; no allocation: elsewhere.
struct SvmPointer {
  Ref<Memory> allocation;
  std::size_t offset = 0;

  explicit operator bool() const { return static_cast<bool>(allocation); }
  /// Bytes from there to the allocation's end.
  std::size_t room() const;
};

/// The allocations of shared virtual memory that a context's application holds. Any thread.
class SvmTable {
 public:
  /// Gives an allocation out. @returns where it begins.
  void* add(Memory& allocation);
  SvmPointer find(const void* pointer) const;
  /// The application lets go of what begins at `pointer`. False where nothing does.
  bool release(const void* pointer);

 private:
  mutable std::mutex mutex_;
  std::map<const std::byte*, cl_mem> allocations_;
};

}  // namespace clique::icd
