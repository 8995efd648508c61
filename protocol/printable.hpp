// Text that another process wrote, for logs and terminals.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace clique::protocol {

/// The longest text that printable() keeps, in bytes.
inline constexpr std::size_t kLongestPrintable = 2048;

/// The text on one line and without commands to terminals, so that nobody can forge a line of a log: control
/// characters, and bytes that are not UTF-8, become \n, \t or \xNN. Text after the first `longest` bytes is
/// left out, which the result says.
std::string printable(std::string_view text, std::size_t longest = kLongestPrintable);

}  // namespace clique::protocol
