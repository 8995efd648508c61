#include "protocol/streams/line_count.hpp"

#include <algorithm>
#include <utility>

namespace clique::protocol {

namespace {

using namespace std::chrono_literals;

/// A measurement takes as long as several round trips, or the rate tells how bursts were cut.
constexpr unsigned kRoundTrips = 8;
constexpr std::chrono::nanoseconds kShortestPeriod = 10ms;
/// A rate that is this many times the one before grows by itself, as TCP does when it begins.
constexpr double kGrows = 1.1;
/// Twice as many lines have to bring this many times the rate.
constexpr double kWorthwhile = 1.15;
constexpr std::chrono::nanoseconds kFirstRest = 1s;
constexpr std::chrono::nanoseconds kLongestRest = 64s;

}  // namespace

void LineCount::set_way(unsigned lines, std::chrono::microseconds round_trip) {
  const bool controlled = round_trip >= kShortWay && round_trip <= kVeryLongWay;
  const std::chrono::nanoseconds period =
      controlled ? std::max<std::chrono::nanoseconds>(kRoundTrips * round_trip, kShortestPeriod) : 0ns;
  const bool changed = lines != std::exchange(lines_, lines) || (period > 0ns) != (period_ > 0ns);
  period_ = period;
  if (!changed) return;
  fewer_ = 0;
  if (!controls())
    set_count(kAll);
  else
    set_count(count_ == kAll ? kFirst : std::min(count_, lines));
}

void LineCount::set_count(unsigned count) {
  count_ = count;
  rate_ = 0;
  settling_ = true;
}

void LineCount::measure(Time now, std::uint64_t acknowledged) {
  const auto time = std::chrono::duration<double>(now - std::exchange(begin_, now)).count();
  const std::uint64_t before = std::exchange(acknowledged_, acknowledged);
  // A line's next connection counts from 0.
  if (std::exchange(idle_, false) || acknowledged <= before || time <= 0) return;
  if (std::exchange(settling_, false)) return;
  judge(now, static_cast<double>(acknowledged - before) / time);
}

void LineCount::judge(Time now, double rate) {
  const double last = std::exchange(rate_, rate);
  if (last == 0 || rate > kGrows * last) return;
  if (fewer_ == 0) {
    if (now >= next_attempt_ && count_ < lines_) try_more(rate);
    return;
  }
  if (rate >= kWorthwhile * rate_of_fewer_) {
    pause_ = 0ns;
    fewer_ = 0;
    if (count_ < lines_) try_more(rate);
    return;
  }
  pause_ = std::clamp(2 * pause_, kFirstRest, kLongestRest);
  next_attempt_ = now + pause_;
  set_count(std::exchange(fewer_, 0));
}

void LineCount::try_more(double rate) {
  fewer_ = count_;
  rate_of_fewer_ = rate;
  set_count(std::min(2 * count_, lines_));
}

}  // namespace clique::protocol
