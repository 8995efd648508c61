#pragma once

#include <cstdint>
#include <span>

namespace clique::protocol {

/// Fills memory with random bytes of the system, which nobody can guess. Any thread. Throws
/// std::system_error.
void fill_random(std::span<std::uint8_t> bytes);

}  // namespace clique::protocol
