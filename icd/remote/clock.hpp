// The offset between two hosts' clocks.
#pragma once

#include <cstdint>

namespace clique::icd {

/// CLOCK_MONOTONIC, ns.
std::int64_t now_ns();

/// Estimates how far another clock is ahead of ours, from questions and answers. Each answer bounds the
/// offset to half of its round trip; the bound widens with time, since the clocks drift. Not thread-safe.
class ClockEstimate {
 public:
  /// An exchange: asked and answered are ours, `theirs` was read between.
  /// @returns whether it is better than what was known, so that offset() has changed.
  bool add(std::int64_t asked, std::int64_t theirs, std::int64_t answered);
  std::int64_t offset() const { return offset_; }

 private:
  /// Two good crystals, in opposite directions.
  static constexpr double kDrift = 100e-6;

  std::int64_t offset_ = 0;
  std::int64_t bound_ = INT64_MAX;
  std::int64_t taken_ = 0;
};

}  // namespace clique::icd
