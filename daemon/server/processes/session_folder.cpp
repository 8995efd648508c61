#include "daemon/server/processes/session_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "daemon/common/caches.hpp"

namespace clique::daemon {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "session-";
/// Until a folder is locked, its name begins with this.
constexpr std::string_view kUnlockedPrefix = "new-";
/// A daemon locks a new folder far sooner, if it lives.
constexpr std::chrono::minutes kLockTime{10};
/// The folders with the kept programs of one owner each begin with this.
constexpr std::string_view kOwnerPrefix = "programs-of-";

/// The folders that are being removed.
struct Removals {
  std::mutex mutex;
  std::condition_variable done;
  int count = 0;
};

Removals& removals() {
  // Never destroyed, because removing threads may outlive main().
  static auto* const all = new Removals;
  return *all;
}

void erase_folder(const fs::path& path) {
  std::error_code failed;
  fs::remove_all(path, failed);
}

/// If the programs of a session exceed these limits, they are removed with the session.
constexpr std::uintmax_t kMostKeptBytes = 256U << 20U;
constexpr std::size_t kMostKeptFiles = 20'000;
/// The largest number of kept program folders per owner.
constexpr std::size_t kMostKeptFolders = 8;
/// The same of all owners together.
constexpr std::size_t kMostKeptInAll = 64;

/// What is in a folder; nothing if it cannot be read.
std::vector<fs::path> paths_in(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed); !failed && entry != fs::directory_iterator();
       entry.increment(failed))
    paths.push_back(entry->path());
  return paths;
}

/// Removes the program folders beyond the limit that have not been used for longest, and what owners without
/// programs have left.
void remove_least_used(const fs::path& root) {
  std::vector<std::pair<fs::file_time_type, fs::path>> kept;
  std::error_code failed;
  for (const fs::path& owner : paths_in(root)) {
    if (!owner.filename().string().starts_with(kOwnerPrefix)) continue;
    const auto folders = paths_in(owner);
    for (const fs::path& folder : folders) kept.emplace_back(fs::last_write_time(folder, failed), folder);
    // It is made again when there is something to keep.
    if (folders.empty()) ::rmdir(owner.c_str());
  }
  if (kept.size() <= kMostKeptInAll) return;
  std::sort(kept.begin(), kept.end());
  kept.resize(kept.size() - kMostKeptInAll);
  for (const auto& [time, folder] : kept) {
    // First out of the way of sessions that look for programs, under a name that remove_abandoned() knows.
    const fs::path aside = root / (std::string(kPrefix) + "old-" + folder.filename().string());
    fs::rename(folder, aside, failed);
    if (!failed) erase_folder(aside);
  }
}

/// Whether it is a folder within the limits, and not a symbolic link, which a kernel may have created.
bool worth_keeping(const fs::path& folder) {
  std::error_code failed;
  if (!fs::is_directory(fs::symlink_status(folder, failed))) return false;
  std::uintmax_t bytes = 0;
  std::size_t files = 0;
  auto entry = fs::recursive_directory_iterator(folder, failed);
  for (; !failed && entry != fs::recursive_directory_iterator(); entry.increment(failed)) {
    std::error_code special;
    if (fs::is_regular_file(entry->symlink_status(special)))
      bytes += std::max<std::uintmax_t>(fs::file_size(entry->path(), special), 1);
    if (bytes > kMostKeptBytes || ++files > kMostKeptFiles) return false;
  }
  return !failed && files > 0;
}

void keep(const fs::path& programs, const fs::path& kept) {
  if (!worth_keeping(programs)) return;
  // Of all threads that count folders.
  static std::mutex counting;
  const std::lock_guard lock(counting);
  std::error_code failed;
  fs::create_directories(kept, failed);
  if (failed || paths_in(kept).size() >= kMostKeptFolders) return;
  // The session's name is unique among running sessions.
  const fs::path place = kept / programs.parent_path().filename();
  fs::rename(programs, place, failed);
  if (failed) return;
  fs::last_write_time(place, fs::file_time_type::clock::now(), failed);
  remove_least_used(kept.parent_path());
}

