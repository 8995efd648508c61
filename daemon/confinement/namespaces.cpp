#include "daemon/confinement/namespaces.hpp"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <system_error>

#include "daemon/confinement/throw_failure.hpp"
#include "protocol/fd.hpp"

namespace clique::daemon::confinement {

namespace {

namespace fs = std::filesystem;

// Where the new root is assembled. This folder exists on every system, and is hidden only meanwhile.
const fs::path kWorkplace = "/usr";

// The C library has these since version 2.36, the kernel's headers since 5.12. The numbers are the same on
// all architectures.
constexpr long kOpenTree = 428;
constexpr long kMoveMount = 429;
constexpr long kMountSetattr = 442;
constexpr unsigned kCloneTree = 1;       // OPEN_TREE_CLONE
constexpr unsigned kRecursive = 0x8000;  // AT_RECURSIVE
constexpr unsigned kEmptySource = 4;     // MOVE_MOUNT_F_EMPTY_PATH
constexpr std::uint64_t kReadOnly = 1;   // MOUNT_ATTR_RDONLY
constexpr std::uint64_t kNoSetuid = 2;   // MOUNT_ATTR_NOSUID
constexpr std::uint64_t kNoDevices = 4;  // MOUNT_ATTR_NODEV
struct MountAttributes {                 // struct mount_attr
  std::uint64_t set, clear, propagation, user_namespace;
};

bool writable(FileAccess access) {
  return access == FileAccess::Write || access == FileAccess::Device;
}

bool is_in(const fs::path& path, const fs::path& folder) {
  const auto [end, unused] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end();
}

/// A part of the new file system: a symbolic link, or a mount that is not attached yet.
struct Part {
  fs::path link;  ///< target of the symbolic link; empty: it is a mount
  Fd tree;
  bool folder = false;
};
using Parts = std::map<fs::path, Part>;

Part take(const fs::path& path, FileAccess access, const struct stat& status) {
  Part part;
  part.folder = S_ISDIR(status.st_mode);
  part.tree =
      Fd(static_cast<int>(::syscall(kOpenTree, AT_FDCWD, path.c_str(), kCloneTree | kRecursive | O_CLOEXEC)));
  if (!part.tree) throw_failure("open_tree of " + path.string());
  MountAttributes attributes{};
  attributes.set =
      kNoSetuid | (writable(access) ? 0 : kReadOnly) | (access == FileAccess::Device ? 0 : kNoDevices);
  if (::syscall(kMountSetattr, part.tree.get(), "", AT_EMPTY_PATH | kRecursive, &attributes,
                sizeof attributes) != 0)
    throw_failure("mount_setattr of " + path.string());
  return part;
}

/// The parts that the rules need. Parts come after those that they are in.
Parts parts_of(const FileRules& rules) {
  std::map<fs::path, FileAccess> wanted;
  for (const auto& [path, access] : rules) {
    if (is_in(path, "/proc") || path == "/dev/shm") continue;  // These are created anew.
    FileAccess& known = wanted.try_emplace(path, access).first->second;
    if (writable(access)) known = access;
  }
  Parts parts;
  std::map<fs::path, FileAccess> taken;
  for (const auto& [path, access] : wanted) {
    struct stat status{};
    if (::lstat(path.c_str(), &status) != 0) continue;
    // Rules name the target of a link as well, so nothing below the link itself is needed.
    if (std::any_of(parts.begin(), parts.end(), [&path = path](const auto& part) {
          return !part.second.link.empty() && is_in(path, part.first);
        }))
      continue;
    const auto around = std::find_if(taken.rbegin(), taken.rend(),
                                     [&path = path](const auto& one) { return is_in(path, one.first); });
    const bool is_there = around != taken.rend();
    if (is_there && (!writable(access) || around->second == access)) continue;
    if (S_ISLNK(status.st_mode)) {
      // Another rule names its target.
      std::error_code missing;
      const fs::path target = fs::canonical(path, missing);
      if (!missing && !is_there) parts[path].link = target;
      continue;
    }
    parts.emplace(path, take(path, access, status));
    taken.emplace(path, access);
  }
  return parts;
}

void make_folders(const fs::path& path) {
  std::error_code failed;
  fs::create_directories(path, failed);
  if (failed) throw std::runtime_error("cannot create " + path.string() + ": " + failed.message());
}

void place(const fs::path& root, const fs::path& path, Part& part) {
  const fs::path target = root / path.relative_path();
  if (!part.link.empty()) {
    make_folders(target.parent_path());
    if (::symlink(part.link.c_str(), target.c_str()) != 0 && errno != EEXIST)
      throw_failure("symlink " + path.string());
    return;
  }
  std::error_code missing;
  if (!fs::exists(target, missing)) {
    make_folders(part.folder ? target : target.parent_path());
    if (!part.folder) Fd(::open(target.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  }
  if (::syscall(kMoveMount, part.tree.get(), "", AT_FDCWD, target.c_str(), kEmptySource) != 0)
    throw_failure("move_mount to " + path.string());
}

void mount_memory(const fs::path& where, const char* options) {
  make_folders(where);
  if (::mount("tmpfs", where.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options) != 0)
    throw_failure("mount of a tmpfs");
}

void link_to(const char* target, const fs::path& link) {
  if (::symlink(target, link.c_str()) != 0 && errno != EEXIST) throw_failure("symlink " + link.string());
}

/// @returns why /proc is still the host's; empty if it is not
std::string mount_proc(const fs::path& where, const Fd& host) {
  make_folders(where);
  if (::mount("proc", where.c_str(), "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0) return {};
  // Containers that hide parts of /proc do not allow mounting another one.
  std::string reason = std::string("a /proc of its own cannot be mounted: ") + std::strerror(errno);
  if (::syscall(kMoveMount, host.get(), "", AT_FDCWD, where.c_str(), kEmptySource) != 0)
    throw_failure("move_mount to /proc");
  return reason;
}

std::string build(const fs::path& root, Parts& parts, const Fd& proc, const fs::path& folder) {
  mount_memory(root, "mode=0755,size=1m");
  for (auto& [path, part] : parts) place(root, path, part);
  mount_memory(root / "dev/shm", "mode=1777,size=256m");
  link_to("/proc/self/fd", root / "dev/fd");
  std::string reason = mount_proc(root / "proc", proc);
  if (!folder.empty() && !parts.contains("/tmp")) {
    std::error_code missing;
    if (!fs::exists(root / "tmp", missing)) link_to(folder.c_str(), root / "tmp");
  }
  return reason;
}

/// Makes a mounted file system the root, and unmounts the previous one.
void move_into(const fs::path& root) {
  std::error_code gone;
  const fs::path before = fs::current_path(gone);
  if (::chdir(root.c_str()) != 0) throw_failure("chdir to the new root");
  // The old root covers the new one until it is unmounted.
  if (::syscall(SYS_pivot_root, ".", ".") != 0) throw_failure("pivot_root");
  if (::umount2(".", MNT_DETACH) != 0) throw_failure("umount of the old root");
  if (::mount(nullptr, "/", nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, nullptr) != 0)
    throw_failure("mount of the new root read-only");
  if (gone || ::chdir(before.c_str()) != 0) static_cast<void>(!::chdir("/"));
}

}  // namespace

std::string enter_own_file_system(const FileRules& rules, const fs::path& folder) {
  // Mounts must not propagate between this namespace and the host.
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    throw_failure("mount of / as private");
  Parts parts = parts_of(rules);
  const Fd proc(
      static_cast<int>(::syscall(kOpenTree, AT_FDCWD, "/proc", kCloneTree | kRecursive | O_CLOEXEC)));
  if (!proc) throw_failure("open_tree of /proc");
  try {
    std::string reason = build(kWorkplace, parts, proc, folder);
    move_into(kWorkplace);
    return reason;
  } catch (const std::runtime_error&) {
    ::umount2(kWorkplace.c_str(), MNT_DETACH);
    throw;
  }
}

}  // namespace clique::daemon::confinement
