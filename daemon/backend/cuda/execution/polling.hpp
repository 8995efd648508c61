// How a thread looks again and again for what the GPU has done.
#pragma once

#include <chrono>

namespace clique::daemon::cuda {

/// How long a thread pauses between two looks. After something has happened, the next often happens soon, so
/// the thread first polls without pause, if this process has enough processors, and later with growing
/// pauses. One thread.
class Polling {
 public:
  using Clock = std::chrono::steady_clock;

  Polling();

  /// Whether to poll without pause. @param idle how long nothing has happened
  bool spins(Clock::duration idle) const;
  /// The pause between two looks where spins() is true: well below a microsecond.
  static void spin();
  /// The pause between two looks where spins() is false. @param idle as for spins()
  static void sleep(Clock::duration idle);
  /// Has the pauses of the calling thread end on time: by default, the kernel makes them 50 us longer.
  static void be_punctual();

 private:
  const bool may_spin_;
};

}  // namespace clique::daemon::cuda
