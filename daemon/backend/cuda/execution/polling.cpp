#include "daemon/backend/cuda/execution/polling.hpp"

#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <thread>

namespace clique::daemon::cuda {

namespace {

using namespace std::chrono_literals;

/// How long a thread polls without pause, if the process has at least kCoresToSpare cores.
constexpr auto kSpin = 200us;
constexpr int kCoresToSpare = 4;
/// Afterwards it pauses for this fraction of the time in which nothing has happened.
constexpr auto kShortestPause = 5us;
constexpr auto kLongestPause = 500us;
constexpr int kPauseFraction = 128;

bool has_cores_to_spare() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  return ::sched_getaffinity(0, sizeof cores, &cores) == 0 && CPU_COUNT(&cores) >= kCoresToSpare;
}

}  // namespace

Polling::Polling() : may_spin_(has_cores_to_spare()) {}

bool Polling::spins(Clock::duration idle) const {
  return may_spin_ && idle < kSpin;
}

void Polling::spin() {
  for (int i = 0; i < 16; ++i) __builtin_ia32_pause();
}

void Polling::sleep(Clock::duration idle) {
  std::this_thread::sleep_for(
      std::clamp<Clock::duration>(idle / kPauseFraction, kShortestPause, kLongestPause));
}

void Polling::be_punctual() {
  ::prctl(PR_SET_TIMERSLACK, 1000);
}

}  // namespace clique::daemon::cuda
