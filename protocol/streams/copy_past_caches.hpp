#pragma once

#include <cstddef>
#include <span>

namespace clique::protocol {

/// memcpy that leaves the caches to other data where the processor can: memory that is written as a whole is
/// not read first, and what was there is not replaced. Other threads see the bytes as those of memcpy.
void copy_past_caches(std::byte* to, std::span<const std::byte> from);

}  // namespace clique::protocol
