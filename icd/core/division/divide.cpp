#include "icd/core/division/divide.hpp"

#include <algorithm>
#include <utility>

#include "icd/core/division/check_footprint.hpp"

namespace clique::icd {

namespace {

using protocol::AtomicChange;
using protocol::Footprint;
using protocol::FootprintAccess;

/// Content that is written in more separate ranges takes longer to keep track of than division saves.
constexpr std::size_t kMostWrittenRanges = 256;

/// Bytes of the copies that the first member merges, which it has to have room for.
constexpr std::uint64_t kMostCopied = std::uint64_t{256} << 20U;

/// The driver chooses work-groups itself: parts begin at multiples of so many work-items, if there are
/// enough, so that it can choose the same ones.
constexpr std::uint64_t kUnit = 64;

std::string at_line(std::uint32_t line) {
  return line == 0 ? std::string() : " (line " + std::to_string(line) + ")";
}

/// The number of which borders should be multiples.
std::uint64_t unit_of(std::uint64_t groups, bool has_groups, std::size_t parts) {
  std::uint64_t unit = has_groups ? 1 : kUnit;
  while (unit > 1 && groups / unit < 4 * parts) unit /= 2;
  return unit;
}

/// Why a launch cannot be divided along its dimensions.
class Obstacles {
 public:
  void clear() { found_.clear(); }
  void add(unsigned dimension, const std::string& why) {
    const auto same =
        std::find_if(found_.begin(), found_.end(), [&](const Obstacle& one) { return one.why == why; });
    if (same == found_.end())
      found_.push_back({std::to_string(dimension), why});
    else
      same->dimensions += (std::exchange(same->several, true) ? ", " : " and ") + std::to_string(dimension);
  }
  std::string text() const {
    std::string text;
    for (const Obstacle& one : found_)
      text += (text.empty() ? "along " : "; along ") +
              (one.several ? "dimensions " + one.dimensions : "dimension " + one.dimensions) + ", " + one.why;
    return text.empty() ? "it has too few work-groups" : text;
  }

 private:
  struct Obstacle {
    std::string dimensions;
    std::string why;
    bool several = false;
  };
  std::vector<Obstacle> found_;
};

class Divider {
 public:
  explicit Divider(const DivisibleLaunch& launch) : launch_(launch) {}

  /// Whether there are atomic operations whose results might be merged.
  bool has_changes() const {
    const auto& accesses = launch_.footprint.accesses;
    return std::any_of(accesses.begin(), accesses.end(), is_change);
  }

  /// @param merges whether buffers may be merged
  Division along(unsigned dimension, std::size_t members, const Borders& balanced, bool merges) {
    const std::uint64_t groups = launch_.space.groups(dimension);
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(members, groups));
    Division division{dimension, unit_of(groups, launch_.has_groups, count), {}, {}};
    const bool fits = balanced.size() == count + 1 && balanced.back() == groups;
    const Borders equal = equal_borders(groups, division.unit, count);
    division.parts = parts(dimension, fits ? balanced : equal);
    if (fits && !have_room(division.parts)) division.parts = parts(dimension, equal);
    if (merges) merge(division);
    if (division.merged_bytes() > kMostCopied)
      return refused(dimension, "copies of more than " + std::to_string(kMostCopied >> 20U) +
                                    " MiB would be merged after atomic operations" + line_of_writes());
    for (const DividedPart& part : division.parts)
      for (const RangeSet& writes : part.writes)
        if (writes.ranges().size() > kMostWrittenRanges)
          return refused(dimension, "the parts would write many separate ranges" + line_of_writes());
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = 0; j < count; ++j)
        if (i != j)
          if (std::string conflict = this->conflict(division.parts[i], division.parts[j]); !conflict.empty())
            return refused(dimension, conflict);
    return division;
  }

  static Division refused(unsigned dimension, std::string why) { return {dimension, 1, {}, std::move(why)}; }

 private:
  GroupBox all_groups() const {
    GroupBox groups;
    for (unsigned d = 0; d < 3; ++d) groups.end[d] = launch_.space.groups(d);
    return groups;
  }

  DividedPart part(unsigned dimension, std::uint64_t begin, std::uint64_t end) const {
    GroupBox groups = all_groups();
    groups.begin[dimension] = begin;
    groups.end[dimension] = end;
    DividedPart part{begin, end, {}, {}};
    part.reads.resize(launch_.buffers.size());
    part.writes.resize(launch_.buffers.size());
    for (std::size_t i = 0; i < launch_.buffers.size(); ++i) {
      const UsedBuffer& buffer = launch_.buffers[i];
      for (const FootprintAccess& access : launch_.footprint.accesses) {
        if (access.argument != buffer.argument) continue;
        const RangeSet bytes = bytes_of(launch_.footprint, access, launch_.scalars, launch_.space, groups,
                                        {buffer.size, buffer.image});
        // Bytes that may be written, and are not, keep their old content.
        part.reads[i].add(bytes);
        if (access.writes) part.writes[i].add(bytes);
      }
    }
    return part;
  }

