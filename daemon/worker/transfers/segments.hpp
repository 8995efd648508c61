#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "protocol/messages.hpp"
#include "protocol/transport/shared_segment.hpp"

namespace clique::daemon {

class Backend;
class MemoryBudget;
class Tasks;

/// Host memory that the client shares with this worker piece by piece: its buffers of CL_MEM_ALLOC_HOST_PTR,
/// and its host and shared allocations. A client in a virtual machine has one piece, and divides it. Main
/// thread.
class Segments {
 public:
  Segments(Backend& backend, Tasks& tasks, MemoryBudget& budget)
      : backend_(backend), tasks_(tasks), budget_(budget) {}

  /// Hands the segment to the backend until it is removed and neither a command nor a buffer uses it any
  /// more.
  void add(protocol::ObjectId id, std::shared_ptr<protocol::SharedSegment> segment);
  /// add() for memory in which the devices are to work, at an address that the client chose. It counts for
  /// the memory of the session. Throws ClError if that is not possible.
  void add_at(std::uint64_t address, protocol::ObjectId id, const protocol::SharedSegment& segment);
  /// Memory of a virtual machine, in which the client can place segments. Backends get it when the first one
  /// is placed: pinning takes the host's memory, and many sessions have no use for that.
  void use_memory(std::shared_ptr<protocol::SharedSegment> memory) { memory_ = std::move(memory); }
  /// Adds a range of that memory. Throws RuleBroken where there is no such memory, or no such range in it, or
  /// if there is such a segment.
  /// @param freed called when the segment was removed, and neither a command nor a buffer uses it any more
  void place(const protocol::PlaceSegment& segment, std::function<void()> freed);
  void remove(protocol::ObjectId id) { segments_.erase(id); }
  /// The byte at `at`, after which there are `size` bytes; keeps the segment. Throws RuleBroken where there
  /// is no such segment, or no such range in it.
  std::shared_ptr<std::byte> find(protocol::ObjectId id, std::uint64_t at, std::uint64_t size) const;

 private:
  struct Segment {
    std::span<std::byte> bytes;
    std::shared_ptr<const void> life;  ///< shared with the commands and buffers that use it
  };
  /// Adds memory that the backend has, and that `owner` keeps.
  void insert(protocol::ObjectId id, std::span<std::byte> bytes, std::shared_ptr<const void> owner);

  Backend& backend_;
  Tasks& tasks_;
  MemoryBudget& budget_;
  std::shared_ptr<protocol::SharedSegment> memory_;  // null: the client is in no virtual machine
  bool pinned_ = false;                              // whether the backend has it
  std::map<protocol::ObjectId, Segment> segments_;
};

}  // namespace clique::daemon
