// Limits and privileges of a process.
#pragma once

namespace clique::daemon::confinement {

/// No core dumps, as many open files as the process may have, and the out-of-memory killer takes it before
/// the daemon. @param own_users whether it has a user namespace of its own, in which its threads can be
/// counted Throws std::runtime_error with the reason when the kernel cannot.
void set_limits(bool own_users);

/// Gives up all capabilities, and those that a program started later might have. Throws std::runtime_error
/// with the reason when the kernel cannot.
void drop_privileges();

}  // namespace clique::daemon::confinement
