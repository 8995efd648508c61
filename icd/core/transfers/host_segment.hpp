#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "protocol/ids.hpp"

namespace clique::protocol {
class SharedSegment;
}

namespace clique::icd {

class Worker;

/// The host memory of a buffer with CL_MEM_ALLOC_HOST_PTR. Workers on this host map it as well, so that
/// transfers between it and any memory object need no copy, and run at the speed of pinned memory on GPUs.
/// In a virtual machine, one worker has it, and it lies in the memory that the machine shares with its host.
/// Any thread.
class HostSegment {
 public:
  /// Bytes of the smallest segment: copying less takes less time than telling the device about it.
  static constexpr std::size_t kLeast = 64U << 10U;

  /// @param workers that are to use it
  /// @returns null if the system refuses the memory, or if small segments already use as many descriptors as
  /// they may.
  static std::shared_ptr<HostSegment> make(std::size_t size, std::span<Worker* const> workers);
  /// Tells the workers that they may unmap it.
  ~HostSegment();
  HostSegment(const HostSegment&) = delete;
  HostSegment& operator=(const HostSegment&) = delete;

  std::byte* data() const;

  /// A range of a segment, as workers name it.
  struct Place {
    protocol::ObjectId segment;
    std::uint64_t at;
  };
  /// Finds the segment that holds a range of host memory. The first call for a worker gives it the segment.
  /// @returns nothing if the range is in no segment, or the worker cannot map that.
  static std::optional<Place> find(std::span<const std::byte> range, Worker& worker);

 private:
  /// Memory to give to workers.
  HostSegment(protocol::ObjectId id, std::shared_ptr<protocol::SharedSegment> memory);
  /// Memory that one worker has: Link::place_segment().
  HostSegment(protocol::ObjectId id, std::shared_ptr<std::byte> bytes, std::size_t size, Worker& worker);
  /// Lets find() find it.
  static std::shared_ptr<HostSegment> enter(std::shared_ptr<HostSegment> made);
  bool on(Worker& worker);

  const protocol::ObjectId id_;
  const std::shared_ptr<protocol::SharedSegment> memory_;  // null: one worker has it
  const std::shared_ptr<std::byte> bytes_;
  const std::size_t size_;
  std::mutex mutex_;
  std::vector<std::pair<Worker*, bool>> workers_;  // that were asked, and whether they have mapped it
};

}  // namespace clique::icd
