#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace clique::protocol {

/// What of the traffic with workers is encrypted. All connections are authenticated when they are made. Each
/// value includes those before it.
enum class Encryption : std::uint8_t {
  None = 0,      ///< nothing
  Commands = 1,  ///< messages: commands, programs, small transfers, reports; not the parts of large transfers
  All = 2        ///< everything
};

/// As settings write it: "none", "commands" or "all".
constexpr std::string_view to_text(Encryption encryption) {
  switch (encryption) {
    case Encryption::None:
      return "none";
    case Encryption::Commands:
      return "commands";
    case Encryption::All:
      return "all";
  }
  return "unknown";
}

/// Reads what to_text() writes. @returns nothing for another text
constexpr std::optional<Encryption> encryption_of(std::string_view text) {
  for (const Encryption each : {Encryption::None, Encryption::Commands, Encryption::All})
    if (to_text(each) == text) return each;
  return std::nullopt;
}

}  // namespace clique::protocol
