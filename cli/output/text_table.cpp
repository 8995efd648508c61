#include "cli/output/text_table.hpp"

#include <algorithm>
#include <cstdio>

#include "protocol/messages/status.hpp"

namespace clique::cli {

namespace {

bool begins_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80;
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

template <typename... Values>
std::string formatted(const char* format, Values... values) {
  char text[64];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

/// A number with three digits or so, and the unit.
std::string scaled(double value, double step, std::string_view units) {
  std::size_t unit = 0;
  while (value >= step && unit + 1 < units.size()) {
    value /= step;
    ++unit;
  }
  std::string text = formatted(unit > 0 && value < 10 ? "%.1f" : "%.0f", value);
  if (unit > 0) text += units[unit];
  return text;
}

}  // namespace

std::vector<std::string> table_lines(const std::vector<Column>& columns,
                                     const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    widths.push_back(width_of(columns[i].heading));
    for (const auto& row : rows) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  const auto line_of = [&](const auto& cell) {
    std::string line;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::string& text = cell(i);
      const std::string blanks(widths[i] - width_of(text), ' ');
      line += (i > 0 ? "  " : "") + (columns[i].right ? blanks + text : text + blanks);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
  };
  std::vector<std::string> lines{line_of([&](std::size_t i) -> const auto& { return columns[i].heading; })};
  for (const auto& row : rows) lines.push_back(line_of([&](std::size_t i) -> const auto& { return row[i]; }));
  return lines;
}

std::string cut_to_width(std::string_view line, std::size_t columns) {
  std::size_t end = 0;
  for (std::size_t shown = 0; end < line.size(); ++end)
    if (begins_character(line[end]) && shown++ == columns) break;
  return std::string(line.substr(0, end));
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes == protocol::kUnknown) return "unknown";
  return scaled(static_cast<double>(bytes), 1024, " KMGTPE");
}

std::string duration_text(std::uint64_t milliseconds) {
  const unsigned long long seconds = milliseconds / 1000;
  const unsigned long long minutes = seconds / 60;
  const unsigned long long hours = minutes / 60;
  if (minutes == 0) return formatted("%llus", seconds);
  if (hours == 0) return formatted("%llum %02llus", minutes, seconds % 60);
  if (hours < 24) return formatted("%lluh %02llum", hours, minutes % 60);
  return formatted("%llud %02lluh", hours / 24, hours % 24);
}

std::string rate_text(double per_second) {
  if (per_second > 0 && per_second < 9.95) return formatted("%.1f", per_second);
  return scaled(per_second, 1000, " kMGTPE");
}

}  // namespace clique::cli
