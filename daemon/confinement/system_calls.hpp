// seccomp: system calls that the kernel refuses to a process, its threads and all that it starts, for ever.
#pragma once

#include "daemon/confinement/wall.hpp"

namespace clique::daemon::confinement {

/// Takes away the system calls that a process of this role does not need: they fail with EPERM. Drivers need
/// many, and differ, so that everything else stays allowed. no_new_privs has to be set. Throws
/// std::runtime_error with the reason when the kernel cannot.
/// @param signals whether to take away signals to other processes, too, where nothing else does. The programs
/// that this process starts then cannot send signals to themselves either.
void restrict_system_calls(Role role, bool signals);

}  // namespace clique::daemon::confinement
