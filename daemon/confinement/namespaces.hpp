// What a process that was started with NewProcess::own_namespaces arranges in its mount namespace. It needs
// the capabilities that it was started with.
#pragma once

#include "daemon/confinement/file_rules.hpp"

namespace clique::daemon::confinement {

/// Makes a file system visible that has nothing but the files of the rules, read-only where these give no
/// right to write; a /proc of this process's PID namespace; and a /dev/shm of its own. A /tmp that no rule
/// names is `folder`. The working directory stays, if it is visible, and is / otherwise. Only while the
/// process has one thread. Throws std::runtime_error with the reason when the kernel cannot; then everything
/// is as before.
/// @returns why other processes can still be seen in /proc; empty: they cannot
std::string enter_own_file_system(const FileRules& rules, const std::filesystem::path& folder);

}  // namespace clique::daemon::confinement
