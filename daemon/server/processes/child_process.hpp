#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "daemon/common/control.hpp"
#include "daemon/server/configuration/nvidia_driver.hpp"
#include "daemon/server/processes/control_groups.hpp"
#include "daemon/server/processes/session_folder.hpp"
#include "daemon/worker/options.hpp"

namespace clique::daemon {

/// A child process that runs this program, with a control channel. The destructor kills it if it still runs.
class ChildProcess {
 public:
  // Each of these starts `cliqued PROCESS --control-fd N OPTIONS` in a process group of its own, with an
  // environment in which the OpenCL loader finds the node's drivers but not Clique, and with the namespaces
  // and the folder that its walls need (daemon/confinement). They throw std::system_error, and
  // std::invalid_argument if CLIQUE_CONFINEMENT is invalid.

  /// `cliqued worker`. Sets the options about walls itself.
  /// @param group that the process and its descendants run in
  /// @param errors becomes its standard error; -1: it has that of the caller
  static ChildProcess start_worker(WorkerOptions options, ControlGroup group = {}, int errors = -1);
  /// `cliqued probe`.
  /// @param folders see SessionOptions::folders
  static ChildProcess start_probe(NvidiaDriver nvidia, const std::string& folders);
  /// `cliqued trial`.
  static ChildProcess start_trial();

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  /// Kills it if it still runs.
  ~ChildProcess();

  /// See SessionFolder. Call this before the client learns of this process.
  void use_programs_of(const std::string& owner) { folder_.use_programs_of(owner); }

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

  struct Launch;
  static ChildProcess start(Launch launch);

  ChildProcess(pid_t pid, ControlChannel control, SessionFolder folder, ControlGroup group)
      : pid_(pid), control_(std::move(control)), folder_(std::move(folder)), group_(std::move(group)) {}

  pid_t pid_ = -1;
  ControlChannel control_;
  SessionFolder folder_;  ///< removed when the process has ended
  ControlGroup group_;    ///< likewise
};

/// Waits up to a minute for the child's next packet. Throws std::runtime_error when the child exits, takes
/// longer, or `owner` reaches its end of file.
/// @param owner a control channel whose end of file cancels the wait; -1: none
std::vector<std::byte> receive_from(ChildProcess& child, int owner = -1);

/// The node's drivers and devices. A process of its own loads the drivers, so that one that crashes does not
/// crash the caller. Throws std::runtime_error with the reason.
/// @param folders see SessionOptions::folders
/// @param owner see receive_from()
std::vector<ListedPlatform> probe_platforms(NvidiaDriver nvidia, const std::string& folders, int owner = -1);

}  // namespace clique::daemon
