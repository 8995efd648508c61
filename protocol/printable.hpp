// Text that another process wrote, for logs and terminals.
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

}  // namespace clique::protocol
