#include "icd/core/objects/svm_table.hpp"

#include "icd/core/objects/svm_allocation.hpp"

namespace clique::icd {

std::size_t SvmPointer::room() const {
  return allocation->size() - offset;
}

void* SvmTable::add(Memory& allocation) {
  const std::lock_guard lock(mutex_);
  allocations_.emplace(static_cast<const std::byte*>(allocation.host_ptr()), allocation.give_out());
  ++version_;
  return allocation.host_ptr();
}

SvmPointer SvmTable::find(const void* pointer) const {
  const auto* byte = static_cast<const std::byte*>(pointer);
  Ref<Memory> allocation;
  std::size_t offset = 0;
  {
    const std::lock_guard lock(mutex_);
    auto after = allocations_.upper_bound(byte);
    if (after == allocations_.begin()) return {};
    const auto& [begin, handle] = *--after;
    allocation = icd::find<Memory>(handle);
    offset = static_cast<std::size_t>(byte - begin);
  }
  if (!allocation || offset >= allocation->size()) return {};
  return {std::move(allocation), offset};
}

bool SvmTable::release(const void* pointer) {
  Ref<Memory> allocation;  // released after the lock
  {
    const std::lock_guard lock(mutex_);
    const auto found = allocations_.find(static_cast<const std::byte*>(pointer));
    if (found == allocations_.end()) return false;
    allocation = icd::find<Memory>(found->second);
    allocations_.erase(found);
    ++version_;
  }
  allocation->release();
  return true;
}

std::vector<Ref<Memory>> SvmTable::device_allocations() const {
  std::vector<Ref<Memory>> all;
  const std::lock_guard lock(mutex_);
  for (const auto& [begin, handle] : allocations_) {
    auto memory = icd::find<Memory>(handle);
    const auto* const usm = dynamic_cast<const UsmAllocation*>(memory.get());
    if (usm != nullptr && usm->usm_type() == CL_MEM_TYPE_DEVICE_INTEL) all.push_back(std::move(memory));
  }
  return all;
}

}  // namespace clique::icd
