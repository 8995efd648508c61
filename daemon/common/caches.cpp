#include "daemon/common/caches.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
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

fs::path user_cache_folder() {
  if (const auto cache = environment("XDG_CACHE_HOME").value_or(""); !cache.empty()) return cache;
  if (const auto home = environment("HOME").value_or(""); !home.empty()) return fs::path(home) / ".cache";
  return {};
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

void find_room_for_driver_cache() {
  const auto named = environment("POCL_CACHE_DIR");
  const fs::path root = user_cache_folder();
  if (!named && root.empty()) return;
  const fs::path folder = named ? fs::path(*named) : root / "pocl";
  if (has_room(folder)) return;
  // The substitute's name contains the folder's, so that daemons with separate caches have separate
  // substitutes.
  std::string name = folder.relative_path();
  std::replace(name.begin(), name.end(), '/', '-');
  std::error_code failed;
  for (const fs::path& shared : {fs::path(environment("XDG_RUNTIME_DIR").value_or("")),
                                 fs::temp_directory_path(failed), fs::path("/dev/shm")}) {
    const fs::path own = shared / ("clique-" + std::to_string(::geteuid()));
    if (shared.empty() || !make_private(own) || !has_room(own / name)) continue;
    set_environment("POCL_CACHE_DIR", (own / name).string());
    spdlog::warn("{} has less than 32 MiB of free space for compiled programs; using {} instead",
                 folder.string(), (own / name).string());
    return;
  }
  spdlog::warn(
      "{} has less than 32 MiB of free space for compiled programs, and no other folder has more: programs "
      "may "
      "fail to build; free some space, or set POCL_CACHE_DIR to a folder that has it",
      folder.string());
}

}  // namespace clique::daemon
