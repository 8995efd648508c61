#include "icd/core/recordings/sections.hpp"

#include <algorithm>
#include <iterator>

namespace clique::icd {

std::size_t Sections::add(std::size_t queue, const Commands& before) {
  std::vector<std::size_t> followed;
  for (const std::uint64_t command : before) followed.push_back(section_of_[command]);
  std::sort(followed.begin(), followed.end());
  followed.erase(std::unique(followed.begin(), followed.end()), followed.end());

  std::optional<std::size_t>& open = open_[queue];
  if (open) {
    const auto& after = sections_[*open].after;
    const bool waits_for_others = std::any_of(followed.begin(), followed.end(), [&](std::size_t section) {
      return sections_[section].queue != queue && !std::binary_search(after.begin(), after.end(), section);
    });
    if (waits_for_others) open.reset();
  }
  // A section that others follow takes no further commands, so that they wait for no more than necessary.
  for (const std::size_t section : followed)
    if (sections_[section].queue != queue && open_[sections_[section].queue] == section)
      open_[sections_[section].queue].reset();

  if (!open) {
    open = sections_.size();
    sections_.push_back({queue});
  }
  Section& section = sections_[*open];
  std::erase(followed, *open);
  std::vector<std::size_t> after;
  std::set_union(section.after.begin(), section.after.end(), followed.begin(), followed.end(),
                 std::back_inserter(after));
  section.after = std::move(after);
  section_of_.push_back(*open);
  number_.push_back(section.commands.size());
  section.commands.push_back(section_of_.size() - 1);
  return *open;
}

Sections::Commands Sections::within_section(std::size_t command, const Commands& before) const {
  Commands numbers;
  for (const std::uint64_t earlier : before)
    if (section_of_[earlier] == section_of_[command]) numbers.push_back(number_[earlier]);
  return numbers;
}

}  // namespace clique::icd
