// What a worker measures of its session for the node's metrics.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace clique::daemon {

/// How often something took how long. The bounds are those of Prometheus' buckets: counts[i] is the number of
/// durations above bounds[i - 1] and up to bounds[i]; the last count is that of all longer ones.
template <std::size_t N>
struct DurationCounts {
  std::array<std::uint64_t, N + 1> counts{};
  std::uint64_t sum_us = 0;  ///< of all durations, in microseconds
};

/// In microseconds, ascending.
inline constexpr std::array<std::uint64_t, 12> kRoundTripBounds{
    50, 100, 200, 500, 1'000, 2'000, 5'000, 10'000, 20'000, 50'000, 100'000, 500'000};
inline constexpr std::array<std::uint64_t, 10> kBuildBounds{
    1'000, 5'000, 10'000, 50'000, 100'000, 500'000, 1'000'000, 5'000'000, 10'000'000, 60'000'000};

/// Numbers that only grow. They consist of 64-bit numbers alone: processes share them as an array.
struct Measured {
  std::uint64_t resumes = 0;       ///< connections of the client that broke and came back
  std::uint64_t cache_hits = 0;    ///< programs for CUDA that the cache of compiled programs had
  std::uint64_t cache_misses = 0;  ///< those that had to be compiled
  DurationCounts<kRoundTripBounds.size()> round_trips;
  DurationCounts<kBuildBounds.size()> builds;

  static constexpr std::size_t kNumbers = 3 + kRoundTripBounds.size() + 2 + kBuildBounds.size() + 2;
  using Numbers = std::array<std::uint64_t, kNumbers>;
};
static_assert(sizeof(Measured) == sizeof(Measured::Numbers));

/// Adds what a worker has measured since `counted`, which becomes what is counted. The worker may be hostile:
/// numbers that have become smaller add nothing, and sums stay at the largest number instead of wrapping.
void add_new(Measured& sum, Measured& counted, const Measured& now);

/// Where a process collects its measurements. Any thread.
class Measurements {
 public:
  /// Those of this process. A worker serves one session in its life, so they are its session's.
  static Measurements& of_process();

  void note_resume() { add(offsetof(Measured, resumes)); }
  void note_cache(bool hit) { add(hit ? offsetof(Measured, cache_hits) : offsetof(Measured, cache_misses)); }
  void note_round_trip(std::chrono::microseconds time);
  void note_build(std::chrono::steady_clock::duration time);
  Measured read() const;

 private:
  /// @param offset in Measured
  void add(std::size_t offset, std::uint64_t number = 1);
  template <std::size_t N>
  void note(std::size_t offset, const std::array<std::uint64_t, N>& bounds, std::chrono::microseconds time);

  std::array<std::atomic<std::uint64_t>, Measured::kNumbers> numbers_{};
};

/// Notes how long a build takes: from its construction to its end.
class MeasuredBuild {
 public:
  MeasuredBuild() = default;
  MeasuredBuild(const MeasuredBuild&) = delete;
  MeasuredBuild& operator=(const MeasuredBuild&) = delete;
  ~MeasuredBuild() { Measurements::of_process().note_build(std::chrono::steady_clock::now() - begin_); }

 private:
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace clique::daemon
