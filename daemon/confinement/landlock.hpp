// Landlock (landlock(7)): the kernel restricts which files a process, its threads and the programs it starts
// can use. This needs no privileges and cannot be undone. The C library has no functions for it, and the
// installed headers may be older than the kernel, so landlock.cpp defines the constants itself.
#pragma once

#include "daemon/confinement/file_rules.hpp"

namespace clique::daemon::confinement {

/// Restrictions besides files.
struct LandlockScope {
  /// The process can neither connect nor bind TCP sockets. Needs Linux 6.7.
  bool no_tcp = false;
  /// The process cannot connect to other processes' UNIX sockets with abstract names. Needs Linux 6.12.
  bool no_abstract_sockets = false;
};

/// Removes all rights to files that the rules do not grant. From Linux 6.12 on, the process can also send
/// signals only to itself and to processes that it starts. no_new_privs must be set. Rules for paths that do
/// not exist have no effect. Throws std::runtime_error with the reason if the kernel does not support this.
/// @returns whether signals to other processes are refused now
bool restrict_file_rights(const FileRules& rules, LandlockScope scope);

/// Whether this kernel's Landlock can keep a process from connecting TCP sockets (Linux 6.7).
bool landlock_knows_tcp();

}  // namespace clique::daemon::confinement
