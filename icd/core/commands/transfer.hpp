// Large transfers in parts, and boxes of bytes between layouts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "icd/remote/link.hpp"
#include "protocol/messages.hpp"

namespace clique::icd {

/// A block of host memory of this library: contents of COPY_HOST_PTR, mapped regions, packed rows.
using HostBlock = std::shared_ptr<std::byte[]>;
/// Uninitialised, aligned as OpenCL's largest type. Throws Error(CL_OUT_OF_HOST_MEMORY).
HostBlock allocate_host_block(std::size_t size);

/// Where the rows and slices of a box begin, in bytes.
struct Pitches {
  std::size_t row;
  std::size_t slice;
};

/// Pitches of a box without gaps. x in bytes.
inline Pitches dense(const protocol::Triple& region) {
  return {region[0], region[0] * region[1]};
}

/// Bytes from a box's first to the one after its last. x in bytes.
inline std::size_t extent(const protocol::Triple& region, const Pitches& pitches) {
  return (region[2] - 1) * pitches.slice + (region[1] - 1) * pitches.row + region[0];
}

/// Copies a box (x in bytes) between two layouts; both pointers are to its first byte.
void copy_box(std::byte* to, const Pitches& to_pitches, const std::byte* from, const Pitches& from_pitches,
              const protocol::Triple& region);

/// A part of a box: its first element relative to the box's own, and its extent. x in units.
struct BoxPart {
  protocol::Triple origin;
  protocol::Triple region;

  /// Bytes from the box's first byte to the part's in a layout.
  std::size_t offset(std::size_t unit, const Pitches& pitches) const {
    return origin[0] * unit + origin[1] * pitches.row + origin[2] * pitches.slice;
  }
  protocol::Triple bytes(std::size_t unit) const { return {region[0] * unit, region[1], region[2]}; }
};

/// Splits a box into parts of at most protocol::kPartSize bytes each, in the order of memory: whole slices
/// where they are small enough, else whole rows, else pieces of rows.
/// @param unit bytes of one element in x.
std::vector<BoxPart> split(const protocol::Triple& region, std::size_t unit);

/// Content of the application's, or of ours, on its way to a worker.
struct HostContent {
  const std::byte* data;
  Pitches pitches;  ///< ignored for plain ranges
  /// Keeps `data` alive; empty where that is somebody else's promise.
  std::shared_ptr<const void> owner;
  /// The bytes are to be copied before the call returns.
  bool copy = false;
};

/// The payload of a part: refers to the content where it is without gaps, else to a packed copy.
protocol::Payload payload(const HostContent& content, const std::byte* at, const protocol::Triple& bytes);

/// Posts parts of one command: part(header, i) makes the message of the i-th of `count`. All but the last are
/// flagged kMore; the waits are on the first only where the queue is in order, since the others follow it
/// then.
template <typename MakePart>
void post_parts(Link& link, const protocol::Command& header, bool in_order, std::size_t count,
                MakePart&& part) {
  for (std::size_t i = 0; i < count; ++i) {
    protocol::Command own = header;
    if (i + 1 < count) own.flags |= protocol::Command::kMore;
    if (i > 0 && in_order) own.waits.clear();
    link.post(part(std::move(own), i));
  }
}

/// Posts the write of a plain range.
void post_buffer_write(Link& link, const protocol::Command& header, bool in_order, protocol::ObjectId buffer,
                       std::uint64_t offset, std::uint64_t size, const HostContent& content);
/// Posts the write of a box of an image. @param unit bytes of one element.
void post_image_write(Link& link, const protocol::Command& header, bool in_order, protocol::ObjectId image,
                      std::size_t unit, const protocol::Triple& origin, const protocol::Triple& region,
                      const HostContent& content);

}  // namespace clique::icd
