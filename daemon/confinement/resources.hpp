// Limits and privileges of a process.
#pragma once

namespace clique::daemon::confinement {

/// Disables core dumps, raises the limit of open files to the hard limit, and makes the out-of-memory killer
/// prefer this process to the daemon. Throws std::runtime_error with the reason if the kernel refuses.
/// @param own_users whether the process has its own user namespace; only then the number of its threads can
/// be limited
void set_limits(bool own_users);

/// Gives up all capabilities, also for programs that the process starts. Throws std::runtime_error with the
/// reason if the kernel refuses.
void drop_privileges();

}  // namespace clique::daemon::confinement
