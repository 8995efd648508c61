#include "icd/remote/link/clock.hpp"

#include <ctime>

namespace clique::icd {

std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

bool ClockEstimate::add(std::int64_t asked, std::int64_t theirs, std::int64_t answered) {
  const std::int64_t bound = (answered - asked) / 2;
  if (bound_ != INT64_MAX) {
    const auto widened = static_cast<double>(bound_) + kDrift * static_cast<double>(answered - taken_);
    if (static_cast<double>(bound) > widened) return false;
  }
  // The other host may send any number.
  offset_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(theirs) -
                                      static_cast<std::uint64_t>(asked + bound));
  bound_ = bound;
  taken_ = answered;
  return true;
}

}  // namespace clique::icd
