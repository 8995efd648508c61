#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "icd/core/division/balance.hpp"

namespace clique::icd {

/// Where launches of one size are divided, from how long their parts took. Kernels that pass content to each
/// other have the same borders: otherwise the content between theirs would move each time. Not thread-safe.
class SharedBorders {
 public:
  /// Empty: those of equal parts.
  const Borders& now() const { return borders_; }
  /// Differs whenever borders differ, also among objects. 0: those of equal parts.
  std::uint64_t version() const { return version_; }
  /// How often they have changed.
  unsigned changes() const { return changes_; }

  /// Notes how long the parts of a launch took, in ns.
  /// @param who identifies the kernel
  /// @param borders those of this launch
  /// @param unit of the borders
  /// @returns whether they have changed
  bool measured(const void* who, const Borders& borders, std::uint64_t unit,
                std::span<const std::uint64_t> parts);
  /// The kernel will have no more launches.
  void forget(const void* who);

 private:
  /// After many changes of the borders, or one for the worse, they stay for this many launches, and for twice
  /// as many each further time: launches may differ too much from one another, but a member may also become
  /// slower. If parts stay very uneven, a quarter of these launches is enough.
  static constexpr unsigned kFirstPause = 32;

  /// Of launches of one kernel with these borders: how many there were, and the least times of their parts,
  /// since parts may also be slow for other reasons.
  struct Kernel {
    const void* who;
    unsigned count = 0;
    std::vector<std::uint64_t> least;
  };
  Kernel& of(const void* who);
  /// Whether enough is known of all kernels that are launched again and again.
  bool is_time(const Kernel& last) const;
  /// In a pause: whether enough launches were very uneven to end it. If they were not, or the pause is over,
  /// later launches are counted anew.
  /// @param last the kernel of the last launch
  bool stays_uneven(const Kernel& last);
  /// What one launch of each kernel takes on the parts.
  std::vector<std::uint64_t> sums() const;
  /// The borders for later launches. Empty: those of now.
  Borders next(const Borders& now, std::uint64_t unit, std::span<const std::uint64_t> times);

  Borders borders_;
  std::uint64_t version_ = 0;
  std::vector<Kernel> kernels_;
  unsigned changes_ = 0;
  unsigned pause_ = 0;  ///< for how many launches they stay
  unsigned next_pause_ = kFirstPause;
  Borders best_;                  ///< those with which the longest part took the least time
  double best_time_ = 0;          ///< of the longest part, in ns
  std::size_t best_kernels_ = 0;  ///< how many kernels that is the time of
};

}  // namespace clique::icd
