#pragma once

#include <cstdint>

namespace clique::protocol {

/// Raised whenever an existing message changes its meaning or its fields. Peers with different versions
/// refuse each other in the handshake; additions that both sides can live without are features instead.
inline constexpr std::uint32_t kVersion = 7;

/// Optional abilities, announced by both sides in Hello and Welcome; what both have is used.
enum class Feature : std::uint64_t {};

/// The port of `cliqued` where none is given.
inline constexpr std::uint16_t kDefaultPort = 7890;

}  // namespace clique::protocol
