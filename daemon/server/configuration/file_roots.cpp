#include "daemon/server/configuration/file_roots.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <sstream>
#include <stdexcept>

#include "protocol/limits.hpp"
#include "protocol/printable.hpp"

namespace clique::daemon {

namespace {

namespace fs = std::filesystem;
using protocol::FileStatus;
using protocol::in_quotes;
namespace file_access = protocol::file_access;

/// How paths below a root are looked up: nothing leads out of it, and no link of /proc leads anywhere.
constexpr std::uint64_t kBelow = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
/// The same below the root `/`, out of which nothing could lead. Symbolic links may be absolute.
constexpr std::uint64_t kAnywhere = RESOLVE_NO_MAGICLINKS;
/// How often a path is looked up that others change meanwhile.
constexpr int kMostAttempts = 100;
/// Rights of files that are created, before the umask.
constexpr mode_t kMode = 0666;

/// openat2(2), for which the C library has no function.
Fd open_at(const Fd& folder, const fs::path& path, std::uint64_t flags, std::uint64_t resolve) {
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.mode = (flags & O_CREAT) != 0 ? kMode : 0;
  how.resolve = resolve;
  int fd = -1;
  int attempts = 0;
  do {
    fd = static_cast<int>(::syscall(SYS_openat2, folder.get(), path.c_str(), &how, sizeof how));
    // EAGAIN: somebody renamed a folder meanwhile, and could do so all the time.
  } while (fd < 0 && (errno == EINTR || errno == EAGAIN) && ++attempts < kMostAttempts);
  return Fd(fd);
}

[[noreturn]] void throw_open_failure(int error) {
  if (error == EXDEV)
    throw FileError(
        FileStatus::AccessDenied,
        "a symbolic link in the path leads out of the folder that the node offers, or is absolute");
  if (error == ENOSYS)
    throw FileError(FileStatus::IoError, "the node's kernel lacks openat2, which Linux has since 5.6");
  throw FileError(error);
}

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

/// Whether the path has the folder's path at its beginning.
bool begins_with(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

/// The path from the folder on.
fs::path rest_of(const fs::path& path, const fs::path& folder) {
  const fs::path rest = path.lexically_relative(folder);
  return rest.empty() ? "." : rest;
}

std::uint64_t rules_of(const fs::path& root) {
  return root == "/" ? kAnywhere : kBelow;
}

/// The flags to open a regular file with.
int flags_of(std::uint8_t access) {
  const bool reads = (access & file_access::kRead) != 0;
  const bool writes = (access & file_access::kWrite) != 0;
  return writes ? (reads ? O_RDWR : O_WRONLY) : O_RDONLY;
}

}  // namespace

FileRoots FileRoots::everything() {
  FileRoots all;
  all.roots_.push_back({"/", true, "/"});
  return all;
}

FileRoots FileRoots::parse(const std::string& text) {
  FileRoots parsed;
  if (text == "none") return parsed;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    const auto colon = word.find(':');
    const std::string right = word.substr(0, colon);
    const fs::path given = colon == std::string::npos ? "" : word.substr(colon + 1);
    if ((right != "read" && right != "write") || !given.is_absolute())
      throw std::invalid_argument(
          in_quotes(word) +
          " is not a folder for files; write read:/FOLDER or write:/FOLDER, with commas "
          "between several, or none");
    fs::path path = given.lexically_normal();
    if (!path.has_filename() && path != "/") path = path.parent_path();
    if (std::find(given.begin(), given.end(), "..") != given.end())
      throw std::invalid_argument(in_quotes(word) + " contains '..'; write the folder's own path");
    for (const Root& other : parsed.roots_)
      if (begins_with(path, other.path) || begins_with(other.path, path))
        throw std::invalid_argument(in_quotes(word) + " and " + in_quotes(other.path.string()) +
                                    " contain each other; name folders that do not");
    parsed.roots_.push_back({path, right == "write", path});
  }
  return parsed;
}

FileRoots FileRoots::narrowed(const FileRoots& wanted) const {
  FileRoots result;
  for (const Root& root : wanted.roots_) {
    const Root* const mine = containing(root.path);
    if (mine == nullptr)
      throw std::invalid_argument(in_quotes(root.path.string()) +
                                  " lies in none of this node's file-roots, which are " + text());
    if (root.writable && !mine->writable)
      throw std::invalid_argument(in_quotes(root.path.string()) + " is to be written, but " +
                                  in_quotes(mine->path.string()) +
                                  " of this node's file-roots may only be read");
    result.roots_.push_back({root.path, root.writable, mine->path});
  }
  return result;
}

std::string FileRoots::text() const {
  std::string text;
  for (const Root& root : roots_)
    text += (text.empty() ? "" : ",") + std::string(root.writable ? "write:" : "read:") + root.path.string();
  return text.empty() ? "none" : text;
}

const FileRoots::Root* FileRoots::containing(const fs::path& path) const {
  const auto found = std::find_if(roots_.begin(), roots_.end(),
                                  [&](const Root& root) { return begins_with(path, root.path); });
  return found == roots_.end() ? nullptr : &*found;
}

Fd FileRoots::open(const std::string& text, std::uint8_t access, bool direct) const {
  const fs::path path(text);
  if (!path.is_absolute() || text.find('\0') != std::string::npos || text.size() > protocol::kMaxPath)
    throw FileError(FileStatus::NotFound, "the path has to be absolute, and to have at most " +
                                              std::to_string(protocol::kMaxPath) + " bytes");
  if ((access & (file_access::kRead | file_access::kWrite)) == 0)
    throw FileError(FileStatus::AccessDenied, "it is to be opened neither for reading nor for writing");
  if (std::find(path.begin(), path.end(), "..") != path.end())
    throw FileError(FileStatus::AccessDenied, "the path contains '..'; write it without");
  if (roots_.empty())
    throw FileError(
        FileStatus::AccessDenied,
        "the node offers no files to this client; its administrator offers folders with the setting "
        "'file-roots', and the option 'files' in authorized-clients narrows them");
  const Root* const root = containing(path);
  if (root == nullptr)
    throw FileError(
        FileStatus::AccessDenied,
        "it lies outside of the folders that the node offers to this client (file-roots): " + this->text());
  if ((access & file_access::kWrite) != 0 && !root->writable)
    throw FileError(FileStatus::AccessDenied,
                    "the node offers " + in_quotes(root->path.string()) + " for reading only (file-roots)");

  // The administrator's folder may be anywhere; a client's part of it has to be inside.
  Fd folder(::open(root->within.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) throw_open_failure(errno);
  if (root->path != root->within)
    folder = open_at(folder, rest_of(root->path, root->within), O_PATH | O_DIRECTORY, rules_of(root->within));
  if (!folder) throw_open_failure(errno);

  const fs::path rest = rest_of(path, root->path);
  const std::uint64_t rules = rules_of(root->path);
  // To open a FIFO or a device has effects. O_PATH opens nothing, but fixes which file the path stands for.
  Fd place = open_at(folder, rest, O_PATH, rules);
  if (!place && errno == ENOENT && (access & file_access::kCreate) != 0 &&
      (access & file_access::kWrite) != 0) {
    Fd made = open_at(folder, rest,
                      static_cast<std::uint64_t>(flags_of(access)) | O_CREAT | O_EXCL | O_NOCTTY, rules);
    if (made) return made;
    if (errno != EEXIST) throw_open_failure(errno);
    // Somebody else was faster; or a symbolic link leads nowhere, and the next line says so.
    place = open_at(folder, rest, O_PATH, rules);
  }
  if (!place) throw_open_failure(errno);
  struct stat state{};
  if (::fstat(place.get(), &state) != 0) throw FileError(errno);
  if (!S_ISREG(state.st_mode))
    throw FileError(FileStatus::NotRegular,
                    std::string("it is ") + kind_of(state.st_mode) + ", not a regular file");
  const std::string name = "/proc/self/fd/" + std::to_string(place.get());
  const int around_cache = direct ? O_DIRECT : 0;
  Fd file(::open(name.c_str(), flags_of(access) | around_cache | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file) throw FileError(errno);
  // Means nothing for a regular file, but cuFile takes none with it.
  const int flags = ::fcntl(file.get(), F_GETFL);
  if (flags < 0 || ::fcntl(file.get(), F_SETFL, flags & ~O_NONBLOCK) != 0) throw FileError(errno);
  return file;
}

}  // namespace clique::daemon
