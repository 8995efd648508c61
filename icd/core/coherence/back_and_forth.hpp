#pragma once

#include <chrono>

#include "icd/core/coherence/need.hpp"

namespace clique::icd {

/// Notices that large content of one memory object goes to and fro between two workers, which is mostly not
/// what the program means to do, and says so on standard error, once in this process. Guarded as Coherence.
class BackAndForth {
 public:
  /// Bytes from which a migration is large.
  static constexpr std::uint64_t kLarge = 16U << 20U;
  /// So many migrations in alternating directions within this time are reported.
  static constexpr unsigned kMany = 8;
  static constexpr std::chrono::seconds kWithin{10};

  /// Notes a migration between two workers.
  void note(const Migration& migration, const Need& need);

 private:
  using Clock = std::chrono::steady_clock;

  const Worker* from_ = nullptr;  // of the latest migration
  const Worker* to_ = nullptr;
  unsigned count_ = 0;  // of migrations in alternating directions
  Clock::time_point first_;
};

}  // namespace clique::icd
