#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "daemon/common/control.hpp"
#include "daemon/server/nvidia_driver.hpp"

namespace clique::daemon {

/// A process of this program that has a control channel to the process that started it. It is killed with
/// this object at the latest.
class ChildProcess {
 public:
  /// Starts `cliqued PROCESS --control-fd N ARGUMENTS` in a process group of its own, with an environment in
  /// which the OpenCL loader finds the node's drivers but not Clique. Throws std::system_error.
  static ChildProcess start(const std::string& process, const std::vector<std::string>& arguments);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  /// Kills it if it still runs.
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  const ControlChannel& control() const { return control_; }

  /// How the process exited, as stop() says it; nothing while it runs. Does not wait.
  std::optional<std::string> ended();
  void kill() const;
  /// Kills the process if it still runs, and waits until it is gone.
  /// @returns how it exited, for logs: a signal's name or an exit status; empty for exit status 0
  std::string stop();

 private:
  /// @param flags of waitpid
  /// @returns how it exited; nothing while it runs
  std::optional<std::string> wait(int flags);

  ChildProcess(pid_t pid, ControlChannel control) : pid_(pid), control_(std::move(control)) {}

  pid_t pid_ = -1;
  ControlChannel control_;
};

/// Waits up to a minute for the child's next packet. Throws std::runtime_error when the child exits, takes
/// longer, or `owner` reaches its end of file.
/// @param owner a control channel whose end of file cancels the wait; -1: none
std::vector<std::byte> receive_from(ChildProcess& child, int owner = -1);

/// The node's drivers and devices. A process of its own loads the drivers, so that one that crashes does not
/// crash the caller. Throws std::runtime_error with the reason.
/// @param owner see receive_from()
std::vector<ListedPlatform> probe_platforms(NvidiaDriver nvidia, int owner = -1);

}  // namespace clique::daemon
