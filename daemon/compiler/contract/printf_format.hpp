// The format strings of OpenCL C's printf (OpenCL C 3.0, section 6.15.14). The compiler parses them to lay
// out the arguments; the worker uses them to turn what a kernel left in its printf buffer into text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/compiler/contract/program_binary.hpp"

namespace clique::daemon::compiler {

/// A conversion specification with the text in front of it. Only the last piece of a format may have no
/// conversion.
struct PrintfPiece {
  /// The length modifier, which gives the size of integers. `hl` (Int) also marks float components of
  /// vectors.
  enum class Length : std::uint8_t { None, Char, Short, Int, Long };

  std::string text;
  std::string flags;  ///< any of "-+ #0"
  std::string width, precision;
  bool has_precision = false;
  unsigned elements = 1;  ///< components of a vector; 1 for a scalar
  Length length = Length::None;
  char conversion = 0;  ///< the conversion specifier, such as 'd'; 0: none
};

/// Splits a format into pieces. Whatever is not a valid conversion specification stays text.
std::vector<PrintfPiece> parse_printf_format(std::string_view format);

/// The text of one record: a clique_printf_record (library/abi.h) followed by its arguments. Missing
/// arguments count as 0. The text is empty if the record's format index is not in `program.formats`.
std::string format_printf(const ProgramBinary& program, std::span<const std::byte> record);

/// The text of all complete records in `buffer`, which begins with a clique_printf_buffer header. The text
/// ends after about 64 MiB.
std::string format_printf_buffer(const ProgramBinary& program, std::span<const std::byte> buffer);

}  // namespace clique::daemon::compiler
