// A short memory of nodes that did not answer, so that not every program waits for a dead node.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "icd/common/node_address.hpp"

namespace clique::icd {

/// The nodes that did not answer a program of this user lately, in a small file. The file is a hint and is
/// not trusted: it can only make this program ask a node more briefly. Several
/// threads may call silent_for() at a time.
class UnreachableNodes {
 public:
  /// How long a node is remembered.
  static constexpr std::chrono::seconds kTime{30};

  /// Reads the file. One that is missing, malformed, too long, not a regular file, or could have been written
  /// by another user counts as empty.
  /// @param file empty: nothing is remembered
  explicit UnreachableNodes(std::string file);

  /// How long ago a program waited for the node in vain; nothing if none did within kTime.
  std::optional<std::chrono::seconds> silent_for(const NodeAddress& node) const;
  /// Notes nodes that did not answer, and nodes that did, for later programs. Writes the file if this changes
  /// it. Does nothing if that is not possible.
  void note(const std::vector<NodeAddress>& silent, const std::vector<NodeAddress>& answered);

 private:
  using Clock = std::chrono::system_clock;
  void write() const;

  const std::string file_;
  std::map<std::string, Clock::time_point> since_;  // by NodeAddress::text()
};

}  // namespace clique::icd
