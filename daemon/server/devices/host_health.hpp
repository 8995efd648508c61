#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "daemon/confinement/confine.hpp"
#include "protocol/messages/status.hpp"

namespace clique::daemon {

/// What this host has and lacks, for people who look at the node. It looks at disks in a thread of its own,
/// because one that a network brings may not answer, and asks the compiler there for its release. One thread.
class HostHealth {
 public:
  /// @param known what does not change while the daemon runs: walls, and where the compiler is
  /// @param cache_folder in which drivers keep what they compile; empty: they have none
  HostHealth(protocol::NodeHealth known, const std::string& cache_folder);

  /// Begins to look at the disks and the compiler, unless that is under way or has just been done. Does not
  /// wait.
  void ask();
  bool asking() const;
  protocol::NodeHealth reading() const;

 private:
  struct State;
  const std::shared_ptr<State> state_;  // shared with the thread, which may outlive this
  std::chrono::steady_clock::time_point asked_;
};

/// The walls of sessions, as a client is told of them.
/// @param missing those that the host lacks
void note_walls(protocol::NodeHealth& health, confinement::Mode mode,
                const confinement::MissingWalls& missing);

/// Notes where clique-compiler is, or why there is none. HostHealth asks it for its release.
void note_compiler(protocol::NodeHealth& health);

}  // namespace clique::daemon
