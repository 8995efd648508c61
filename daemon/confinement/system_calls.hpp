// seccomp: the kernel refuses system calls to a process, its threads and all programs it starts. This cannot
// be undone.
#pragma once

#include "daemon/confinement/file_rules.hpp"
#include "daemon/confinement/wall.hpp"

namespace clique::daemon::confinement {

/// Makes socket() fail with EPERM but for the families that a process of this role needs: UNIX sockets, or
/// none. Also refuses to send together with the beginning of a connection (TCP Fast Open), which would get
/// around the fixed peers of sockets (fixed_peer.hpp). no_new_privs must be set. Throws std::runtime_error
/// with the reason if the kernel does not support this.
void restrict_sockets(Role role);

/// Makes the system calls that no process of a session needs fail with EPERM. All others stay allowed in
/// workers, because drivers need many, and differ. The compiler, whose code is known, has those that it needs
/// alone; it starts programs only if `needs` names some. no_new_privs must be set. Throws std::runtime_error
/// with the reason if the kernel does not support this.
/// @param signals whether to refuse signals to other processes as well, if no other wall does. Programs that
/// this process starts can then not even signal themselves.
void restrict_system_calls(const FileNeeds& needs, bool signals);

}  // namespace clique::daemon::confinement
