#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "protocol/messages.hpp"
#include "protocol/transport/shared_segment.hpp"

namespace clique::icd {

class Worker;

/// Host memory of CL_MEM_ALLOC_HOST_PTR. Workers on this host map it, too, so that transfers to and from any
/// part of it, of whatever memory object, need no copy, and go at the speed of pinned memory on GPUs. Any
/// thread.
class HostSegment {
 public:
  /// What is smaller is copied in less time than it takes to tell the device of it.
  static constexpr std::size_t kLeast = 64U << 10U;

  /// Null where the system does not give any, or small ones have taken as many descriptors as they may.
  static std::shared_ptr<HostSegment> make(std::size_t size);
  /// Workers are told to forget it.
  ~HostSegment();
  HostSegment(const HostSegment&) = delete;
  HostSegment& operator=(const HostSegment&) = delete;

  std::byte* data() const { return memory_->bytes().data(); }

  /// A range of host memory as workers know it.
  struct Place {
    protocol::ObjectId segment;
    std::uint64_t at;
  };
  /// Where in a segment a range lies that the worker can reach; nothing where it cannot. The worker is given
  /// the segment when this is first asked.
  static std::optional<Place> find(std::span<const std::byte> range, Worker& worker);

 private:
  explicit HostSegment(std::shared_ptr<protocol::SharedSegment> memory);
  bool on(Worker& worker);

  const protocol::ObjectId id_;
  const std::shared_ptr<protocol::SharedSegment> memory_;
  std::mutex mutex_;
  std::vector<std::pair<Worker*, bool>> workers_;  // that were asked, and whether they have it
};

}  // namespace clique::icd
