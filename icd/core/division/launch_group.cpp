#include "icd/core/division/launch_group.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace clique::icd {

namespace {

/// Smaller changes of a speed do not count.
constexpr double kNoticed = 0.1;
/// Averages of recent launches are of so many.
constexpr double kRecent = 64;
/// The first verdict needs so many launches that are steady, and so many of each kernel.
constexpr unsigned kLeastSteady = 3;
constexpr unsigned kEachSteady = 2;
/// Later ones are about the last so many.
constexpr unsigned kSteadyLaunches = 64;
constexpr unsigned kMostDoublings = 8;
/// So many launches of each kernel run whole to see how long that takes now.
constexpr unsigned kProbes = 3;

}  // namespace

LaunchGroup& LaunchGroup::of(std::shared_ptr<LaunchGroup>& group) {
  while (group->joined_) group = std::shared_ptr(group->joined_);
  return *group;
}

void LaunchGroup::join(std::shared_ptr<LaunchGroup>& one, std::shared_ptr<LaunchGroup>& other) {
  if (&of(one) == &of(other)) return;
  const bool first_is_larger = one->records_.size() >= other->records_.size();
  const std::shared_ptr<LaunchGroup> kept = first_is_larger ? one : other;
  const std::shared_ptr<LaunchGroup> joined = first_is_larger ? other : one;
  joined->joined_ = kept;
  kept->divided_ = kept->divided_ || joined->divided_;
  kept->epoch_ = std::max(kept->epoch_, joined->epoch_);
  kept->lost_ += joined->lost_;
  kept->whole_ += joined->whole_;
  kept->owed_ += joined->owed_;
  const auto wholes = static_cast<double>(kept->wholes_ + joined->wholes_);
  if (wholes > 0) {
    const double share = static_cast<double>(joined->wholes_) / wholes;
    kept->recent_saving_ += share * (joined->recent_saving_ - kept->recent_saving_);
    kept->recent_whole_ += share * (joined->recent_whole_ - kept->recent_whole_);
  }
  kept->wholes_ += joined->wholes_;
  kept->expected_ += joined->expected_;
  kept->excess_ += joined->excess_;
  kept->failures_ = std::max(kept->failures_, joined->failures_);
  for (LaunchRecord* record : joined->records_) {
    record->group = kept;
    record->listed = false;
    kept->use(*record);
    if (record->borders) kept->share_borders(*record);
  }
  joined->records_.clear();
  kept->start_epoch();
}

void LaunchGroup::use(LaunchRecord& record) {
  record.last_use = ++uses_;
  if (std::exchange(record.listed, true)) return;
  if (records_.size() >= kMostRecords) {
    const auto oldest =
        std::min_element(records_.begin(), records_.end(),
                         [](const auto* one, const auto* other) { return one->last_use < other->last_use; });
    (*oldest)->listed = false;
    *oldest = &record;
  } else {
    records_.push_back(&record);
  }
  ++changes_;
}

void LaunchGroup::remove(const LaunchRecord& record) {
  std::erase(records_, &record);
  if (record.borders) record.borders->forget(&record);
  ++changes_;
}

void LaunchGroup::share_borders(LaunchRecord& record) {
  std::shared_ptr<SharedBorders> found = record.borders;
  for (const LaunchRecord* other : records_)
    if (other->borders && other->size == record.size &&
        other->divisible.dimension == record.divisible.dimension &&
        other->divisible.members == record.divisible.members &&
        (!found || other->borders->changes() > found->changes()))
      found = other->borders;
  if (!found) found = std::make_shared<SharedBorders>();
  if (record.borders && record.borders != found) record.borders->forget(&record);
  record.borders = std::move(found);
}

void LaunchGroup::set_content(LaunchRecord& record, std::vector<UsedContent> content) {
  record.content = std::move(content);
  ++changes_;
}

void LaunchGroup::note_movement(const MovementMeter::Speed& speed) {
  if (std::abs(speed.each_byte - each_byte_) <= kNoticed * each_byte_) return;
  each_byte_ = speed.each_byte;
  ++changes_;
}

bool LaunchGroup::may_gain(double whole, std::size_t members) {
  return members > 1 && (whole == 0 || whole * (1 - 1 / static_cast<double>(members)) > kFixed);
}

bool LaunchGroup::may_gain() {
  if (std::exchange(may_gain_of_, changes_) != changes_)
    may_gain_ = std::any_of(records_.begin(), records_.end(),
                            [](const LaunchRecord* record) { return may_gain(*record); });
  return may_gain_;
}

double LaunchGroup::movement() {
  if (moving_of_ == changes_) return each_byte_ * moving_;
  moving_of_ = changes_;
  std::map<const void*, std::uint64_t> bytes;
  for (const LaunchRecord* record : records_) {
    if (record->divisible.members < 2) continue;
    for (const UsedContent& content : record->content) {
      std::uint64_t& of_object = bytes[content.object];
      of_object = std::max(of_object, content.bytes);
    }
  }
  moving_ = 0;
  for (const auto& [object, of_object] : bytes) moving_ += static_cast<double>(of_object);
  return each_byte_ * moving_;
}

