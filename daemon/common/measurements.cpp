#include "daemon/common/measurements.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace clique::daemon {

void add_new(Measured& sum, Measured& counted, const Measured& now) {
  auto sums = std::bit_cast<Measured::Numbers>(sum);
  auto old = std::bit_cast<Measured::Numbers>(counted);
  const auto numbers = std::bit_cast<Measured::Numbers>(now);
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] <= old[i]) continue;
    sums[i] += std::min(numbers[i] - old[i], kMost - sums[i]);
    old[i] = numbers[i];
  }
  sum = std::bit_cast<Measured>(sums);
  counted = std::bit_cast<Measured>(old);
}

Measurements& Measurements::of_process() {
  static Measurements measurements;
  return measurements;
}

void Measurements::add(std::size_t offset, std::uint64_t number) {
  numbers_[offset / sizeof number].fetch_add(number, std::memory_order_relaxed);
}

template <std::size_t N>
void Measurements::note(std::size_t offset, const std::array<std::uint64_t, N>& bounds,
                        std::chrono::microseconds time) {
  const auto us = static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0));
  const auto bucket =
      static_cast<std::size_t>(std::lower_bound(bounds.begin(), bounds.end(), us) - bounds.begin());
  using Counts = DurationCounts<N>;
  add(offset + offsetof(Counts, counts) + bucket * sizeof us);
  add(offset + offsetof(Counts, sum_us), us);
}

void Measurements::note_round_trip(std::chrono::microseconds time) {
  note(offsetof(Measured, round_trips), kRoundTripBounds, time);
}

void Measurements::note_build(std::chrono::steady_clock::duration time) {
  note(offsetof(Measured, builds), kBuildBounds, std::chrono::duration_cast<std::chrono::microseconds>(time));
}

Measured Measurements::read() const {
  Measured::Numbers numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = numbers_[i].load(std::memory_order_relaxed);
  return std::bit_cast<Measured>(numbers);
}

}  // namespace clique::daemon
