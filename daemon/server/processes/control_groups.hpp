// Control groups (version 2) for the processes of sessions, so that the kernel shares processors fairly
// between sessions and limits what each can take of the host. They need a group that the service
// manager has delegated to the daemon, as systemd does with Delegate=.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

namespace clique::daemon {

class ControlGroups;

/// The control group of one process and its descendants. One thread.
class ControlGroup {
 public:
  /// No group.
  ControlGroup() = default;
  ControlGroup(ControlGroup&& other) noexcept;
  ControlGroup& operator=(ControlGroup&& other) noexcept;
  ControlGroup(const ControlGroup&) = delete;
  ControlGroup& operator=(const ControlGroup&) = delete;
  /// Kills the processes in the group and removes it.
  ~ControlGroup();

  /// Moves a process into the group, if there is one. Throws std::system_error.
  void add(pid_t process) const;

 private:
  friend class ControlGroups;
  ControlGroup(ControlGroups* all, std::filesystem::path path) : all_(all), path_(std::move(path)) {}

  ControlGroups* all_ = nullptr;  ///< null: no group
  std::filesystem::path path_;
};

/// The daemon's own group, below which it makes others. One thread. Outlives the groups that it makes.
class ControlGroups {
 public:
  /// Moves the daemon into a group `daemon` below its own one, so that it may make others there, and removes
  /// groups that an earlier daemon left. If that is not possible, missing() says why, and create() makes no
  /// groups.
  ControlGroups();
  ~ControlGroups();
  ControlGroups(const ControlGroups&) = delete;
  ControlGroups& operator=(const ControlGroups&) = delete;

  /// Why sessions get no groups; empty if they do.
  const std::string& missing() const { return missing_; }
  /// A description of the limits and shares of the groups, for logs.
  std::string description() const;

  /// Makes a group, in which at most kProcesses processes and threads can run.
  /// @param memory the limit on its memory in bytes; beyond it the kernel kills the group. 0: none
  /// @returns no group if there are to be none. Throws std::system_error.
  ControlGroup create(std::uint64_t memory);

  /// Enough for the threads of PoCL on a large host, and for compilers.
  static constexpr unsigned kProcesses = 4096;

 private:
  friend class ControlGroup;
  /// Kills what is in a group, and removes it now or later.
  void remove(std::filesystem::path path);
  /// Removes groups that had processes in them when they were to be removed.
  void remove_emptied();

  std::filesystem::path path_;  ///< of the daemon's own group; empty: sessions get no groups
  std::string missing_;
  std::vector<std::string> controllers_;         ///< those that the kernel applies to the groups
  std::vector<std::filesystem::path> removing_;  ///< groups whose processes have not ended yet
  std::uint64_t last_ = 0;                       ///< number of the last group
};

}  // namespace clique::daemon
