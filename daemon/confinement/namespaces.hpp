// Sets up the mount namespace of a process that was started with NewProcess::own_namespaces. Needs the
// capabilities that the process was started with.
#pragma once

#include "daemon/confinement/file_rules.hpp"

namespace clique::daemon::confinement {

/// Replaces the visible file system by one that contains only the files of the rules (read-only unless a rule
/// allows writing), a /proc of this process's PID namespace, and a private /dev/shm. If no rule names /tmp,
/// it leads to `folder`. The working directory stays the same if it is visible, and becomes / otherwise. Call
/// this while the process has one thread. Throws std::runtime_error with the reason if the kernel does not
/// allow it; nothing has changed then.
/// @returns why other processes are still visible in /proc; empty if they are not
std::string enter_own_file_system(const FileRules& rules, const std::filesystem::path& folder);

}  // namespace clique::daemon::confinement