  std::vector<DividedPart> parts(unsigned dimension, const Borders& borders) const {
    std::vector<DividedPart> parts;
    for (std::size_t i = 0; i + 1 < borders.size(); ++i)
      parts.push_back(part(dimension, borders[i], borders[i + 1]));
    return parts;
  }

  /// Whether each member has room for what its part uses of sparse buffers.
  bool have_room(const std::vector<DividedPart>& parts) const {
    return std::all_of(parts.begin(), parts.end(), [this](const DividedPart& part) {
      std::uint64_t bytes = 0;
      for (std::size_t i = 0; i < launch_.buffers.size(); ++i)
        if (launch_.buffers[i].sparse) bytes += part.reads[i].bytes();
      return bytes <= launch_.room;
    });
  }

  static bool is_change(const FootprintAccess& access) { return access.change != AtomicChange::None; }

  /// The atomic operations on a buffer, by kind. Empty if there are other accesses to it, or if the bytes of
  /// two kinds are not apart.
  std::vector<MergedChange> changes_of(const UsedBuffer& buffer) const {
    std::vector<std::pair<MergedChange, RangeSet>> kinds;
    for (const FootprintAccess& access : launch_.footprint.accesses) {
      if (access.argument != buffer.argument) continue;
      if (!is_change(access)) return {};
      auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const auto& each) {
        return each.first.change == access.change && each.first.width == access.size;
      });
      if (kind == kinds.end()) kind = kinds.insert(kind, {{access.change, access.size, 0, 0}, {}});
      kind->second.add(bytes_of(launch_.footprint, access, launch_.scalars, launch_.space, all_groups(),
                                {buffer.size, buffer.image}));
    }
    std::vector<MergedChange> changes;
    RangeSet before;
    for (auto& [change, bytes] : kinds) {
      if (bytes.empty()) continue;
      // Programs must align what they change atomically.
      const std::uint64_t most = buffer.size / change.width * change.width;
      change.begin = bytes.ranges().front().begin / change.width * change.width;
      change.end =
          std::min(most, (bytes.ranges().back().end + change.width - 1) / change.width * change.width);
      RangeSet all;
      all.add(change.begin, change.end);
      if (all.empty() || all.intersects(before)) return {};
      before.add(all);
      changes.push_back(change);
    }
    return changes;
  }

  /// Whether another argument has bytes of the same object: a copy would not be seen through it.
  bool has_alias(const UsedBuffer& buffer) const {
    return std::any_of(launch_.buffers.begin(), launch_.buffers.end(), [&](const UsedBuffer& other) {
      return &other != &buffer && other.object == buffer.object && other.begin < buffer.begin + buffer.size &&
             buffer.begin < other.begin + other.size;
    });
  }

  static bool is_written_by_several(const std::vector<DividedPart>& parts, std::size_t buffer) {
    RangeSet before;
    for (const DividedPart& part : parts) {
      if (part.writes[buffer].intersects(before)) return true;
      before.add(part.writes[buffer]);
    }
    return false;
  }

  /// Has the parts but the first one change copies of the buffers for which that is necessary and possible.
  void merge(Division& division) const {
    for (std::size_t i = 0; i < launch_.buffers.size(); ++i) {
      const UsedBuffer& buffer = launch_.buffers[i];
      if (buffer.image || has_alias(buffer) || !is_written_by_several(division.parts, i)) continue;
      std::vector<MergedChange> changes = changes_of(buffer);
      if (changes.empty()) continue;
      division.merged.push_back({i, buffer.argument, std::move(changes)});
      for (std::size_t j = 1; j < division.parts.size(); ++j)
        division.parts[j].reads[i] = division.parts[j].writes[i] = {};
    }
  }

  /// Why a buffer that is changed by atomic operations is not merged; empty: it is not changed so.
  std::string obstacle_to_merging(const UsedBuffer& buffer) const {
    for (const FootprintAccess& access : launch_.footprint.accesses) {
      if (access.argument != buffer.argument || !is_change(access)) continue;
      return "atomic operations on argument " + std::to_string(access.argument) + at_line(access.line) +
             " cannot be merged, because " +
             (has_alias(buffer) ? "another argument has the same bytes"
                                : "there are accesses of other kinds to it");
    }
    return {};
  }

  /// Why two parts must not run on different devices; empty: they may.
  std::string conflict(const DividedPart& one, const DividedPart& other) const {
    for (std::size_t i = 0; i < launch_.buffers.size(); ++i) {
      if (one.writes[i].empty()) continue;
      for (std::size_t j = 0; j < launch_.buffers.size(); ++j) {
        if (launch_.buffers[i].object != launch_.buffers[j].object) continue;
        const RangeSet written = shifted(one.writes[i], launch_.buffers[i].begin);
        const std::string where =
            " argument " + std::to_string(launch_.buffers[i].argument) + line_of(launch_.buffers[i].argument);
        // reads[] contains writes[], so this also finds bytes that both parts write.
        if (!written.intersects(shifted(other.reads[j], launch_.buffers[j].begin))) continue;
        const bool both = written.intersects(shifted(other.writes[j], launch_.buffers[j].begin));
        if (std::string obstacle = obstacle_to_merging(launch_.buffers[i]); !obstacle.empty())
          return obstacle;
        if (const FootprintAccess* access = write_by_data(launch_.buffers[i].argument))
          return "the place of a write to argument " + std::to_string(access->argument) + " depends on data" +
                 at_line(access->line);
        return (both ? "several parts may write the same bytes of" : "parts may read what others write of") +
               where;
      }
    }
    return {};
  }

  /// A write whose place depends on data; null if there is none.
  const FootprintAccess* write_by_data(std::size_t argument) const {
    for (const FootprintAccess& access : launch_.footprint.accesses)
      if (access.argument == argument && access.writes && depends_on_data(access)) return &access;
    return nullptr;
  }

  bool depends_on_data(const FootprintAccess& access) const {
    const auto from_data = [this](std::uint32_t number) {
      return icd::depends_on_data(launch_.footprint, number);
    };
    if (access.coordinates.empty()) return from_data(access.offset);
    return std::any_of(access.coordinates.begin(), access.coordinates.end(), from_data);
  }

  static RangeSet shifted(const RangeSet& ranges, std::uint64_t by) {
    RangeSet result;
    for (const RangeSet::Range& range : ranges.ranges()) result.add(range.begin + by, range.end + by);
    return result;
  }

  std::string line_of(std::size_t argument) const {
    for (const FootprintAccess& access : launch_.footprint.accesses)
      if (access.argument == argument && access.writes) return at_line(access.line);
    return {};
  }
  std::string line_of_writes() const {
    for (const FootprintAccess& access : launch_.footprint.accesses)
      if (access.writes) return at_line(access.line);
    return {};
  }

  const DivisibleLaunch& launch_;
};

}  // namespace

