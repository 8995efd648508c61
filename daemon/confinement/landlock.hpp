// Landlock: rights to files that the kernel checks for a process, its threads and all that it starts, for
// ever. No privileges are needed. The C library has no functions for it, and the installed headers may be
// older than the kernel, so that the constants are here.
#pragma once

#include "daemon/confinement/file_rules.hpp"

namespace clique::daemon::confinement {

/// What else a process is kept from.
struct LandlockScope {
  /// No TCP connections, and no ports to wait for some. Linux 6.7.
  bool no_tcp = false;
  /// No connections to UNIX sockets with abstract names that others have bound. Linux 6.12.
  bool no_abstract_sockets = false;
};

/// Takes away all rights to files that the rules do not give. From Linux 6.12 on it also keeps this process
/// from sending signals to others, except to those that it starts. Before, no_new_privs has to be set. Rules
/// for paths that do not exist have no effect. Throws std::runtime_error with the reason when the kernel
/// cannot.
/// @returns whether signals to other processes are refused now
bool restrict_file_rights(const FileRules& rules, LandlockScope scope);

}  // namespace clique::daemon::confinement
