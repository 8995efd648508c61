// The part of a virtual machine's memory that a session has for segments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "protocol/ids.hpp"
#include "protocol/transport/free_ranges.hpp"
#include "protocol/transport/shared_segment.hpp"

namespace clique::icd {

/// Divides that part into segments (protocol::PlaceSegment). Any thread.
class GuestSegments : public std::enable_shared_from_this<GuestSegments> {
 public:
  /// @param at WorkerAddress::segments_at, which may be anything
  /// @param size WorkerAddress::segments_size, likewise
  /// @returns null if that part of the file cannot be used, or has no bytes
  static std::shared_ptr<GuestSegments> open(const std::string& file, std::uint64_t at, std::uint64_t size);
  GuestSegments(const GuestSegments&) = delete;
  GuestSegments& operator=(const GuestSegments&) = delete;

  /// Memory for a segment, whose content is undefined.
  struct Place {
    std::shared_ptr<std::byte> bytes;
    std::uint64_t at = 0;  ///< in the part
  };
  /// The memory stays mapped as long as its owner lives. Nobody else gets it before freed().
  /// @returns nothing if there is no room, or after leave()
  std::optional<Place> take(protocol::ObjectId segment, std::size_t size);
  /// The worker does not use the segment any more, and nor does the client. Throws DecodeError if there is no
  /// such segment.
  void freed(protocol::ObjectId segment);
  /// The session is over, and another one may get this part: its segments become memory of this process, at
  /// their addresses and with their content.
  void leave();

 private:
  explicit GuestSegments(std::shared_ptr<protocol::SharedSegment> memory);

  const std::shared_ptr<protocol::SharedSegment> memory_;
  std::mutex mutex_;  // guards all below
  protocol::FreeRanges free_;
  std::map<protocol::ObjectId, std::pair<std::size_t, std::size_t>> segments_;  // offset, bytes
  bool left_ = false;
};

}  // namespace clique::icd
