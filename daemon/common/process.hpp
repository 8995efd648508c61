#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "daemon/common/control.hpp"

namespace clique::daemon {

/// A process of this program's own, connected by a control channel, that dies with its owner at the latest.
class ChildProcess {
 public:
  /// Starts `cliqued <arguments> --control-fd N` in a process group of its own, with an environment in which
  /// OpenCL's loader finds the node's drivers but not Clique. Throws std::system_error.
  static ChildProcess start(std::vector<std::string> arguments);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  /// Kills it if it still runs.
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  const ControlChannel& control() const { return control_; }

  /// Whether it has ended, and how, as stop() says. Does not wait.
  std::optional<std::string> ended();
  void kill() const;
  /// Ends the process for good and waits for it. @returns how it ended, for logs; empty for exit status 0.
  std::string stop();

 private:
  /// @param flags of waitpid. @returns how it ended; nothing: it has not.
  std::optional<std::string> wait(int flags);

  ChildProcess(pid_t pid, ControlChannel control) : pid_(pid), control_(std::move(control)) {}

  pid_t pid_ = -1;
  ControlChannel control_;
};

/// To be called first in a child: it is to die with its parent, even where it does not look at the channel.
void die_with_parent();

/// Has the drivers of processes started from now on keep what they compile in a folder of this daemon's own,
/// unless the environment names one: drivers' caches do not stand writers from several hosts that share a
/// home, or several daemons of one host, at the same time.
void separate_compiler_cache(const std::string& daemon);

/// Has this process's drivers keep what they compile elsewhere, in memory if need be, where the disk that it
/// would go to is full: PoCL compiles into files, and does not survive that they cannot be written. To be
/// called before a driver is loaded.
void find_room_for_compilers();

/// What the node's drivers offer, looked up by a process of its own, so that a driver that crashes does not
/// crash the caller. Throws std::runtime_error with a reason.
/// @param nvidia see parse_nvidia_driver
/// @param owner a control channel whose end of file gives the matter up; -1: none.
std::vector<ListedPlatform> probe_platforms(const std::string& nvidia, int owner = -1);

/// The child's next packet, for which it has a minute. Throws std::runtime_error where it ends, takes too
/// long, or `owner` (see probe_platforms) has come to its end.
std::vector<std::byte> receive_from(ChildProcess& child, int owner = -1);

}  // namespace clique::daemon
