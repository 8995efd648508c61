#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>

#include "protocol/messages.hpp"
#include "protocol/transport/shared_segment.hpp"

namespace clique::daemon {

class Backend;
class MemoryBudget;
class Tasks;

/// Host memory that the client shares with this worker piece by piece: its buffers of CL_MEM_ALLOC_HOST_PTR,
/// and its host and shared allocations. Main thread.
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
  std::map<protocol::ObjectId, Segment> segments_;
};

}  // namespace clique::daemon