std::uint64_t MergedBuffer::end() const {
  std::uint64_t last = 0;
  for (const MergedChange& each : changes) last = std::max(last, each.end);
  return last;
}

Borders Division::borders() const {
  Borders borders;
  for (const DividedPart& part : parts) borders.push_back(part.begin);
  if (!parts.empty()) borders.push_back(parts.back().end);
  return borders;
}

std::uint64_t Division::merged_bytes() const {
  std::uint64_t bytes = 0;
  for (const MergedBuffer& buffer : merged)
    for (const MergedChange& each : buffer.changes) bytes += each.size() * (parts.size() - 1);
  return bytes;
}

Division divide(const DivisibleLaunch& launch, std::size_t members, const Borders& balanced) {
  const Footprint& footprint = launch.footprint;
  if (!footprint.obstacle.empty()) return {0, 1, {}, footprint.obstacle + at_line(footprint.line)};
  if (footprint.uses_groups && !launch.has_groups)
    return {
        0, 1, {}, "the kernel depends on its work-groups, and the launch does not say how large they are"};
  for (unsigned d = 0; d < launch.space.dimensions; ++d)
    if ((footprint.group_id_dimensions >> d & 1U) != 0 && launch.space.offset[d] != 0)
      return {0, 1, {}, "the kernel asks for the ids of work-groups, and the launch has a global offset"};
  Obstacles obstacles;
  Divider divider(launch);
  for (const bool merges : {false, true}) {
    if (merges && !divider.has_changes()) break;
    obstacles.clear();
    for (unsigned dimension = launch.space.dimensions; dimension-- > 0;) {
      if (launch.space.groups(dimension) < std::min<std::size_t>(members, 2)) continue;
      const bool whole = members > 1 && (footprint.whole_dimensions >> dimension & 1U) != 0;
      Division division =
          whole ? divider.refused(dimension, "the kernel asks for ids or sizes of the whole range" +
                                                 at_line(footprint.whole_line))
                : divider.along(dimension, members, balanced, merges);
      if (!division.parts.empty()) return division;
      obstacles.add(dimension, division.reason);
    }
  }
  return {0, 1, {}, obstacles.text()};
}

}  // namespace clique::icd
