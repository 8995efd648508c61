#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace clique::cli {

/// A column of a table: its heading, and on which side its cells are aligned.
struct Column {
  std::string heading;
  bool right = false;
};

/// Lines in which the cells of a column stand below each other, two spaces apart; the first has the headings.
/// Texts must be printable (protocol::printable()). @param rows as many cells each as there are columns
std::vector<std::string> table_lines(const std::vector<Column>& columns,
                                     const std::vector<std::vector<std::string>>& rows);

/// The first characters of a line. @param columns how many a terminal shows; wide characters count as one
std::string cut_to_width(std::string_view line, std::size_t columns);

/// Bytes for people, such as "1.5G"; the units are powers of 1024. "unknown" for protocol::kUnknown.
std::string bytes_text(std::uint64_t bytes);
/// A time for people, such as "2h 05m".
std::string duration_text(std::uint64_t milliseconds);
/// A number of things per second, such as "0", "0.3", "12" and "3.4k".
std::string rate_text(double per_second);

}  // namespace clique::cli
