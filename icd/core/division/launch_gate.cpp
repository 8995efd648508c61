#include "icd/core/division/launch_gate.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace clique::icd {

namespace {

/// Averages are of about so many launches.
constexpr unsigned kAveraged = 16;
/// Once the average is known, one of so many whole launches is measured: reports cost the node time.
constexpr unsigned kMeasuredOnceIn = 8;

/// Looks at launches take about this share of their time, once it is known.
constexpr double kLookShare = 0.01;
/// So many launches have a look before their time is known, in a row.
constexpr unsigned kFirstLooks = 16;
/// Of launches that cannot gain, one in so many has a look, or fewer; of all, at least one in kMostPassed.
constexpr unsigned kLookOnceIn = 64;
constexpr unsigned kMostPassed = 4096;

std::size_t work_items(const LaunchSize& size) {
  const auto& global = size.first;
  return std::accumulate(
      global.begin(), global.end(), std::size_t{1},
      [](std::size_t items, std::size_t more) { return items * std::max<std::size_t>(more, 1); });
}

/// Notes how long a whole launch took.
void note_whole(LaunchRecord& record, std::uint64_t time) {
  const auto now = static_cast<double>(std::max<std::uint64_t>(time, 1));
  // The first launches may be slow for reasons of their own, such as a kernel that is compiled meanwhile.
  if (record.measured == 0 || now < record.whole / 2) {
    record.whole = now;
    record.measured = 1;
    return;
  }
  record.measured = std::min(record.measured + 1, kAveraged);
  record.whole += (now - record.whole) / record.measured;
}

}  // namespace

std::mutex LaunchGate::mutex_;

LaunchGate::~LaunchGate() {
  const std::lock_guard lock(mutex_);
  for (auto& [size, record] : records_) LaunchGroup::of(record.group).remove(record);
}

LaunchRecord& LaunchGate::record_of(const LaunchSize& size) {
  const auto [found, added] = records_.try_emplace(size);
  LaunchRecord& record = found->second;
  if (added) {
    record.size = size;
    record.group = std::make_shared<LaunchGroup>();
    record.group->use(record);
  }
  return record;
}

unsigned LaunchGate::pause(LaunchRecord& record) {
  LaunchGroup& group = LaunchGroup::of(record.group);
  if (group.divided()) return 0;
  if (record.whole == 0) return record.looks < kFirstLooks ? 0 : kLookOnceIn - 1;
  const double least = record.whole < LaunchGroup::kFixed && !group.may_gain() ? kLookOnceIn - 1 : 0;
  return static_cast<unsigned>(
      std::clamp<double>(record.look / (kLookShare * record.whole), least, kMostPassed - 1));
}

Look LaunchGate::look(const LaunchSize& size) {
  const std::lock_guard lock(mutex_);
  if (const auto found = records_.find(size); found != records_.end()) {
    LaunchRecord& record = found->second;
    if (record.passed >= pause(record)) return Look::Needed;
    ++record.passed;
    return Look::Spared;
  }
  // Programs may launch a kernel with ever new sizes, such as those of what is left of a matrix.
  if (brief_ == nullptr || work_items(size) > work_items(brief_->size)) return Look::Needed;
  LaunchGroup& group = LaunchGroup::of(brief_->group);
  if (group.divided() || group.may_gain()) return Look::Needed;
  if (passed_by_size_++ < pause(*brief_)) return Look::SparedAsTooShort;
  passed_by_size_ = 0;
  return Look::Needed;
}

void LaunchGate::looked(const LaunchSize& size, std::uint64_t time) {
  const std::lock_guard lock(mutex_);
  LaunchRecord& record = record_of(size);
  const auto now = static_cast<double>(time);
  // The first look may include more than later ones.
  const bool first = record.looks++ == 0 || now < record.look;
  record.look = first ? now : record.look + (now - record.look) / 4;
}

void LaunchGate::uses(const LaunchSize& size, std::span<const Use> uses) {
  const std::lock_guard lock(mutex_);
  LaunchRecord& record = record_of(size);
  std::shared_ptr<LaunchGroup>& own = record.group;
  for (const Use& use : uses)
    if (*use.writers) LaunchGroup::join(own, *use.writers);
  LaunchGroup::of(own).use(record);
  for (const Use& use : uses)
    if (use.writes && *use.writers != own) *use.writers = own;
}

bool LaunchGate::may_gain(const LaunchSize& size, std::size_t members) {
  const std::lock_guard lock(mutex_);
  LaunchRecord& record = record_of(size);
  LaunchGroup& group = LaunchGroup::of(record.group);
  return group.divided() || group.may_gain() ||
         (record.whole != 0 && LaunchGroup::may_gain(record.whole, members));
}

