#include "protocol/spin.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace clique::protocol {

namespace {

using namespace std::chrono_literals;

constexpr auto kMost = 1'000'000us;
/// With fewer processors than this, none is idle while a thread spins, so that spinning threads yield.
constexpr unsigned kMany = 8;
/// A little more than a round trip on one host.
constexpr auto kUsual = 50us;
/// Long enough for a thread that waits for a short kernel, or for some MiB, to be awake when it completes.
constexpr auto kUsualInMemory = 400us;
/// How long a thread waits for a command where there are processors to spare. To sleep and to be woken costs
/// two threads about 0.1 ms, a hundredth of this.
constexpr auto kSpinPatience = 10ms;
/// Round trips take longer when the threads of both sides share processors.
constexpr auto kCrowded = 200us;
constexpr auto kCrowdedInMemory = 100us;
/// If a yield takes longer than the other side needs to answer, another thread has much to do. It keeps the
/// processor until its time slice is over when this thread yields, but not when this thread is woken.
constexpr auto kLongTurn = 100us;
/// The time for which threads sleep without spinning then.
constexpr auto kAbstinence = 10ms;
/// The rate of a slow link between host and device, in bytes per nanosecond.
constexpr std::uint64_t kSlowTransfer = 20;
/// Transfers that take longer lose less than a hundredth of their time by being noticed late.
constexpr auto kLongestVigil = 20ms;

unsigned processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set)) : 0;
}

std::chrono::microseconds usual_time(bool in_memory) {
  const unsigned there = processors();
  if (there < 2) return 0us;
  if (there < kMany) return in_memory ? kCrowdedInMemory : kCrowded;
  return in_memory ? kUsualInMemory : kUsual;
}

/// What set_spin_time() was given, in microseconds.
constexpr std::int64_t kUnset = -1;
constinit std::atomic<std::int64_t> spin_time{kUnset};

std::optional<std::chrono::microseconds> asked_spin_time() {
  const std::int64_t set = spin_time.load(std::memory_order_relaxed);
  return set == kUnset ? std::nullopt : std::optional(std::chrono::microseconds(set));
}

}  // namespace

std::optional<std::chrono::microseconds> parse_spin_time(const char* text) {
  if (text == nullptr || *text == '\0') return std::nullopt;
  const std::string_view said = text;
  long us = 0;
  const auto [end, error] = std::from_chars(said.data(), said.data() + said.size(), us);
  if (error != std::errc() || end != said.data() + said.size() || us < 0 || us > kMost.count())
    throw std::runtime_error("CLIQUE_SPIN_US is '" + std::string(said) +
                             "'; write microseconds, 0 to 1000000, such as 50");
  return std::chrono::microseconds(us);
}

void set_spin_time(std::optional<std::chrono::microseconds> time) {
  spin_time.store(time ? time->count() : kUnset, std::memory_order_relaxed);
}

bool spare_processors() {
  return processors() >= kMany;
}

Spinning::Spinning(bool in_memory)
    : yields_(!spare_processors()),
      time_(asked_spin_time().value_or(usual_time(in_memory))),
      patience_(yields_ || asked_spin_time() ? time_ : kSpinPatience) {}

bool Spinning::go_on(Clock::time_point now, bool expects) {
  if (!begun_) {
    begun_ = true;
    begin_ = now;
  }
  const auto spun = now - begin_;
  if (!yields_ && spun < time_) return true;
  if (spun >= (expects ? patience_ : time_) || now < crowded_until_) return false;
  const auto before = Clock::now();
  ::sched_yield();
  const auto after = Clock::now();
  if (after - before > kLongTurn) crowded_until_ = after + kAbstinence;
  return true;
}

Vigil::Vigil() : kept_(!asked_spin_time() && spare_processors()) {}

void Vigil::prolong(std::uint64_t size) {
  if (!kept_) return;
  const auto now = Clock::now().time_since_epoch();
  const std::chrono::nanoseconds time(size / kSlowTransfer);
  auto end = end_.load(std::memory_order_relaxed);
  Clock::rep later = 0;
  do later = std::min(std::max(now, Clock::duration(end)) + time, now + kLongestVigil).count();
  while (!end_.compare_exchange_weak(end, later, std::memory_order_relaxed));
}

}  // namespace clique::protocol
