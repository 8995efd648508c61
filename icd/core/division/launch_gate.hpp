#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "icd/core/division/balance.hpp"

namespace clique::icd {

/// Decides whether launches of one kernel on one combined device are divided, and where, from how long
/// earlier ones of the same size took. The first ones are enqueued whole, until division would have saved the
/// time that its first use takes to move content: should later launches have other content, no more than that
/// is lost. Any thread.
class LaunchGate {
 public:
  /// Launches of one size: global and local sizes.
  using Size = std::pair<std::array<std::size_t, 3>, std::array<std::size_t, 3>>;

  /// What messages between the client and the members of a divided launch take, in ns, as long as none has
  /// been measured.
  static constexpr double kFixed = 200'000;
  /// The same for moving bytes, in ns each: among members on the client's host, and others, for which this is
  /// pessimistic on fast networks.
  static constexpr double kEachByteNear = 0.1;
  static constexpr double kEachByte = 1;
  /// A divided launch has to take at most this share of the time of one that is not.
  static constexpr double kWorthwhile = 0.8;

  /// @param members among which it would be divided
  /// @param near whether all of them are on the client's host
  /// @param merged bytes that each divided launch merges (Division::merged_bytes)
  /// @param bytes() tells how many bytes would have to be moved; called if that matters
  template <typename Bytes>
  bool divides(const Size& size, std::size_t members, bool near, std::uint64_t merged, Bytes&& bytes) {
    const std::lock_guard lock(mutex_);
    Times& times = times_[size];
    const bool divided = pays_off(times, members, near, merged, bytes);
    // Also those that have not ended yet: programs enqueue many at a time.
    if (!divided) ++times.wholes;
    return divided;
  }

  /// Notes how long a launch that ran whole has taken, in ns.
  void measured(const Size& size, std::uint64_t time);
  /// Notes how long a divided launch and its parts have taken, in ns.
  /// @param unit of the borders
  void measured(const Size& size, std::uint64_t time, const Borders& borders, std::uint64_t unit,
                std::span<const std::uint64_t> parts);

  /// Where launches should be divided. Empty: into equal parts.
  Borders borders(const Size& size) const;
  /// Grows when borders() changes for some size.
  std::uint64_t version() const { return version_.load(std::memory_order_acquire); }

 private:
  /// After many changes of the borders, or one for the worse, they stay for this many launches, and for twice
  /// as many each further time: launches may differ too much from one another, but a member may also become
  /// slower.
  static constexpr unsigned kFirstPause = 32;

  struct Times {
    double whole = 0;     ///< ns; 0: not measured yet
    unsigned wholes = 0;  ///< launches that were enqueued whole
    double divided = 0;
    bool tried = false;  ///< whether a divided launch has ended
    Borders borders;     ///< empty: those of equal parts
    /// Of launches with these borders: how many there were, and the least times of their parts, since parts
    /// may also be slow for other reasons.
    unsigned count = 0;
    std::vector<std::uint64_t> least;
    unsigned changes = 0;               ///< of the borders
    unsigned pause = 0;                 ///< for how many launches they stay
    unsigned next_pause = kFirstPause;  ///< the one after this
    Borders best;                       ///< those with which the longest part took the least time
    double best_time = 0;               ///< of the longest part, in ns

    /// The borders for later launches, from `least`. Empty: those of now.
    Borders next(const Borders& now, std::uint64_t unit);
  };
  template <typename Bytes>
  static bool pays_off(const Times& times, std::size_t members, bool near, std::uint64_t merged,
                       const Bytes& bytes) {
    if (times.whole == 0) return false;
    const double most = kWorthwhile * times.whole;
    if (times.divided != 0) return times.divided <= most;
    // Without the bytes, which take time to count, and which move once if the launches have the same data.
    const double each_byte = near ? kEachByteNear : kEachByte;
    const double least =
        times.whole / static_cast<double>(members) + kFixed + each_byte * static_cast<double>(merged);
    if (least > most) return false;
    const double lost = (times.whole - least) * static_cast<double>(times.wholes);
    return each_byte * static_cast<double>(bytes()) <= lost;
  }
  void note(double& known, std::uint64_t time);
  mutable std::mutex mutex_;
  std::map<Size, Times> times_;
  std::atomic<std::uint64_t> version_{0};
};

/// The gates of one kernel, for each combined device. All kernel objects share them, because many programs
/// create one for each launch. Any thread.
class LaunchGates {
 public:
  /// @param device names the device
  std::shared_ptr<LaunchGate> of(const void* device);

 private:
  std::mutex mutex_;
  std::map<const void*, std::shared_ptr<LaunchGate>> gates_;
};

}  // namespace clique::icd