bool LaunchGate::decide_at_once(LaunchRecord& record, const Divisible& divisible, GateDecision& decision) {
  LaunchGroup& group = LaunchGroup::of(record.group);
  const bool same = record.divisible.members == divisible.members;
  record.divisible = divisible;
  if (!same) group.changed();
  if (divisible.members > 1) group.note_movement(divisible.movement);
  if (!record.borders && divisible.members > 1) group.share_borders(record);
  if (record.whole != 0 && !group.divided()) {
    record.look_again = std::has_single_bit(++record.decisions) || !same;
    return false;
  }
  if (record.whole == 0 || divisible.members < 2 || record.stays_whole)
    decision = whole(record);
  else
    decision = {!group.probes(), group.epoch()};
  return true;
}

bool LaunchGate::may_divide(LaunchRecord& record) {
  LaunchGroup& group = LaunchGroup::of(record.group);
  if (record.assessed != group.changes()) group.assess(record);
  group.count_wholes(record);
  return record.divisible.members > 1 && record.saving > 0 && group.should_divide();
}

GateDecision LaunchGate::divided(LaunchRecord& record) {
  LaunchGroup& group = LaunchGroup::of(record.group);
  record.passed = 0;
  // Another thread may have been faster.
  if (!group.divided()) group.become_divided();
  return {true, group.epoch()};
}

GateDecision LaunchGate::whole(LaunchRecord& record) {
  // Also those that have not ended yet: programs enqueue many at a time.
  record.uncounted += 1 + std::exchange(record.passed, 0);
  const LaunchGroup& group = LaunchGroup::of(record.group);
  // Where nothing changes, few times are enough.
  const bool wanted =
      group.divided() || record.measured < kAveraged || record.decisions % kMeasuredOnceIn == 0;
  return {false, group.epoch(), wanted};
}

GateDecision LaunchGate::not_yet(LaunchRecord& record) {
  GateDecision decision = whole(record);
  LaunchGroup& group = LaunchGroup::of(record.group);
  decision.tries_movement = group.tries_movement(record);
  decision.hopeful = group.may_gain();
  return decision;
}

void LaunchGate::measured(const LaunchSize& size, GateDecision decision, std::uint64_t time,
                          std::uint64_t all) {
  const std::lock_guard lock(mutex_);
  LaunchRecord& record = record_of(size);
  LaunchGroup& group = LaunchGroup::of(record.group);
  const bool could_gain = LaunchGroup::may_gain(record);
  note_whole(record, time);
  record.assessed = 0;
  if (LaunchGroup::may_gain(record) != could_gain) group.changed();
  if (record.whole >= LaunchGroup::kFixed) {
    if (brief_ == &record) brief_ = nullptr;
  } else if (brief_ == nullptr || work_items(size) > work_items(brief_->size)) {
    brief_ = &record;
  }
  if (group.divided() && decision.epoch == group.epoch()) group.account(record, static_cast<double>(all), {});
}

void LaunchGate::measured(const LaunchSize& size, GateDecision decision, std::uint64_t all,
                          const Borders& borders, std::uint64_t unit, std::span<const std::uint64_t> parts) {
  const std::lock_guard lock(mutex_);
  LaunchRecord& record = record_of(size);
  LaunchGroup& group = LaunchGroup::of(record.group);
  // Members compile the kernel and receive what all launches read with the first divided one, which therefore
  // tells nothing of later ones.
  if (!std::exchange(record.tried, true)) return;
  if (group.divided() && decision.epoch == group.epoch())
    group.account(record, static_cast<double>(all), borders);
  if (!record.borders) group.share_borders(record);
  if (record.borders->measured(&record, borders, unit, parts)) group.borders_changed();
}

void LaunchGate::charge(std::shared_ptr<LaunchGroup>& writers, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (writers) LaunchGroup::of(writers).charge(bytes);
}

Borders LaunchGate::borders(const LaunchSize& size) const {
  const std::lock_guard lock(mutex_);
  const auto found = records_.find(size);
  return found == records_.end() || !found->second.borders ? Borders{} : found->second.borders->now();
}

std::uint64_t LaunchGate::version(const LaunchSize& size) const {
  const std::lock_guard lock(mutex_);
  const auto found = records_.find(size);
  return found == records_.end() || !found->second.borders ? 0 : found->second.borders->version();
}

std::shared_ptr<LaunchGate> LaunchGates::of(const void* device) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<LaunchGate>& gate = gates_[device];
  if (!gate) gate = std::make_shared<LaunchGate>();
  return gate;
}

}  // namespace clique::icd
