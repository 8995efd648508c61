// What the benchmark programs share: the clock, medians, options, and the lines that bench/run reads.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace bench {

inline constexpr size_t kib = 1024;
inline constexpr size_t mib = 1024 * kib;
inline constexpr size_t gib = 1024 * mib;

/// What every program understands.
struct Options {
  int repeats = 9;
};

/// Seconds that `work` takes.
template <typename Work>
double seconds(Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The median of `values`, of which there is at least one.
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The median of `repeats` measurements by `measure`, after one that only warms up.
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

/// A size as people say it: "64 KiB".
inline std::string size_name(size_t bytes) {
  for (const auto& [unit, name] : {std::pair{gib, " GiB"}, std::pair{mib, " MiB"}, std::pair{kib, " KiB"}})
    if (bytes >= unit && bytes % unit == 0) return std::to_string(bytes / unit) + name;
  return std::to_string(bytes) + " B";
}

/// Adds --size, which replaces `sizes`.
inline void add_sizes(CLI::App& app, std::vector<size_t>& sizes) {
  app.add_option("--size", sizes, "sizes to measure: 4, 64KiB, 1GiB")->transform(CLI::AsSizeValue(false));
}

/// Transfers of `bytes` that make one measurement long enough for the clock, yet not tedious.
inline int transfers_per_measurement(size_t bytes) {
  return static_cast<int>(std::clamp<size_t>(128 * mib / bytes, 1, 256));
}

/// Parses the command line with what `add` adds to it, runs `body`, and turns exceptions into a message.
template <typename Add, typename Body>
int run(int argc, char** argv, const char* description, Options& options, Add&& add, Body&& body) {
  CLI::App app(description);
  app.add_option("--repeats", options.repeats, "measurements of which the median is reported")
      ->capture_default_str();
  add(app);
  CLI11_PARSE(app, argc, argv);
  try {
    body();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}

}  // namespace bench
