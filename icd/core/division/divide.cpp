#include "icd/core/division/divide.hpp"

#include <algorithm>

namespace clique::icd {

namespace {

using protocol::Footprint;
using protocol::FootprintAccess;

/// Content that is written in more separate ranges takes longer to keep track of than division saves.
constexpr std::size_t kMostWrittenRanges = 256;

/// The driver chooses work-groups itself: parts begin at multiples of so many work-items, if there are
/// enough, so that it can choose the same ones.
constexpr std::uint64_t kUnit = 64;

std::string at_line(std::uint32_t line) {
  return line == 0 ? std::string() : " (line " + std::to_string(line) + ")";
}

/// What borders should be multiples of.
std::uint64_t unit_of(std::uint64_t groups, bool has_groups, std::size_t parts) {
  std::uint64_t unit = has_groups ? 1 : kUnit;
  while (unit > 1 && groups / unit < 4 * parts) unit /= 2;
  return unit;
}

class Divider {
 public:
  explicit Divider(const DivisibleLaunch& launch) : launch_(launch) {}

  Division along(unsigned dimension, std::size_t members, const Borders& balanced) {
    const std::uint64_t groups = launch_.space.groups(dimension);
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(members, groups));
    Division division{dimension, unit_of(groups, launch_.has_groups, count), {}, {}};
    const bool fits = balanced.size() == count + 1 && balanced.back() == groups;
    const Borders borders = fits ? balanced : equal_borders(groups, division.unit, count);
    for (std::size_t i = 0; i < count; ++i) {
      division.parts.push_back(part(dimension, borders[i], borders[i + 1]));
      for (const RangeSet& writes : division.parts.back().writes)
        if (writes.ranges().size() > kMostWrittenRanges)
          return refused(dimension, "the parts would write many separate ranges" + line_of_writes());
    }
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = 0; j < count; ++j)
        if (i != j)
          if (std::string conflict = this->conflict(division.parts[i], division.parts[j]); !conflict.empty())
            return refused(dimension, conflict);
    return division;
  }

  Division refused(unsigned dimension, const std::string& why) const {
    return {dimension, 1, {}, "along dimension " + std::to_string(dimension) + ", " + why};
  }

 private:
  DividedPart part(unsigned dimension, std::uint64_t begin, std::uint64_t end) const {
    GroupBox groups;
    for (unsigned d = 0; d < 3; ++d) groups.end[d] = launch_.space.groups(d);
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
        // What may be written keeps its old content where it is not written.
        part.reads[i].add(bytes);
        if (access.writes) part.writes[i].add(bytes);
      }
    }
    return part;
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
        // What may be written is also read, so this is about what both write, too.
        if (!written.intersects(shifted(other.reads[j], launch_.buffers[j].begin))) continue;
        const bool both = written.intersects(shifted(other.writes[j], launch_.buffers[j].begin));
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

Borders Division::borders() const {
  Borders borders;
  for (const DividedPart& part : parts) borders.push_back(part.begin);
  if (!parts.empty()) borders.push_back(parts.back().end);
  return borders;
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
  Division last{0, 1, {}, "it has too few work-groups"};
  Divider divider(launch);
  for (unsigned dimension = launch.space.dimensions; dimension-- > 0;) {
    if (launch.space.groups(dimension) < 2) continue;
    if ((footprint.whole_dimensions >> dimension & 1U) != 0) {
      last = divider.refused(
          dimension, "the kernel asks for ids or sizes of the whole range" + at_line(footprint.whole_line));
      continue;
    }
    last = divider.along(dimension, members, balanced);
    if (!last.parts.empty()) return last;
  }
  return last;
}

}  // namespace clique::icd
