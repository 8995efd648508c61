#pragma once

#include <cstdint>

namespace clique::protocol {

/// Incremented whenever a message is added, or changes its meaning or its fields. Processes with different
/// versions refuse each other in the handshake.
inline constexpr std::uint32_t kVersion = 26;

/// The port of `cliqued` if none is configured.
inline constexpr std::uint16_t kDefaultPort = 7890;

}  // namespace clique::protocol
