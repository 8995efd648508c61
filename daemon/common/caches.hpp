// Where compilers keep what they make.
#pragma once

#include <filesystem>
#include <string>

namespace clique::daemon {

/// The user's folder for caches: $XDG_CACHE_HOME, or ~/.cache. Empty when the environment names neither.
std::filesystem::path user_cache_folder();

/// Gives the drivers of processes that this one starts from now on a cache folder of this daemon's own,
/// unless the environment names one: PoCL's cache breaks when several writers use it at the same time, such
/// as daemons of one host, or hosts that share a home folder.
/// @param daemon a name that differs between daemons
void separate_driver_cache(const std::string& daemon);

/// Moves this process's driver cache to another folder, in memory if need be, when the disk has no room for
/// it: PoCL compiles into files, and crashes when it cannot write them. To be called before a driver is
/// loaded.
void find_room_for_driver_cache();

}  // namespace clique::daemon
