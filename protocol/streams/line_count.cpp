#include "protocol/streams/line_count.hpp"

#include <algorithm>
#include <utility>

namespace clique::protocol {

namespace {

using namespace std::chrono_literals;

/// A measurement takes as long as several round trips, or the rate tells how bursts were cut. Of long round
/// trips these are few, so that losses are noticed soon.
constexpr unsigned kRoundTrips = 8;
constexpr unsigned kLongRoundTrips = 2;
constexpr std::chrono::nanoseconds kShortestPeriod = 10ms;
/// A rate that is this many times the one before grows by itself, as TCP does when it begins.
constexpr double kGrows = 1.1;
/// Twice as many lines have to bring this many times the rate.
constexpr double kWorthwhile = 1.15;
/// The network is the limit if connections have something under way for this share of the time, are held by
/// their buffers for less than that share of it, and send less than this share of the bytes again.
constexpr double kBusy = 0.9;
constexpr double kHeld = 0.1;
constexpr double kRepeated = 0.0003;
/// If a larger share of the bytes is sent again, the lines overfill a queue.
constexpr double kOverfills = 0.01;
/// Buffers are certainly the limit if they hold connections for this share of the time.
constexpr double kMostlyHeld = 0.5;
constexpr std::chrono::nanoseconds kFirstRest = 1s;
constexpr std::chrono::nanoseconds kLongestRest = 64s;

}  // namespace

void LineCount::set_way(unsigned lines, std::chrono::microseconds round_trip) {
  const unsigned round_trips = round_trip > kVeryLongWay ? kLongRoundTrips : kRoundTrips;
  const std::chrono::nanoseconds period =
      round_trip >= kShortWay ? std::max<std::chrono::nanoseconds>(round_trips * round_trip, kShortestPeriod)
                              : 0ns;
  const bool changed = lines != std::exchange(lines_, lines) || (period > 0ns) != (period_ > 0ns);
  period_ = period;
  if (!changed) return;
  fewer_ = 0;
  if (!controls())
    set_count(kAll);
  else if (count_ != kAll)
    set_count(std::min(count_, lines));
  else if (round_trip <= kVeryLongWay)
    set_count(kFirst);
}

void LineCount::set_count(unsigned count) {
  count_ = count;
  rate_ = 0;
  settling_ = true;
}

void LineCount::measure(Time now, const Delivery& all) {
  const std::chrono::duration<double> time = now - std::exchange(begin_, now);
  const Delivery before = std::exchange(before_, all);
  const bool idle = std::exchange(idle_, false);
  // A line's next connection counts from 0.
  if (all.acknowledged <= before.acknowledged || all.repeated < before.repeated || time <= 0s) return;
  if (std::exchange(settling_, false)) return;
  const Delivery since{all.acknowledged - before.acknowledged, all.repeated - before.repeated,
                       all.busy - before.busy, all.held - before.held};
  const bool overfills =
      static_cast<double>(since.repeated) > kOverfills * static_cast<double>(since.acknowledged);
  if (overfills && count_ > kFirst) return give_up(now, kFirst);
  if (!idle) judge(now, static_cast<double>(since.acknowledged) / time.count(), limit(time, since));
}

void LineCount::give_up(Time now, unsigned count) {
  pause_ = std::clamp(2 * pause_, kFirstRest, kLongestRest);
  next_attempt_ = now + pause_;
  fewer_ = 0;
  set_count(count);
}

LineCount::Limit LineCount::limit(std::chrono::duration<double> time, const Delivery& since) const {
  const double all = time.count() * std::min(count_, lines_);
  const double held = std::chrono::duration<double>(since.held).count() / all;
  if (held > kMostlyHeld) return Limit::Buffers;
  const bool busy = std::chrono::duration<double>(since.busy).count() > kBusy * all;
  const bool loses =
      static_cast<double>(since.repeated) > kRepeated * static_cast<double>(since.acknowledged);
  return busy && held < kHeld && !loses ? Limit::Way : Limit::Other;
}

void LineCount::judge(Time now, double rate, Limit limit) {
  const double last = std::exchange(rate_, rate);
  const bool grows = last == 0 || rate > kGrows * last;
  if (fewer_ == 0) {
    const bool sure = limit == Limit::Buffers;
    if (limit != Limit::Way && (sure || !grows) && now >= next_attempt_ && count_ < lines_) try_more(rate);
    return;
  }
  if (grows) return;
  if (rate >= kWorthwhile * rate_of_fewer_) {
    pause_ = 0ns;
    fewer_ = 0;
    if (count_ < lines_ && limit != Limit::Way) try_more(rate);
    return;
  }
  give_up(now, fewer_);
}

void LineCount::try_more(double rate) {
  fewer_ = count_;
  rate_of_fewer_ = rate;
  set_count(std::min(2 * count_, lines_));
}

}  // namespace clique::protocol
