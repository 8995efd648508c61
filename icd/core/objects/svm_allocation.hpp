#pragma once

#include <CL/cl_ext.h>

#include <memory>

#include "icd/core/objects/memory.hpp"
#include "protocol/ids.hpp"

namespace clique::protocol {
class PlacedMemory;
class SharedSegment;
}  // namespace clique::protocol

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

 protected:
  SvmAllocation(Ref<Context> context, cl_mem_flags flags, std::size_t size,
                std::unique_ptr<protocol::PlacedMemory> memory);
  void post_create(Worker& worker) const override;

  const protocol::PlacedMemory& memory() const { return *memory_; }
  /// The allocation's address, as messages contain it.
  std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(host_ptr()); }

 private:
  const std::unique_ptr<protocol::PlacedMemory> memory_;
};

/// An allocation of cl_intel_unified_shared_memory. A host or shared allocation is memory of this process, in
/// which workers on this host work as well (Memory::in_place()); other workers cannot have it. So is a device
/// allocation, if all devices of the context are processors of this host; otherwise it is shared virtual
/// memory that the host never maps.
class UsmAllocation final : public SvmAllocation {
 public:
  /// @param type CL_MEM_TYPE_HOST_INTEL, CL_MEM_TYPE_DEVICE_INTEL or CL_MEM_TYPE_SHARED_INTEL
  /// @param device the one that the allocation belongs to; null: none
  /// @param flags cl_mem_alloc_flags_intel, as the query reports them. Otherwise as SvmAllocation.
  /// Also throws Error(CL_OUT_OF_RESOURCES) if a worker whose devices use host memory cannot use it, and
  /// Error(CL_OUT_OF_HOST_MEMORY).
  UsmAllocation(cl_unified_shared_memory_type_intel type, const Ref<Context>& context, Ref<Device> device,
                cl_bitfield flags, std::size_t size, std::size_t alignment);
  ~UsmAllocation() override;

  cl_unified_shared_memory_type_intel usm_type() const { return usm_type_; }
  const Ref<Device>& device() const { return device_; }
  cl_bitfield allocation_flags() const { return allocation_flags_; }

 private:
  UsmAllocation(cl_unified_shared_memory_type_intel type, Ref<Context> context, Ref<Device> device,
                cl_bitfield flags, std::size_t size, std::size_t alignment,
                const std::shared_ptr<protocol::SharedSegment>& segment);
  /// Gives the memory to the workers that can map it.
  void share(const protocol::SharedSegment& segment);
  void post_create(Worker& worker) const override;

  const cl_unified_shared_memory_type_intel usm_type_;
  const Ref<Device> device_;
  const cl_bitfield allocation_flags_;
  protocol::ObjectId given_ = 0;  ///< the segment, while share() gives it to a worker
};

}  // namespace clique::icd
