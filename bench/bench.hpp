// Shared by all benchmark programs: the clock, medians, options, and the lines that bench/run reads.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "command_line.hpp"

namespace bench {

inline constexpr size_t kib = 1024;
inline constexpr size_t mib = 1024 * kib;
inline constexpr size_t gib = 1024 * mib;

/// Options of every program.
struct Options {
  int repeats = 9;  ///< measurements per figure
};

/// The time that `work` takes, in seconds.
template <typename Work>
double seconds(Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The median of `values`, which must not be empty.
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The smallest value that at least this fraction of the values, of which there are some, does not exceed.
/// Reorders them.
inline double quantile(std::vector<double>& values, double fraction) {
  const auto place = static_cast<size_t>(std::ceil(fraction * static_cast<double>(values.size())));
  const auto nth = values.begin() + static_cast<std::ptrdiff_t>(std::max<size_t>(place, 1) - 1);
  std::nth_element(values.begin(), nth, values.end());
  return *nth;
}

/// The median of `repeats` calls of `measure`, after one call to warm up.
template <typename Measure>
double median(int repeats, Measure&& measure) {
  measure();
  std::vector<double> values(static_cast<size_t>(std::max(repeats, 1)));
  std::generate(values.begin(), values.end(), measure);
  return median(std::move(values));
}

/// Prints one figure: its name, value and unit, separated by tabs.
inline void report(const std::string& name, double value, const char* unit) {
  std::printf("%s\t%.9g\t%s\n", name.c_str(), value, unit);
  std::fflush(stdout);
}

/// A size for people, such as "64 KiB".
inline std::string size_name(size_t bytes) {
  for (const auto& [unit, name] : {std::pair{gib, " GiB"}, std::pair{mib, " MiB"}, std::pair{kib, " KiB"}})
    if (bytes >= unit && bytes % unit == 0) return std::to_string(bytes / unit) + name;
  return std::to_string(bytes) + " B";
}

/// Adds the option --size, which replaces `sizes`.
inline void add_sizes(CommandLine& line, std::vector<size_t>& sizes) {
  line.bytes("--size", sizes, "sizes to measure, such as 4, 64KiB or 1GiB");
}

/// The number of transfers of `bytes` in one measurement: enough for the clock's resolution, but no more than
/// needed.
inline int transfers_per_measurement(size_t bytes) {
  return static_cast<int>(std::clamp<size_t>(128 * mib / bytes, 1, 256));
}

/// Adds options to a command line.
using AddOptions = std::function<void(CommandLine&)>;

/// Parses the command line, to which `add` adds options, and runs `body`.
/// @returns the exit status
inline int run(int argc, char** argv, const char* description, Options& options, const AddOptions& add,
               const std::function<void()>& body) {
  CommandLine line(description);
  line.option("--repeats", options.repeats, "number of measurements, of which the median is reported");
  add(line);
  return line.run(argc, argv, body);
}

}  // namespace bench
