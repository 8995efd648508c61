#pragma once

#include <memory>

#include "icd/core/objects/memory.hpp"

namespace clique::protocol {
class PlacedMemory;
}

namespace clique::icd {

/// OpenCL 3.0, section 5.6: an allocation of coarse-grained shared virtual memory. It is a buffer over host
/// memory that has the same address in this process and in the workers whose devices can use pointers to it.
class SvmAllocation final : public Memory {
 public:
  /// @param flags the kernels' access.
  /// @param alignment a power of two, in bytes.
  /// Throws Error(CL_MEM_OBJECT_ALLOCATION_FAILURE) if no address range is free for it.
  SvmAllocation(Ref<Context> context, cl_mem_flags flags, std::size_t size, std::size_t alignment);

  ~SvmAllocation() override;

 private:
  SvmAllocation(Ref<Context> context, cl_mem_flags flags, std::size_t size,
                std::unique_ptr<protocol::PlacedMemory> memory);
  void post_create(Worker& worker) const override;

  const std::unique_ptr<protocol::PlacedMemory> memory_;
};

}  // namespace clique::icd
