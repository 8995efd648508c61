// Memory that virtual machines share with their host: a file of the host, which QEMU shows to the machine as
// a device (ivshmem).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "protocol/fd.hpp"
#include "protocol/transport/shared_segment.hpp"

namespace clique::protocol {

/// By which a client shows that it sees a memory: random, made by the daemon for each of its runs.
using GuestMemoryId = std::array<std::uint8_t, 16>;

/// Bytes at the beginning of the memory that belong to no session: one huge page, so that regions are
/// aligned.
inline constexpr std::size_t kGuestMemoryHead = 2U << 20U;

/// The daemon's side: writes a new id at the beginning of the memory. Throws std::system_error.
GuestMemoryId write_guest_memory_head(const SharedSegment& head);
/// The guest's side: reads the id. @returns nothing if no daemon has written one
std::optional<GuestMemoryId> read_guest_memory_head(const SharedSegment& head);

}  // namespace clique::protocol
