#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "icd/core/division/movement_meter.hpp"
#include "icd/core/division/shared_borders.hpp"

namespace clique::icd {

/// Sizes of a launch: global and local.
using LaunchSize = std::pair<std::array<std::size_t, 3>, std::array<std::size_t, 3>>;

/// What a launch uses of one memory object.
struct UsedContent {
  const void* object = nullptr;  ///< identifies the object that keeps the content
  /// If the launch were divided, so many bytes would have to move among members, there and back.
  std::uint64_t bytes = 0;
  bool written = false;
};

/// How a launch can be divided.
struct Divisible {
  std::size_t members = 1;             ///< among how many; 1: it cannot be divided
  MovementMeter::Speed movement = {};  ///< of content among them
  std::uint64_t merged = 0;            ///< bytes that it merges each time (Division::merged_bytes)
  unsigned dimension = 0;
};

class LaunchGroup;

/// What is known of the launches of one kernel and one size on one combined device.
struct LaunchRecord {
  LaunchSize size;
  std::shared_ptr<LaunchGroup> group;  ///< see LaunchGroup::of()
  bool listed = false;                 ///< whether the group counts its content
  std::uint64_t last_use = 0;          ///< LaunchGroup::use() of its last launch
  Divisible divisible;
  double whole = 0;             ///< ns on the first member, without what moves before it; 0: not measured yet
  unsigned measured = 0;        ///< of how many launches that is the average
  std::uint64_t decisions = 0;  ///< about launches while the group was whole
  bool look_again = false;      ///< whether the content that launches use is to be counted
  unsigned looks = 0;           ///< at its launches (LaunchGate::looked())
  double look = 0;              ///< ns that such a look takes
  unsigned passed = 0;          ///< launches since the last look
  std::uint64_t uncounted = 0;  ///< launches that were enqueued whole, and which the group has not counted
  std::vector<UsedContent> content;
  std::uint64_t assessed = 0;  ///< LaunchGroup::changes() at the last assess()
  /// How much faster than a whole launch it is if the group is divided, in ns, as far as that can be
  /// predicted; less than 0: slower.
  double saving = 0;
  bool stays_whole = false;                ///< whether it runs whole even if the group is divided
  bool tried = false;                      ///< whether a divided launch has ended
  unsigned seen = 0;                       ///< LaunchGroup::epoch() of the last launch that was accounted for
  Borders last_borders;                    ///< of that launch
  std::shared_ptr<SharedBorders> borders;  ///< null: not known yet
};

/// The kernels of a combined device that use what others of them write, or one by itself. They are divided
/// together: if only some were, content would move to and fro. What counts is the time of all their launches,
/// with the movement before each: whole ones lose what division would save, until that would have paid for
/// moving the content; then divided ones have to be faster than whole ones were. If they are not, launches
/// are whole until the loss is small in comparison. Not thread-safe.
class LaunchGroup {
 public:
  /// What messages between the client and the members of a divided launch take, in ns.
  static constexpr double kFixed = 200'000;
  /// How often content moves only to measure how fast, at most. Before each time, launches have lost as much
  /// as that is assumed to take (MovementMeter::kLeastTime).
  static constexpr unsigned kMostTrials = 4;
  /// Divided launches have to take at most this share of the time of whole ones; the second one once they
  /// have been that fast.
  static constexpr double kWorthwhile = 0.8;
  static constexpr double kStillWorthwhile = 0.9;
  /// After launches that were divided in vain, whole ones take so many times longer than what that cost.
  static constexpr double kPatience = 20;
  static constexpr std::size_t kMostRecords = 64;
  /// After the launches that see how long whole ones take now, divided ones take so many times longer than
  /// these cost.
  static constexpr double kProbing = 40;

  /// The group that `group` has become a part of, which replaces it there.
  static LaunchGroup& of(std::shared_ptr<LaunchGroup>& group);
  /// Makes two groups one.
  static void join(std::shared_ptr<LaunchGroup>& one, std::shared_ptr<LaunchGroup>& other);

  /// The record has a launch. The group counts the content of the last kMostRecords ones, since programs may
  /// launch kernels with ever new sizes.
  void use(LaunchRecord& record);
  /// Notes how fast content moves.
  void note_movement(const MovementMeter::Speed& speed);
  void remove(const LaunchRecord& record);

