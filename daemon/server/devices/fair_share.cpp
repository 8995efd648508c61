#include "daemon/server/devices/fair_share.hpp"

#include <algorithm>
#include <cmath>

namespace clique::daemon {

namespace {

using namespace std::chrono_literals;

/// A session is held when it has had this much more of the device than its share, and goes on when it has
/// half of that left. Longer than devices take to switch between sessions, so that those with equal shares
/// are left to the device.
constexpr std::chrono::nanoseconds kLead = 10ms;
/// How long a turn is for the session with the largest share, and how long a session waits at most for its
/// own beside others with the same share. Devices lose time with each change, and while kernels of two
/// sessions are on them.
constexpr std::chrono::nanoseconds kTurn = 30ms;
constexpr std::chrono::nanoseconds kLongestWait = 150ms;
/// How long the device is kept for a session whose turn has begun: its worker has to notice.
constexpr auto kReserved = 6ms;
/// A worker that has not run for this long is taken for stopped.
constexpr auto kStoppedAfter = 50ms;
/// A session that has not used the device for this long no longer does.
constexpr auto kAway = 100ms;
/// The moments that Member::load looks back to.
constexpr std::chrono::nanoseconds kLoadWindow = 8ms;
/// The load from which on a session counts as waiting for the device, and not for its own host.
constexpr double kBacklogged = 0.8;
/// No more is charged at a time, in case this process has not run itself.
constexpr std::chrono::nanoseconds kLongestTurn = 20ms;

}  // namespace

void FairShare::add(Id id, PacePage page, std::size_t device, std::uint32_t share) {
  members_.push_back({.id = id, .page = std::move(page), .device = device, .share = double(share)});
  const Member& member = members_.back();
  if (members_.size() > 1) member.page.set_pace(device, counting_ ? Pace::Counted : Pace::Doze);
}

void FairShare::remove(Id id) {
  std::erase_if(members_, [id](const Member& member) { return member.id == id; });
}

bool FairShare::turn(Clock::time_point now) {
  if (!counting_) {
    const bool rung = std::any_of(members_.begin(), members_.end(), [now](const Member& member) {
      return member.page.pace(member.device) == Pace::Doze &&
             member.page.busy(member.device, now) != member.busy;
    });
    if (members_.size() > 1 && rung) begin(now);
    if (members_.size() == 1) end();
    return counting_;
  }
  const std::chrono::nanoseconds elapsed = now - last_turn_;
  if (elapsed <= 0ns) return true;
  last_turn_ = now;
  for (Member& member : members_) observe(member, now, elapsed);
  charge(std::min(elapsed, kLongestTurn));
  give_turn(now);
  for (Member& member : members_) {
    if (runner_ == 0 || runner_ == member.id || !member.turns) member.held = ahead(member);
    member.page.set_pace(member.device, member.held ? Pace::Held : Pace::Counted);
  }
  const auto users = std::count_if(members_.begin(), members_.end(),
                                   [now](const Member& member) { return now - member.used < kAway; });
  if (users < 2) end();
  return counting_;
}

void FairShare::begin(Clock::time_point now) {
  counting_ = true;
  last_turn_ = now;
  for (Member& member : members_) {
    member.page.set_pace(member.device, Pace::Counted);
    member.busy = member.page.busy(member.device, now);
    member.beats = member.page.beats();
    // Everybody gets the time to show whether they use the device.
    member.beaten = member.used = now;
    member.load = 0;
    member.idle = true;
  }
}

void FairShare::end() {
  counting_ = false;
  runner_ = 0;
  const auto user =
      std::max_element(members_.begin(), members_.end(),
                       [](const Member& one, const Member& other) { return one.used < other.used; });
  for (auto member = members_.begin(); member != members_.end(); ++member) {
    member->held = false;
    member->busy = member->page.busy(member->device, last_turn_);
    member->page.set_pace(member->device, member == user ? Pace::Free : Pace::Doze);
  }
}

void FairShare::observe(Member& member, Clock::time_point now, std::chrono::nanoseconds elapsed) {
  const std::chrono::nanoseconds busy = member.page.busy(member.device, now);
  const std::uint64_t beats = member.page.beats();
  if (beats != member.beats) member.beaten = now;
  member.beats = beats;
  // The page may say anything, also something that the difference would overflow with.
  const auto said = static_cast<std::int64_t>(static_cast<std::uint64_t>(busy.count()) -
                                              static_cast<std::uint64_t>(member.busy.count()));
  member.busy = busy;
  member.runs = now - member.beaten < kStoppedAfter;
  member.present = member.runs ? std::clamp(double(said) / double(elapsed.count()), 0.0, 1.0) : 0;
  // The device is kept for it, whatever it does.
  if (member.runs && member.id == runner_ && now - runs_since_ < kReserved) member.present = 1;
  if (member.present > 0 || member.held) member.used = now;
  // Being held says nothing about what it would do.
  if (!member.held)
    member.load +=
        (member.present - member.load) * -std::expm1(-double(elapsed.count()) / double(kLoadWindow.count()));
  if (member.page.behind(member.device) > 0) member.queued = now;
  member.turns = member.runs && member.load >= kBacklogged && now - member.queued < kLoadWindow;
}

void FairShare::charge(std::chrono::nanoseconds elapsed) {
  double present = 0;
  for (Member& member : members_) {
    present += member.present;
    const bool idle = member.present == 0 && !member.held;
    if (!idle && member.idle) member.time = std::max(member.time, clock_);
    member.idle = idle;
  }
  double least = INFINITY;
  for (Member& member : members_) {
    const double others = present - member.present;
    member.time += double(elapsed.count()) * member.present / (1 + others) / member.share;
    if (!member.idle) least = std::min(least, member.time);
  }
  if (std::isfinite(least)) clock_ = std::max(clock_, least);
}

void FairShare::give_turn(Clock::time_point now) {
  const Member* runner = nullptr;
  const Member* last = nullptr;  // the one that has had the least
  double largest = 0;
  int count = 0;
  for (const Member& member : members_) {
    if (!member.turns) continue;
    ++count;
    largest = std::max(largest, member.share);
    if (member.id == runner_) runner = &member;
    if (last == nullptr || member.time < last->time) last = &member;
  }
  if (count < 2) {
    runner_ = 0;
    return;
  }
  const double turn = double(std::min(kTurn, kLongestWait / (count - 1)).count()) / largest;
  if (runner == nullptr || runner->time - ran_from_ >= turn) {
    runner_ = last->id;
    runs_since_ = now;
    ran_from_ = last->time;
  }
  for (Member& member : members_)
    if (member.turns) member.held = member.id != runner_;
}

bool FairShare::ahead(const Member& member) const {
  double last = INFINITY;
  for (const Member& other : members_)
    if (&other != &member && !other.held && other.present > 0 && other.load >= kBacklogged)
      last = std::min(last, other.time);
  if (!std::isfinite(last)) return false;
  const double lead = (member.time - last) * member.share;
  return lead > double(kLead.count()) / (member.held ? 2 : 1);
}

}  // namespace clique::daemon
