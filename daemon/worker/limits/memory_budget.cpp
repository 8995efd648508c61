#include "daemon/worker/limits/memory_budget.hpp"

#include <CL/cl.h>

#include <algorithm>
#include <cstring>

#include "daemon/common/log.hpp"
#include "daemon/worker/errors.hpp"

namespace clique::daemon {

MemoryBudget::MemoryBudget(std::uint64_t limit)
    : limit_(limit), used_(std::make_shared<std::atomic<std::uint64_t>>(0)) {}

void MemoryBudget::lower(std::uint64_t limit) {
  if (limit != 0) limit_ = limit_ == 0 ? limit : std::min(limit_, limit);
}

MemoryBudget::Share MemoryBudget::take(std::uint64_t size) {
  std::uint64_t used = used_->load();
  do {
    if (limit_ != 0 && size > limit_ - used)
      throw ClError(
          CL_MEM_OBJECT_ALLOCATION_FAILURE,
          fmt::format("a memory object of {} bytes exceeds this node's limit of {} bytes for each session "
                      "(session-memory of cliqued), of which {} bytes are in use; release other objects, or "
                      "have the node's administrator raise the limit",
                      size, limit_, used));
  } while (!used_->compare_exchange_weak(used, used + size));
  return {used_.get(), [used = used_, size](const void*) { *used -= size; }};
}

void MemoryBudget::note_peak() {
  const std::uint64_t used = used_->load();
  for (std::uint64_t peak = peak_.load(); peak < used;)
    if (peak_.compare_exchange_weak(peak, used)) break;
}

void MemoryBudget::restrict(protocol::DeviceDescription& device) const {
  if (limit_ == 0) return;
  for (protocol::Property& property : device.properties) {
    cl_ulong size = 0;
    if ((property.name != CL_DEVICE_GLOBAL_MEM_SIZE && property.name != CL_DEVICE_MAX_MEM_ALLOC_SIZE) ||
        property.value.size() != sizeof size)
      continue;
    std::memcpy(&size, property.value.data(), sizeof size);
    size = std::min<cl_ulong>(size, limit_);
    std::memcpy(property.value.data(), &size, sizeof size);
  }
}

}  // namespace clique::daemon
