#include "icd/core/objects/svm_allocation.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <system_error>

#include "icd/common/function_ref.hpp"
#include "icd/core/objects/context.hpp"
#include "icd/core/objects/device.hpp"
#include "icd/core/workers/worker.hpp"
#include "icd/remote/link/link.hpp"
#include "icd/remote/nodes/nodes.hpp"
#include "protocol/batch.hpp"
#include "protocol/messages.hpp"
#include "protocol/transport/placed_memory.hpp"
#include "protocol/transport/shared_segment.hpp"

namespace clique::icd {

namespace {

using protocol::PlacedMemory;

/// Hands out the addresses of a window, one range after the other. A range that was freed is not reused
/// before the whole window has been used, since a worker may free its part later. Any thread.
class Places {
 public:
  explicit Places(const PlacedMemory::Window& window)
      : begin_(window.begin), end_(window.end), next_(window.begin) {}

  /// @param map maps memory of that size at an address; null: the address is not free
  /// @returns null if none of the places that were tried was free.
  std::unique_ptr<PlacedMemory> place(std::uint64_t size, std::uint64_t alignment,
                                      FunctionRef<std::unique_ptr<PlacedMemory>(std::uint64_t)> map) {
    if (size > end_ - begin_ || alignment > end_ - begin_ - size) return nullptr;
    constexpr int kTries = 32;
    std::uint64_t skip = 0;
    for (int i = 0; i < kTries; ++i) {
      if (auto memory = map(take(size, alignment, skip))) return memory;
      skip = std::max(alignment, 2 * skip);
    }
    return nullptr;
  }

 private:
  static std::uint64_t aligned(std::uint64_t address, std::uint64_t alignment) {
    return (address + alignment - 1) & ~(alignment - 1);
  }
  std::uint64_t take(std::uint64_t size, std::uint64_t alignment, std::uint64_t skip) {
    std::uint64_t next = next_.load();
    std::uint64_t address = 0;
    do {
      address = aligned(next + skip, alignment);
      if (address > end_ - size) address = aligned(begin_, alignment);
    } while (!next_.compare_exchange_weak(next, address + size));
    return address;
  }

  const std::uint64_t begin_;
  const std::uint64_t end_;
  std::atomic<std::uint64_t> next_;
};

/// @param shared memory to map; null: new memory
std::unique_ptr<PlacedMemory> place(std::size_t size, std::size_t alignment,
                                    const protocol::SharedSegment* shared = nullptr) {
  static auto& places = *[] {
    auto* list = new std::deque<Places>;
    for (const PlacedMemory::Window& window : PlacedMemory::windows()) list->emplace_back(window);
    return list;
  }();
  const std::size_t page = PlacedMemory::page_size();
  const std::size_t whole = (size + page - 1) / page * page;
  const auto map = [&](std::uint64_t address) {
    return shared != nullptr ? PlacedMemory::at(address, shared->bytes()) : PlacedMemory::at(address, whole);
  };
  for (Places& window : places)
    if (auto memory = window.place(whole, std::max(alignment, PlacedMemory::kGranule), map)) return memory;
  throw Error(CL_MEM_OBJECT_ALLOCATION_FAILURE, "no free address range of ", whole,
              " bytes for shared virtual memory");
}

std::shared_ptr<protocol::SharedSegment> make_segment(std::size_t size) {
  try {
    return protocol::SharedSegment::create(size);
  } catch (const std::system_error& error) {
    throw Error(CL_OUT_OF_HOST_MEMORY, size, " bytes that workers can map: ", error.what());
  }
}

/// Whether an allocation is memory of this process, in which devices work. Device allocations are if all
/// devices of the context are processors of this host: libraries that know it, such as oneMKL, compute with
/// them in the process itself. The memory of GPUs is faster for their kernels.
bool is_host_memory(cl_unified_shared_memory_type_intel type, const Context& context) {
  return type != CL_MEM_TYPE_DEVICE_INTEL ||
         std::all_of(context.devices().begin(), context.devices().end(),
                     [](const Ref<Device>& device) { return device->is_processor_of_host(); });
}

}  // namespace

SvmAllocation::SvmAllocation(Ref<Context> context, cl_mem_flags flags, std::size_t size,
                             std::size_t alignment)
    : SvmAllocation(std::move(context), flags, size, place(size, alignment)) {}

SvmAllocation::~SvmAllocation() = default;

SvmAllocation::SvmAllocation(Ref<Context> context, cl_mem_flags flags, std::size_t size,
                             std::unique_ptr<PlacedMemory> memory)
    : Memory(std::move(context), CL_MEM_OBJECT_BUFFER, flags | CL_MEM_USE_HOST_PTR, size,
             memory->bytes().data(), nullptr, 0, {}),
      memory_(std::move(memory)) {}

void SvmAllocation::post_create(Worker& worker) const {
  const auto& devices = context()->devices();
  const bool by_address = std::any_of(devices.begin(), devices.end(), [&](const Ref<Device>& device) {
    return &device->worker() == &worker && device->has_svm();
  });
  worker.link().post(protocol::CreateBuffer{id(), context()->id(),
                                            flags() & ~cl_mem_flags{CL_MEM_USE_HOST_PTR}, size(),
                                            by_address ? address() : 0});
}

UsmAllocation::UsmAllocation(cl_unified_shared_memory_type_intel type, const Ref<Context>& context,
                             Ref<Device> device, cl_bitfield flags, std::size_t size, std::size_t alignment)
    : UsmAllocation(type, context, std::move(device), flags, size, alignment,
                    is_host_memory(type, *context) ? make_segment(size) : nullptr) {}

UsmAllocation::UsmAllocation(cl_unified_shared_memory_type_intel type, Ref<Context> context,
                             Ref<Device> device, cl_bitfield flags, std::size_t size, std::size_t alignment,
                             const std::shared_ptr<protocol::SharedSegment>& segment)
    : SvmAllocation(std::move(context), CL_MEM_READ_WRITE, size, place(size, alignment, segment.get())),
      usm_type_(type),
      device_(std::move(device)),
      allocation_flags_(flags) {
  if (segment)
    share(*segment);
  else
    memory().forbid_access();
}

UsmAllocation::~UsmAllocation() = default;

void UsmAllocation::share(const protocol::SharedSegment& segment) {
  set_in_place();
  // Each worker keeps the memory, so that neither side needs a descriptor for it afterwards.
  given_ = next_id();
  for (const Ref<Device>& device : context()->devices()) {
    Worker& worker = device->worker();
    if (!device->maps_host_memory() || worker.lost()) continue;
    if (exists_on(worker)) continue;
    const std::string refusal = worker.link().give(given_, segment, address());
    require(refusal.empty(), CL_OUT_OF_RESOURCES, "node ", worker.node().name(), " cannot use ", size(),
            " bytes of this process's memory: ", refusal);
    ensure_on(worker);
  }
  given_ = 0;
}

void UsmAllocation::post_create(Worker& worker) const {
  if (!in_place()) return SvmAllocation::post_create(worker);
  require(given_ != 0, CL_INVALID_OPERATION, "node ", worker.node().name(),
          " cannot access host and shared allocations, which are memory of this process");
  worker.link().post(
      protocol::CreateBuffer{id(), context()->id(), CL_MEM_READ_WRITE, size(), address(), given_});
  worker.link().post(protocol::FreeSegment{given_});
}

}  // namespace clique::icd
