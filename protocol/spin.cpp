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
/// A little more than a round trip on one host takes.
constexpr auto kUsual = 50us;
/// So much that who waits for a short kernel, or for some MiB, is awake when they end.
constexpr auto kLong = 400us;
constexpr unsigned kMany = 8;
/// Of a slow link between host and device, in bytes a nanosecond.
constexpr std::uint64_t kSlowTransfer = 20;
/// Transfers that take longer lose less than a hundredth by being late.
constexpr auto kLongestVigil = 20ms;

unsigned processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set)) : 0;
}

std::optional<std::chrono::microseconds> asked_spin_time() {
  try {
    return parse_spin_time(std::getenv("CLIQUE_SPIN_US"));
  } catch (const std::runtime_error&) {
    // Whoever starts the process says so.
    return std::nullopt;
  }
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

std::chrono::microseconds spin_time(unsigned least, bool in_memory) {
  if (const auto asked = asked_spin_time()) return *asked;
  const unsigned there = processors();
  if (there < least) return 0us;
  return in_memory && there >= kMany ? kLong : kUsual;
}

Vigil::Vigil() : kept_(!asked_spin_time() && processors() >= kMany) {}

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
