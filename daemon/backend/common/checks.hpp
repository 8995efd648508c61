// Rules on what messages ask for, and the statuses of what cannot be done, for all backends.
#pragma once

#include <CL/cl.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include "daemon/worker/backend.hpp"
#include "daemon/worker/errors.hpp"

namespace clique::daemon {

/// Why the session ends whose kernel has run for longer than Surroundings::kernel_limit.
std::string over_limit(const std::string& kernel, std::chrono::seconds limit);

/// Rule: [offset, offset + size) lies within `total` bytes.
inline void check_range(std::uint64_t offset, std::uint64_t size, std::uint64_t total, const char* what) {
  if (size > total || offset > total - size)
    throw RuleBroken(std::string(what) + " of " + std::to_string(size) + " bytes at " +
                     std::to_string(offset) + " goes beyond " + std::to_string(total) + " bytes");
}

/// How far into a buffer of `total` bytes a pointer argument points. Rule: not beyond it.
inline std::uint64_t pointer_offset(const protocol::KernelArg& arg, std::uint64_t total) {
  std::uint64_t offset = 0;
  if (arg.value.size() != sizeof offset) throw RuleBroken("a pointer that is none");
  std::memcpy(&offset, arg.value.data(), sizeof offset);
  check_range(offset, 1, total, "a pointer");
  return offset;
}

/// Rule: a transfer between workers is a range of a buffer of `total` bytes, or all of an image, and not
/// empty.
inline void check_transfer(std::uint64_t offset, std::uint64_t size, std::uint64_t total, bool image,
                           const char* what) {
  check_range(offset, size, total, what);
  if (size == 0 || (image && size != total)) throw RuleBroken(std::string(what) + " of a wrong size");
}

/// Rule: where a push goes by a content size, that is the number at the begin of a buffer of `total` bytes,
/// and what is pushed is a buffer's, for another worker.
inline void check_content_size(const protocol::Push& push, bool image, std::uint64_t total,
                               bool size_is_image) {
  check_range(0, sizeof(std::uint64_t), total, "a content size");
  if (image || size_is_image || push.peer == protocol::kClientPeer)
    throw RuleBroken("a content size of what has none");
}

/// How much of a push's range means anything. At least a byte: it has to come after what the Expect waits
/// for.
/// @param number what its content size is, little endian.
std::uint64_t meant_size(const protocol::Push& push, const std::array<std::uint8_t, 8>& number);

/// Rule: a part of a command waits for one of the `before` parts before it.
inline void check_earlier_part(std::uint64_t number, std::size_t before) {
  if (number >= before)
    throw RuleBroken("a part of a command that waits for part " + std::to_string(number) +
                     ", which is not before it");
}

/// Rule: a part's payload is what the command says, and not too large.
inline void check_part(std::uint64_t size) {
  if (size > protocol::kMaxPayload) throw RuleBroken("a part of " + std::to_string(size) + " bytes");
}

/// The product of three sizes. Throws RuleBroken where it does not fit into 64 bits.
std::uint64_t volume(const protocol::Triple& sizes);

/// Rule: a rectangle lies within a buffer of `total` bytes, whose rows and slices have the given pitches (0:
/// without gaps).
void check_rect(const protocol::Triple& origin, const protocol::Triple& region, std::uint64_t row_pitch,
                std::uint64_t slice_pitch, std::uint64_t total);

/// Rule: the region lies within an image of this extent.
void check_region(const protocol::Triple& origin, const protocol::Triple& region,
                  const std::array<std::size_t, 3>& extent);

}  // namespace clique::daemon
