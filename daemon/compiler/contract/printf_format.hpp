// The formats of OpenCL C's printf (OpenCL C 3.0, section 6.15.14): read when a kernel is compiled, and used
// to make text of what it left in its buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/compiler/contract/program_binary.hpp"

namespace clique::daemon::compiler {

/// A conversion with the text in front of it; the last piece of a format may have no conversion.
struct PrintfPiece {
  /// Sizes of integers; Int is also that of floating-point numbers in vectors.
  enum class Length : std::uint8_t { None, Char, Short, Int, Long };

  std::string text;
  std::string flags;  ///< of "-+ #0"
  std::string width, precision;
  bool has_precision = false;
  unsigned elements = 1;  ///< of a vector
  Length length = Length::None;
  char conversion = 0;  ///< 0: none
};

/// What is not a conversion stays text.
std::vector<PrintfPiece> parse_printf_format(std::string_view format);

/// The text of a record: a clique_printf_record (library/abi.h) with its arguments. Arguments that the record
/// lacks are taken for 0; a record that refers to no format has no text.
std::string format_printf(const ProgramBinary& program, std::span<const std::byte> record);

/// The text of all complete records that follow the clique_printf_buffer at the begin of `buffer`.
std::string format_printf_buffer(const ProgramBinary& program, std::span<const std::byte> buffer);

}  // namespace clique::daemon::compiler