  bool divided() const { return divided_; }
  /// Changes when the group becomes divided or whole, or larger.
  unsigned epoch() const { return epoch_; }
  /// Changes when something that assess() uses does.
  std::uint64_t changes() const { return changes_; }

  /// Whether division may save time for some launch of the group, whatever has to move. A launch that can be
  /// divided counts until its time is known.
  bool may_gain();
  /// The same for one launch by itself.
  static bool may_gain(const LaunchRecord& record) {
    return may_gain(record.whole, record.divisible.members);
  }
  /// @param whole ns; 0: not known
  static bool may_gain(double whole, std::size_t members);
  /// What may_gain() uses of a record has changed.
  void changed() { ++changes_; }

  /// Predicts what division would save.
  void assess(LaunchRecord& record);
  void set_content(LaunchRecord& record, std::vector<UsedContent> content);
  /// Counts the record's launches that were enqueued whole since.
  void count_wholes(LaunchRecord& record);
  /// Whether whole launches have lost as much as it takes to move the content of all kernels.
  bool should_divide();
  /// Whether some content should move to measure how fast, because division would pay if it was fast enough.
  /// To be called once for each launch that is not divided for that reason.
  bool tries_movement(const LaunchRecord& record);
  void become_divided();

  /// Whether the next launch of a kernel that is divided runs whole, to see how long that takes now. To be
  /// called once for each.
  bool probes();

  /// Notes what a launch of this epoch has taken, in ns, with the movement before it.
  /// @param borders empty: it ran whole
  void account(LaunchRecord& record, double time, const Borders& borders);
  /// Notes that another command of the program had content move to the first member.
  void charge(std::uint64_t bytes);
  /// The borders of some kernel have changed.
  void borders_changed();

  /// Has the record share the borders of others in the group that are divided in the same way.
  void share_borders(LaunchRecord& record);

 private:
  /// What it takes to move the content of all kernels there and back, in ns.
  double movement();
  /// Whether launches would save enough if nothing had to move for them.
  bool would_save() const;
  /// What moves if this launch runs whole while others are divided, in ns.
  double burden(const LaunchRecord& record) const;
  void judge();
  void become_whole();
  void start_epoch();

  std::shared_ptr<LaunchGroup> joined_;  ///< the group that has this one's kernels now
  std::vector<LaunchRecord*> records_;
  std::uint64_t uses_ = 0;
  double moving_ = 0;            ///< bytes of movement()
  std::uint64_t moving_of_ = 0;  ///< changes_ at that time
  double each_byte_ = MovementMeter::kAssumed;
  bool divided_ = false;
  unsigned epoch_ = 1;
  std::uint64_t changes_ = 1;
  bool may_gain_ = false;
  std::uint64_t may_gain_of_ = 0;  ///< changes_ at that time

  // While it is whole:
  double lost_ = 0;   ///< ns that division would have saved since
  double whole_ = 0;  ///< ns of whole launches since
  double owed_ = 0;   ///< ns: until whole_ is as much, nothing is divided
  /// Averages of recent launches, in ns.
  double recent_saving_ = 0;
  double recent_whole_ = 0;
  std::uint64_t wholes_ = 0;  ///< launches since
  unsigned trials_ = 0;       ///< of movement

  // While it is divided:
  double expected_ = 0;  ///< ns that moving the content was expected to take
  double excess_ = 0;    ///< ns that all launches took longer than whole ones
  /// Launches which did not move content that those after them find in place: their time, that of whole ones,
  /// and how much longer they took in all.
  double spent_ = 0;
  double would_ = 0;
  double steady_excess_ = 0;
  unsigned steady_ = 0;     ///< how many of them there were
  unsigned kernels_ = 0;    ///< how many kernels have been launched
  bool confirmed_ = false;  ///< whether they were fast enough
  unsigned failures_ = 0;   ///< how often they were not, since they were the last time
  double since_ = 0;        ///< ns of launches since the last probes
  double probe_after_ = 0;  ///< ns; 0: not known yet
  unsigned probes_ = 0;     ///< launches that still are to run whole
};

}  // namespace clique::icd