/// In another thread: keeps the programs if `kept` is not empty, and removes the rest.
void finish_later(fs::path path, fs::path kept) {
  {
    const std::lock_guard lock(removals().mutex);
    ++removals().count;
  }
  std::thread([path = std::move(path), kept = std::move(kept)] {
    if (!kept.empty()) keep(path / SessionFolder::kPrograms, kept);
    erase_folder(path);
    const std::lock_guard lock(removals().mutex);
    --removals().count;
    removals().done.notify_all();
  }).detach();
}

/// A folder name for the programs of this owner.
std::string encode(const std::string& owner) {
  std::string name(kOwnerPrefix);
  for (const char c : owner) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    name += plain ? std::string(1, c) : "_" + std::to_string(static_cast<unsigned char>(c)) + "_";
  }
  return name;
}

/// Moves everything in one folder to another. Does nothing if either is a symbolic link.
void move_content(const fs::path& from, const fs::path& to) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  const Fd target(::open(to.c_str(), kFlags));
  const int source = ::open(from.c_str(), kFlags);
  DIR* const entries = source < 0 ? nullptr : ::fdopendir(source);
  if (entries == nullptr) {
    if (source >= 0) ::close(source);
    return;
  }
  while (const dirent* entry = ::readdir(entries)) {
    const std::string_view name = entry->d_name;
    // Fails if the name exists in the target, whose entry then stays.
    if (name != "." && name != "..") ::renameat(source, entry->d_name, target.get(), entry->d_name);
  }
  ::closedir(entries);
}

/// Whether the folder is one of sessions. Those that a living daemon may be about to lock are not.
bool may_be_abandoned(const fs::path& folder) {
  const std::string name = folder.filename();
  if (name.starts_with(kPrefix)) return true;
  std::error_code failed;
  return name.starts_with(kUnlockedPrefix) &&
         fs::last_write_time(folder, failed) < fs::file_time_type::clock::now() - kLockTime && !failed;
}

/// Locks a folder. A daemon owns the folders whose locks it holds.
Fd lock_of(const fs::path& folder) {
  Fd lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!lock || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return {};
  return lock;
}

}  // namespace

SessionFolder::SessionFolder(const fs::path& root) {
  const fs::path place = folder_with_room(root);
  // Locked before it gets its final name, so that no other daemon considers it abandoned.
  std::string name = place / (std::string(kUnlockedPrefix) + "XXXXXX");
  if (::mkdtemp(name.data()) == nullptr)
    throw std::system_error(errno, std::generic_category(),
                            "cannot create a folder for a session in " + place.string());
  lock_ = lock_of(name);
  path_ = place / (std::string(kPrefix) + std::to_string(::getpid()) + name.substr(name.size() - 7));
  if (::rename(name.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    erase_folder(name);
    throw std::system_error(error, std::generic_category(), "cannot create " + path_.string());
  }
}

SessionFolder::SessionFolder(SessionFolder&& other) noexcept {
  swap(other);
}

void SessionFolder::swap(SessionFolder& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(kept_, other.kept_);
  std::swap(lock_, other.lock_);
}

SessionFolder& SessionFolder::operator=(SessionFolder&& other) noexcept {
  swap(other);
  return *this;
}

SessionFolder::~SessionFolder() {
  if (!path_.empty()) finish_later(std::move(path_), std::move(kept_));
}

void SessionFolder::use_programs_of(const std::string& owner) {
  if (path_.empty()) return;
  kept_ = path_.parent_path() / encode(owner);
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(kept_, failed)) {
    const fs::path taken = path_ / "taken";
    // If another session tries the same, only one of them succeeds.
    if (::rename(entry.path().c_str(), taken.c_str()) != 0) continue;
    move_content(taken, path_ / kPrograms);
    return;
  }
}

void SessionFolder::remove_abandoned(const fs::path& root) {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(root, failed)) {
    if (!may_be_abandoned(entry.path())) continue;
    if (const Fd lock = lock_of(entry.path())) erase_folder(entry.path());
  }
}

void SessionFolder::wait_until_removed(std::chrono::milliseconds limit) {
  std::unique_lock lock(removals().mutex);
  removals().done.wait_for(lock, limit, [] { return removals().count == 0; });
}

}  // namespace clique::daemon
