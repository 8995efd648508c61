#pragma once

#include <memory>

#include "icd/core/objects/memory.hpp"

namespace clique::protocol {
class PlacedMemory;
}

namespace clique::icd {

class Device;

/// OpenCL 3.0, section 5.6: an allocation of coarse-grained shared virtual memory. It is a buffer over host
/// memory that has the same address in this process and in the workers whose devices can use pointers to it.
class SvmAllocation : public Memory {
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

/// cl_intel_unified_shared_memory: a device allocation. It differs from shared virtual memory in that the
/// host copies to and from it, and never maps it.
class DeviceAllocation final : public SvmAllocation {
 public:
  /// @param flags cl_mem_alloc_flags_intel, as the query reports them. Otherwise as SvmAllocation.
  DeviceAllocation(Ref<Context> context, Ref<Device> device, cl_bitfield flags, std::size_t size,
                   std::size_t alignment);
  ~DeviceAllocation() override;

  const Ref<Device>& device() const { return device_; }
  cl_bitfield allocation_flags() const { return allocation_flags_; }

 private:
  const Ref<Device> device_;
  const cl_bitfield allocation_flags_;
};

}  // namespace clique::icd
