#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>

namespace clique::icd {

/// How fast content moves among the workers of a context, from transfers whose beginning nothing delays.
/// Transfers at the same time share the links, so they count as one. Until enough has moved, a speed is
/// assumed. Any thread.
class MovementMeter {
 public:
  using Clock = std::chrono::steady_clock;

  /// Assumed speeds, in ns for each byte: among workers on the client's host, and others, for which this is
  /// pessimistic on fast networks.
  static constexpr double kAssumedNear = 0.1;
  static constexpr double kAssumed = 1;
  /// What least() bytes take at the assumed speed, in ns.
  static constexpr double kLeastTime = 4'000'000;

  struct Speed {
    double each_byte = kAssumed;
    bool measured = false;   ///< otherwise it is assumed
    bool under_way = false;  ///< whether something is being measured
  };

  /// @param assumed ns for each byte
  explicit MovementMeter(double assumed) : speed_{assumed, false}, least_(kLeastTime / assumed) {}

  /// For fewer bytes, what messages take would be a large part of the time.
  std::uint64_t least() const { return static_cast<std::uint64_t>(least_); }
  Speed speed() const;

  /// A transfer begins. To be followed by ended().
  void began(Clock::time_point now);
  /// @param bytes that have arrived; 0: it failed
  void ended(Clock::time_point now, std::uint64_t bytes);

 private:
  /// The speed is the average of about so many times least().
  static constexpr double kAveraged = 16;

  mutable std::mutex mutex_;
  Speed speed_;
  const double least_;
  double measured_ = 0;  ///< bytes that count in the average
  unsigned under_way_ = 0;
  // Of the time in which some transfer is under way:
  Clock::time_point since_;
  double moved_ = 0;  ///< bytes
};

}  // namespace clique::icd
