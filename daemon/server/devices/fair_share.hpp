#pragma once

#include <chrono>
#include <cstdint>
#include <list>

#include "daemon/common/pace_page.hpp"

namespace clique::daemon {

/// Shares one device fairly between sessions, by weighted fair queueing: while several use it, the time of
/// the device that each has had, divided by its share, must not run away from the others'.
///
/// The account is the daemon's. A session that has kernels on the device is charged for the time that passes,
/// divided by the number of those that have: devices give each of them about the same. A session that is
/// ahead of one that keeps the device busy is held until that one has caught up. Sessions that keep it busy
/// and have further kernels waiting (PacePage::behind) take turns instead: all but one of them are held, so
/// that the device does not lose time by changing between them all the time. One that has been idle begins
/// where the others are, so nobody saves time up. What a worker says decides no more than for which time it
/// is charged: a worker that lies that it uses the device pays for that, one that lies that it does not has
/// nobody held for it, and nobody is held for a worker that has stopped. One thread.
class FairShare {
 public:
  using Clock = PacePage::Clock;
  using Id = std::uint64_t;

  /// How often turn() wants to be called while several sessions use the device.
  static constexpr std::chrono::milliseconds kInterval{2};

  /// A session may use the device from now on.
  /// @param device its place in the page
  /// @param share how much of the device it is to have, relative to the others'; not 0
  void add(Id id, PacePage page, std::size_t device, std::uint32_t share);
  /// The session has ended, or may have.
  void remove(Id id);
  bool empty() const { return members_.empty(); }

  /// Looks at what the workers have said, and tells each how to go on. To be called when a bell has rung,
  /// after add() and remove(), and every kInterval as long as it says so.
  /// @returns whether several sessions use the device, or seem to
  bool turn(Clock::time_point now);

 private:
  struct Member {
    Id id;
    PacePage page;
    std::size_t device;
    double share;
    double time = 0;     // device time that it has had, in ns, divided by its share
    double load = 0;     // the fraction of the last moments in which it had kernels on the device
    double present = 0;  // the same since the last turn
    std::chrono::nanoseconds busy{0};  // as the page said at the last turn
    std::uint64_t beats = 0;
    Clock::time_point beaten = {};  // when the page's number was last another one
    Clock::time_point used = {};    // when it last used the device, or was held
    bool runs = false;              // its worker has not stopped
    Clock::time_point queued = {};  // when it last had kernels behind the one that runs
    bool turns = false;             // keeps the device busy, and has kernels for a turn
    bool held = false;
    bool idle = true;
  };

  /// Begins to count everybody's kernels.
  void begin(Clock::time_point now);
  /// Stops: nobody is held, or even counted, but those who are not using the device ring.
  void end();
  /// The member's activity since the last turn.
  void observe(Member& member, Clock::time_point now, std::chrono::nanoseconds elapsed);
  /// Charges everybody for that.
  void charge(std::chrono::nanoseconds elapsed);
  /// Decides whose turn it is, and holds the others who take turns.
  void give_turn(Clock::time_point now);
  /// Whether the member is too far ahead of one that keeps the device busy.
  bool ahead(const Member& member) const;

  std::list<Member> members_;
  bool counting_ = false;
  double clock_ = 0;  // where a member begins that was idle: the least `time` of those that were not
  Clock::time_point last_turn_;
  // Whose turn it is; 0: nobody's. Ids of members are not 0.
  Id runner_ = 0;
  Clock::time_point runs_since_;
  double ran_from_ = 0;  // its `time` then
};

}  // namespace clique::daemon