double LaunchGroup::burden(const LaunchRecord& record) const {
  double bytes = 0;
  for (const UsedContent& own : record.content) {
    std::uint64_t moved = 0;
    bool written = false;
    for (const LaunchRecord* other : records_) {
      if (other == &record || other->divisible.members < 2 || other->stays_whole) continue;
      for (const UsedContent& content : other->content) {
        if (content.object != own.object) continue;
        moved = std::max(moved, content.bytes);
        written = written || content.written;
      }
    }
    // The bytes are those there and back.
    bytes += static_cast<double>(moved) / 2 * ((written ? 1 : 0) + (own.written ? 1 : 0));
  }
  return each_byte_ * bytes;
}

void LaunchGroup::assess(LaunchRecord& record) {
  record.assessed = changes_;
  if (record.divisible.members >= 2) {
    const double divided = record.whole / static_cast<double>(record.divisible.members) + kFixed +
                           each_byte_ * static_cast<double>(record.divisible.merged);
    record.saving = record.whole - divided;
    if (record.saving >= 0) {
      record.stays_whole = false;
      return;
    }
  }
  const double apart = burden(record);
  record.stays_whole = record.divisible.members < 2 || apart < -record.saving;
  if (record.stays_whole) record.saving = -apart;
}

void LaunchGroup::count_wholes(LaunchRecord& record) {
  for (; record.uncounted > 0; --record.uncounted) {
    const double average = std::min(kRecent, static_cast<double>(++wholes_));
    recent_saving_ += (record.saving - recent_saving_) / average;
    // Launches that stay whole take their time in any case.
    recent_whole_ += ((record.stays_whole ? 0 : record.whole) - recent_whole_) / average;
    lost_ = std::max(0.0, lost_ + record.saving);
    whole_ += record.whole;
  }
}

bool LaunchGroup::would_save() const {
  return wholes_ > 0 && whole_ >= owed_ && recent_saving_ >= (1 - kWorthwhile) * recent_whole_;
}

bool LaunchGroup::should_divide() {
  // The content of all kernels takes time to count.
  return would_save() && movement() <= lost_;
}

bool LaunchGroup::tries_movement(const LaunchRecord& record) {
  const MovementMeter::Speed& known = record.divisible.movement;
  if (known.measured || known.under_way || trials_ >= kMostTrials) return false;
  if (record.saving <= 0 || !would_save() || lost_ < (trials_ + 1) * MovementMeter::kLeastTime) return false;
  ++trials_;
  return true;
}

void LaunchGroup::start_epoch() {
  ++epoch_;
  spent_ = would_ = steady_excess_ = 0;
  steady_ = kernels_ = 0;
  confirmed_ = false;
}

void LaunchGroup::become_divided() {
  expected_ = movement() + kFixed;
  excess_ = 0;
  divided_ = true;
  start_epoch();
  for (LaunchRecord* record : records_)
    if (record->whole != 0) assess(*record);
}

void LaunchGroup::become_whole() {
  const double cost = std::max(excess_, expected_);
  owed_ = kPatience * cost * std::exp2(std::min(failures_, kMostDoublings));
  ++failures_;
  divided_ = false;
  lost_ = whole_ = recent_saving_ = recent_whole_ = 0;
  wholes_ = 0;
  start_epoch();
  for (LaunchRecord* record : records_) record->uncounted = 0;
}

void LaunchGroup::account(LaunchRecord& record, double time, const Borders& borders) {
  if (record.whole == 0) return;
  excess_ += time - record.whole;
  since_ += time;
  const bool first = record.seen != epoch_;
  if (first) ++kernels_;
  record.seen = epoch_;
  if (first || record.last_borders != borders) {
    record.last_borders = borders;
    return;
  }
  ++steady_;
  // Whole launches count only with the movement that division causes.
  spent_ += borders.empty() ? time - record.whole : time;
  if (!borders.empty()) would_ += record.whole;
  steady_excess_ += time - record.whole;
  judge();
}

bool LaunchGroup::probes() {
  if (probes_ == 0) {
    if (!confirmed_ || probe_after_ == 0 || since_ < probe_after_) return false;
    since_ = 0;
    probe_after_ *= 2;
    probes_ = kProbes * kernels_;
    // The new times count more than the old ones.
    for (LaunchRecord* record : records_) record->measured = std::min(record->measured, 1U);
    // Those after them find the content elsewhere.
    start_epoch();
    confirmed_ = true;
  }
  --probes_;
  return true;
}

void LaunchGroup::charge(std::uint64_t bytes) {
  if (!divided_) return;
  const double time = each_byte_ * static_cast<double>(bytes);
  excess_ += time;
  spent_ += time;
  steady_excess_ += time;
}

void LaunchGroup::borders_changed() {
  if (confirmed_) return;
  spent_ = would_ = 0;
  steady_ = 0;
}

void LaunchGroup::judge() {
  if (!confirmed_) {
    if (steady_excess_ > expected_) return become_whole();
    if (steady_ < std::max(kLeastSteady, kEachSteady * kernels_)) return;
    if (would_ == 0) return;
    if (spent_ > kWorthwhile * would_) return become_whole();
    confirmed_ = true;
    failures_ = 0;
    if (probe_after_ == 0) {
      double probes = 0;
      for (const LaunchRecord* record : records_)
        if (record->seen == epoch_) probes += kProbes * record->whole;
      probe_after_ = kProbing * (2 * expected_ + probes);
    }
    since_ = 0;
    return;
  }
  if (steady_ < kSteadyLaunches) return;
  if (spent_ > kStillWorthwhile * would_) return become_whole();
  steady_ /= 2;
  spent_ /= 2;
  would_ /= 2;
}

}  // namespace clique::icd
