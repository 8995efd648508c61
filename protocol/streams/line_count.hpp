// How many lines of a set share what there is to send.
#pragma once

#include <chrono>
#include <cstdint>

#include "protocol/tcp.hpp"

namespace clique::protocol {

/// Chooses how many lines of a set take part in sending, from what their connections have carried. All of
/// them on ways shorter than kShortWay, where processors are the limit. On longer ones, lines that begin
/// together can fill the queue of a link that one of them fills as well: packets are lost, and wait for
/// time-outs. There, it begins with few lines. It tries more of them each time that the rate stops growing by
/// itself, unless the way is what limits these, and keeps them if the rate has grown. On ways longer than
/// kVeryLongWay, where what one connection has under way is the limit on most links, it begins with all, and
/// goes on with few if they overfill a queue. Not thread-safe.
class LineCount {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// The shortest round trip of a way with a link whose queue lines might fill: beyond it is another host's,
  /// through a switch. With less, all lines send.
  static constexpr std::chrono::microseconds kShortWay{100};
  static constexpr std::chrono::milliseconds kVeryLongWay{5};
  /// The number of lines that begin.
  static constexpr unsigned kFirst = 4;

  /// Lines that take part, which may be more than there are.
  unsigned count() const { return count_; }

  /// The set has this many lines now, with this round trip when no queue delays it; 0: unknown. Begins anew
  /// if either changes what to choose from.
  void set_way(unsigned lines, std::chrono::microseconds round_trip);
  /// There was less to send than the lines could take, so that the rate tells nothing.
  void note_idle() { idle_ = true; }
  /// Whether it is time for measure().
  bool due(Time now) const { return controls() && now - begin_ >= period_; }
  /// @param all what the connections have carried together since they were made
  void measure(Time now, const Delivery& all);

  /// count() where all lines take part.
  static constexpr unsigned kAll = ~0U;

 private:
  bool controls() const { return lines_ > kFirst && period_ > period_.zero(); }
  /// What limited the lines in the time of a measurement.
  enum class Limit : std::uint8_t {
    Way,      ///< what the network takes: it was never given less than that, and lost next to nothing
    Buffers,  ///< how much each connection can have under way
    Other,    ///< the processors, or losses
  };
  /// @param since what the connections have carried in that time
  Limit limit(std::chrono::duration<double> time, const Delivery& since) const;
  void judge(Time now, double rate, Limit limit);
  void try_more(double rate);
  /// Goes on with `count` lines, and tries more of them later.
  void give_up(Time now, unsigned count);
  void set_count(unsigned count);

  unsigned lines_ = 0;
  unsigned count_ = kAll;
  std::chrono::nanoseconds period_{0};  // of a measurement; 0: all lines send

  Time begin_;                         // of the measurement
  Delivery before_;                    // when it began
  bool idle_ = true;                   // there was too little to send, or nothing has been measured
  bool settling_ = false;              // lines have just begun or stopped to take part
  double rate_ = 0;                    // the last one with count_ lines, bytes per second; 0: none
  unsigned fewer_ = 0;                 // the count before the attempt that goes on; 0: none does
  double rate_of_fewer_ = 0;           // the rate with that many
  Time next_attempt_;                  // not before
  std::chrono::nanoseconds pause_{0};  // between the last attempt, which was in vain, and the next one
};

}  // namespace clique::protocol
