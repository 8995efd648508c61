// Text that another process or a user wrote, for logs and messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace clique::protocol {

/// The longest text that printable() keeps, in bytes.
inline constexpr std::size_t kLongestPrintable = 2048;

/// Escapes text so that it can neither forge log lines nor control terminals: control characters, and bytes
/// that are not UTF-8, become \n, \t or \xNN. Cuts it off after `longest` bytes, and marks that.
std::string printable(std::string_view text, std::size_t longest = kLongestPrintable);

/// 'TEXT', for messages about values that users have written.
inline std::string in_quotes(std::string_view text) {
  return "'" + std::string(text) + "'";
}

}  // namespace clique::protocol
