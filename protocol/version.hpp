#pragma once

#include <cstdint>

namespace clique::protocol {

/// Incremented whenever a message is added, or changes its meaning or its fields.
inline constexpr std::uint32_t kVersion = 34;
/// The oldest version that this one works with. Raised to kVersion by a change that older processes cannot
/// cope with (protocol/README.md, "Versions").
inline constexpr std::uint32_t kOldestVersion = 26;

/// Whether this process can work with another one.
/// @param version, oldest kVersion and kOldestVersion there
constexpr bool speaks(std::uint32_t version, std::uint32_t oldest) {
  return version >= kOldestVersion && oldest <= kVersion;
}

/// The port of `cliqued` if none is configured.
inline constexpr std::uint16_t kDefaultPort = 7890;

}  // namespace clique::protocol
