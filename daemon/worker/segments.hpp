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
class Tasks;

/// Host memory that the client shares with this worker piece by piece: its buffers of CL_MEM_ALLOC_HOST_PTR.
/// Main thread.
class Segments {
 public:
  Segments(Backend& backend, Tasks& tasks) : backend_(backend), tasks_(tasks) {}

  /// Hands the segment to the backend until it is removed and no command uses it any more.
  void add(protocol::ObjectId id, std::shared_ptr<protocol::SharedSegment> segment);
  void remove(protocol::ObjectId id) { segments_.erase(id); }
  /// The byte at `at`, after which there are `size` bytes; keeps the segment. Throws RuleBroken where there
  /// is no such segment, or no such range in it.
  std::shared_ptr<std::byte> find(protocol::ObjectId id, std::uint64_t at, std::uint64_t size) const;

 private:
  struct Segment {
    std::span<std::byte> bytes;
    std::shared_ptr<const void> life;  ///< shared with the commands that use it
  };

  Backend& backend_;
  Tasks& tasks_;
  std::map<protocol::ObjectId, Segment> segments_;
};

}  // namespace clique::daemon
