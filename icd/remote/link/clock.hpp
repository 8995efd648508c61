// The offset between two hosts' clocks.
#pragma once

#include <cstdint>

namespace clique::icd {

/// CLOCK_MONOTONIC, ns.
std::int64_t now_ns();

/// Estimates how far the other host's clock is ahead of this host's, from exchanges: this host asks, the
/// other host answers with its time. Each exchange determines the offset to within half of its round trip.
/// The bound widens with time, because clocks drift. Not thread-safe.
class ClockEstimate {
 public:
  /// Adds an exchange. All times in ns: `asked` and `answered` on this host's clock, `theirs` on the other
  /// host's, read between the two.
  /// @returns true if the exchange is more accurate than what was known, so that offset() has changed.
  bool add(std::int64_t asked, std::int64_t theirs, std::int64_t answered);
  /// The other host's clock minus this host's, in ns.
  std::int64_t offset() const { return offset_; }

 private:
  /// The relative drift of two good crystals that deviate in opposite directions.
  static constexpr double kDrift = 100e-6;

  std::int64_t offset_ = 0;
  std::int64_t bound_ = INT64_MAX;
  std::int64_t taken_ = 0;
};

}  // namespace clique::icd
