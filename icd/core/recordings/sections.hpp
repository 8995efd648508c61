#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace clique::icd {

/// Divides the commands of a command buffer into sections: commands of one queue that run as one. A section
/// begins as soon as all commands of other sections that its commands follow have ended, so a command that
/// follows others of another queue begins a new one. With one queue there is one section.
class Sections {
 public:
  /// Numbers of commands, from 0, in ascending order.
  using Commands = std::vector<std::uint64_t>;

  struct Section {
    std::size_t queue = 0;
    Commands commands = {};
    std::vector<std::size_t> after = {};  ///< the sections that it follows, in ascending order
  };

  /// @param queues their number
  explicit Sections(std::size_t queues) : open_(queues) {}

  /// Adds the next command. @returns the position of its section
  std::size_t add(std::size_t queue, const Commands& before);

  /// Each section follows earlier ones only.
  const std::vector<Section>& all() const { return sections_; }
  std::size_t section_of(std::size_t command) const { return section_of_[command]; }
  /// The command's number within its section.
  std::uint64_t number_in_section(std::size_t command) const { return number_[command]; }
  /// Of the commands that a command follows, those in its own section, by their numbers there.
  Commands within_section(std::size_t command, const Commands& before) const;

 private:
  std::vector<Section> sections_;
  std::vector<std::optional<std::size_t>> open_;  ///< of each queue, the section that takes further commands
  std::vector<std::size_t> section_of_;           ///< of each command
  std::vector<std::uint64_t> number_;             ///< of each command, within its section
};

}  // namespace clique::icd
