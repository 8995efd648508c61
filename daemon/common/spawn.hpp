#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace clique::daemon {

/// The file descriptor that a process started by spawn() has of the connection to its parent.
inline constexpr int kChildFd = 3;

/// A process to start.
struct NewProcess {
  std::string program;                   ///< path of the executable
  std::vector<std::string> arguments;    ///< including the program's own name
  std::vector<std::string> environment;  ///< NAME=VALUE
  /// The process's end of the connection, which becomes kChildFd there. It must have another number here, for
  /// dup2 onto the same number would leave it close-on-exec. It stays open in the caller.
  /// -1: none.
  int connection = -1;
  bool leads_group = false;  ///< gets a process group of its own
  bool null_io = false;      ///< standard input and output are /dev/null
  int output = -1;  ///< becomes standard output, without null_io and own_namespaces; -1: the caller's
  int errors = -1;  ///< becomes standard error; -1: the caller's
  /// The process begins as the first one of a user, a PID, a mount and an IPC namespace of its own, which
  /// know only the caller's user and group, with the capabilities to arrange and to leave itself nothing more
  /// (daemon/confinement/namespaces.hpp). No root is needed where the kernel allows user namespaces to all.
  bool own_namespaces = false;
};

/// Starts a process with default signal handling, which inherits no files but the standard ones and the
/// connection. Any thread.
/// @param what begins the message of the std::system_error that is thrown if the process cannot be started
/// @returns its id; the caller waits for it
pid_t spawn(NewProcess process, const char* what);

}  // namespace clique::daemon
