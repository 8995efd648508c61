// Command lines of the processes that cliqued starts of itself: `cliqued PROCESS --control-fd N OPTIONS`,
// where PROCESS is `worker`, `probe` or `embedded`. A process lists its options once, as Arguments: its
// starter writes the command line by that list, and the process reads it.
#pragma once

#include <charconv>
#include <chrono>
#include <concepts>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "daemon/common/port_range.hpp"

namespace clique::daemon {

// How values are written on a command line, and read. Reading throws std::invalid_argument.

template <std::integral T>
std::string write_value(T value) {
  return std::to_string(value);
}
template <std::integral T>
void read_value(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw std::invalid_argument("'" + std::string(text) + "' is not a number of the allowed range");
}

template <typename T>
  requires std::is_enum_v<T>
std::string write_value(T value) {
  return write_value(static_cast<std::underlying_type_t<T>>(value));
}
template <typename T>
  requires std::is_enum_v<T>
void read_value(std::string_view text, T& value) {
  std::underlying_type_t<T> number{};
  read_value(text, number);
  value = static_cast<T>(number);
}

inline std::string write_value(const std::string& value) {
  return value;
}
inline void read_value(std::string_view text, std::string& value) {
  value = text;
}

inline std::string write_value(std::chrono::seconds value) {
  return write_value(value.count());
}
inline void read_value(std::string_view text, std::chrono::seconds& value) {
  std::chrono::seconds::rep count = 0;
  read_value(text, count);
  value = std::chrono::seconds(count);
}

inline std::string write_value(const PortRange& value) {
  return to_text(value);
}
inline void read_value(std::string_view text, PortRange& value) {
  value = parse_ports(text);
}

template <typename T>
std::string write_value(const std::vector<T>& values) {
  std::string text;
  for (const T& value : values) text += (text.empty() ? "" : ",") + write_value(value);
  return text;
}
template <typename T>
void read_value(std::string_view text, std::vector<T>& values) {
  values.clear();
  while (!text.empty()) {
    const auto comma = text.find(',');
    read_value(text.substr(0, comma), values.emplace_back());
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
}

/// One option of a process.
template <typename Options>
struct Argument {
  std::string_view name;
  std::string (*write)(const Options& options);
  void (*read)(std::string_view text, Options& options);
};

/// @param field a lambda without captures that returns a reference to the option's field
template <typename Options, typename Field>
constexpr Argument<Options> argument(std::string_view name, Field /*field*/) {
  return {name, [](const Options& options) { return write_value(Field{}(options)); },
          [](std::string_view text, Options& options) { read_value(text, Field{}(options)); }};
}

/// The options as NAME VALUE NAME VALUE …
template <typename Options>
std::vector<std::string> write_arguments(std::span<const Argument<Options>> arguments,
                                         const Options& options) {
  std::vector<std::string> result;
  for (const Argument<Options>& argument : arguments)
    result.insert(result.end(), {std::string(argument.name), argument.write(options)});
  return result;
}

/// Reads what write_arguments() wrote; options that are not there keep their defaults. Throws
/// std::invalid_argument.
template <typename Options>
Options read_arguments(std::span<const Argument<Options>> arguments, std::span<char* const> given) {
  Options options;
  for (; !given.empty(); given = given.subspan(2)) {
    const std::string_view name = given[0];
    const Argument<Options>* found = nullptr;
    for (const Argument<Options>& argument : arguments)
      if (argument.name == name) found = &argument;
    if (found == nullptr) throw std::invalid_argument("unknown option " + std::string(name));
    if (given.size() < 2) throw std::invalid_argument("option " + std::string(name) + " lacks its value");
    found->read(given[1], options);
  }
  return options;
}

}  // namespace clique::daemon
