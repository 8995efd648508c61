#include "daemon/common/caches.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <system_error>

#include "daemon/common/environment.hpp"
#include "daemon/common/log.hpp"

namespace clique::daemon {

namespace {

namespace fs = std::filesystem;

/// What drivers write for one program, with some to spare.
constexpr std::uintmax_t kRoom = 32U << 20U;

/// Whether the folder exists, or can be created, and takes what a driver writes for a program.
bool has_room(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed || ::access(folder.c_str(), W_OK) != 0) return false;
  const fs::space_info space = fs::space(folder, failed);
  return !failed && space.available >= kRoom;
}

/// Creates a folder that only this user can open, in a folder that others use too.
/// @returns whether the folder is there and is that
bool make_private(const fs::path& folder) {
  ::mkdir(folder.c_str(), S_IRWXU);
  struct stat status{};
  return ::lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() &&
         (status.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

}  // namespace

std::uintmax_t cache_limit() {
  constexpr std::uintmax_t kDefault = 1024;
  const auto mib = environment("CLIQUE_CACHE_MIB");
  return (mib ? std::strtoull(mib->c_str(), nullptr, 10) : kDefault) << 20U;
}

void separate_driver_cache(const std::string& daemon) {
  const fs::path root = user_cache_folder();
  if (root.empty() || environment("POCL_CACHE_DIR")) return;
  const fs::path folder = root / "clique" / daemon;
  std::error_code failed;
  fs::create_directories(folder, failed);
  // If it cannot be created, the driver's own choice is as good.
  if (!failed) set_environment("POCL_CACHE_DIR", folder.string());
}

fs::path folder_with_room(const fs::path& folder) {
  if (has_room(folder)) return folder;
  // The substitute's name contains the folder's, so that daemons with separate caches have separate
  // substitutes.
  std::string name = folder.relative_path();
  std::replace(name.begin(), name.end(), '/', '-');
  std::error_code failed;
  for (const fs::path& shared : {fs::path(environment("XDG_RUNTIME_DIR").value_or("")),
                                 fs::temp_directory_path(failed), fs::path("/dev/shm")}) {
    const fs::path own = shared / ("clique-" + std::to_string(::geteuid()));
    if (shared.empty() || !make_private(own) || !has_room(own / name)) continue;
    spdlog::warn("{} has less than 32 MiB of free space for compiled programs; using {} instead",
                 folder.string(), (own / name).string());
    return own / name;
  }
  spdlog::warn(
      "{} has less than 32 MiB of free space for compiled programs, and no other folder has more: programs "
      "may "
      "fail to build; free some space, or set POCL_CACHE_DIR to a folder that has it",
      folder.string());
  return folder;
}

void find_room_for_driver_cache() {
  const auto named = environment("POCL_CACHE_DIR");
  const fs::path root = user_cache_folder();
  if (!named && root.empty()) return;
  const fs::path folder = named ? fs::path(*named) : root / "pocl";
  if (const fs::path found = folder_with_room(folder); found != folder)
    set_environment("POCL_CACHE_DIR", found.string());
}

}  // namespace clique::daemon
