// Where compilers keep what they make.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace clique::daemon {

/// Gives the drivers of processes that this one starts from now on a cache folder of this daemon's own,
/// unless the environment names one: PoCL's cache breaks when several writers use it at the same time, such
/// as daemons of one host, or hosts that share a home folder.
/// @param daemon a name that differs between daemons
void separate_driver_cache(const std::string& daemon);

/// `folder`, or, when its disk has no room for what drivers compile, one in another place, in memory if need
/// be; says so in the log. `folder` also if there is no such place. Creates it.
std::filesystem::path folder_with_room(const std::filesystem::path& folder);
/// The limit of the cache of compiled programs, in bytes: CLIQUE_CACHE_MIB, or 1 GiB.
std::uintmax_t cache_limit();

/// Moves this process's driver cache to another folder, in memory if need be, when the disk has no room for
/// it: PoCL compiles into files, and crashes when it cannot write them. To be called before a driver is
/// loaded.
void find_room_for_driver_cache();

}  // namespace clique::daemon
