#include "icd/core/division/launch_gate.hpp"

#include <utility>

namespace clique::icd {

void LaunchGate::measured(const Size& size, bool divided, std::uint64_t time) {
  // A launch may also be slow for reasons of its own, such as content that has to come first: later ones
  // count, too.
  constexpr double kNew = 0.25;
  const std::lock_guard lock(mutex_);
  Times& times = times_[size];
  // Members compile the kernel and receive what all launches read with the first divided one, which therefore
  // tells nothing of later ones.
  if (divided && !std::exchange(times.tried, true)) return;
  double& known = divided ? times.divided : times.whole;
  const double now = static_cast<double>(time == 0 ? 1 : time);
  known = known == 0 ? now : known + kNew * (now - known);
}

}  // namespace clique::icd
