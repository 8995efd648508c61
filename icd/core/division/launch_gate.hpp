#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "icd/core/division/launch_group.hpp"

namespace clique::icd {

/// Whether a launch is divided.
struct GateDecision {
  bool divided = false;
  /// The group's, for LaunchGate::measured(). 0: the gate was not asked.
  unsigned epoch = 0;
  /// Whether the gate wants to know how long it takes.
  bool measured = true;
  /// Whether some content should move to measure how fast it does.
  bool tries_movement = false;
  /// Whether launches may be divided later: a time is known, and division may save some of it.
  bool hopeful = false;
};

/// Whether the gate is asked about a launch.
enum class Look {
  Needed,
  /// Not now: it runs whole, as others of its size did.
  Spared,
  /// Not now: larger launches of the kernel are too short to gain from division.
  SparedAsTooShort,
};

/// Decides whether launches of one kernel on one combined device are divided, and where, from how long
/// earlier ones took, of this kernel and of those to which it passes content (LaunchGroup). The first ones
/// are enqueued whole, until division would have saved the time that its first use takes to move content:
/// should later launches have other content, no more than that is lost. Any thread.
class LaunchGate {
 public:
  /// A memory object that a launch uses.
  struct Use {
    /// The group of the kernels that have written it; null: none has. Guarded by the gate.
    std::shared_ptr<LaunchGroup>* writers;
    bool writes;
  };

  LaunchGate() = default;
  ~LaunchGate();
  LaunchGate(const LaunchGate&) = delete;
  LaunchGate& operator=(const LaunchGate&) = delete;

  /// Whether a launch runs whole without a look at what it uses and how it can be divided, that is without
  /// uses(), decide() and measured(): because it is too short to gain from division, or short compared to the
  /// time of a look. To be called first, once for each launch. Now and then a look is needed, so that the
  /// gate notices when launches have changed.
  Look look(const LaunchSize& size);
  /// Notes how long a look at a launch took that is not divided, in ns: uses(), decide(), and the rest of
  /// what happens between look() and the launch.
  void looked(const LaunchSize& size, std::uint64_t time);

  /// Notes what a launch uses. To be called before decide().
  void uses(const LaunchSize& size, std::span<const Use> uses);
  /// Whether a launch may gain from division, whatever it accesses: the time of others of its size is known,
  /// and division may save some of it, or of that of the launches to which it passes content. If not, how it
  /// can be divided does not matter. To be called after uses().
  bool may_gain(const LaunchSize& size, std::size_t members);
  /// Decides about a launch.
  /// @param content() tells what it uses of which memory objects, as UsedContent; called if that matters,
  /// which is rare
  template <typename Content>
  GateDecision decide(const LaunchSize& size, const Divisible& divisible, Content&& content) {
    std::unique_lock lock(mutex_);
    LaunchRecord& record = record_of(size);
    if (GateDecision decision; decide_at_once(record, divisible, decision)) return decision;
    // Others hold the lock of coherence when they ask for that of the gate.
    const auto look = [&] {
      lock.unlock();
      std::vector<UsedContent> used = content();
      lock.lock();
      LaunchGroup::of(record.group).set_content(record, std::move(used));
    };
    if (record.look_again) look();
    if (!may_divide(record)) return not_yet(record);
    // What moves may have changed since it was counted.
    look();
    return may_divide(record) ? divided(record) : not_yet(record);
  }

  /// Notes how long a launch has taken that ran whole, in ns.
  /// @param time without the movement of content before it
  /// @param all with that
  void measured(const LaunchSize& size, GateDecision decision, std::uint64_t time, std::uint64_t all);
  /// Notes how long a divided launch has taken with the movement before it, and its parts, in ns.
  /// @param unit of the borders
  void measured(const LaunchSize& size, GateDecision decision, std::uint64_t all, const Borders& borders,
                std::uint64_t unit, std::span<const std::uint64_t> parts);
  /// Notes that a command which is no launch had content move to the first member.
  /// @param writers of the content
  static void charge(std::shared_ptr<LaunchGroup>& writers, std::uint64_t bytes);

  /// Where launches should be divided. Empty: into equal parts.
  Borders borders(const LaunchSize& size) const;
  /// Changes when borders() does.
  std::uint64_t version(const LaunchSize& size) const;

 private:
  LaunchRecord& record_of(const LaunchSize& size);
  /// After how many launches without a look the next one gets one.
  static unsigned pause(LaunchRecord& record);
  // The steps of decide().

  /// Decides about a launch of a divided group, or one of which nothing has been measured.
  /// @returns whether that was possible; otherwise LaunchRecord::look_again says whether to look at the
  /// content
  static bool decide_at_once(LaunchRecord& record, const Divisible& divisible, GateDecision& decision);
  /// Whether the group should be divided, with this launch.
  static bool may_divide(LaunchRecord& record);
  static GateDecision divided(LaunchRecord& record);
  static GateDecision whole(LaunchRecord& record);
  static GateDecision not_yet(LaunchRecord& record);

  /// One for all gates, since the kernels of a group have different ones.
  static std::mutex mutex_;
  std::map<LaunchSize, LaunchRecord> records_;
  /// The record with the most work-items of those whose launches are too short to be divided. May be null.
  LaunchRecord* brief_ = nullptr;
  unsigned passed_by_size_ = 0;  ///< launches of other sizes that were no larger, since the last look at one
};

/// The gates of one kernel, for each combined device. All kernel objects share them, because many programs
/// create one for each launch. Any thread.
class LaunchGates {
 public:
  /// @param device names the device
  std::shared_ptr<LaunchGate> of(const void* device);

 private:
  std::mutex mutex_;
  std::map<const void*, std::shared_ptr<LaunchGate>> gates_;
};

}  // namespace clique::icd
