#include "cli/common/edit_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "cli/common/commands.hpp"
#include "protocol/fd.hpp"

namespace clique::cli {

namespace {

namespace fs = std::filesystem;

constexpr mode_t kReadableByAll = S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH;
constexpr mode_t kPermissions = 07777;

[[noreturn]] void fail(const fs::path& path, const char* what) {
  throw Failed(path.string() + " " + what + ": " + std::strerror(errno));
}

/// Creates and locks the folder. The lock lasts until the descriptor is closed.
Fd lock_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  Fd locked(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!locked) fail(folder, "cannot be used");
  while (::flock(locked.get(), LOCK_EX) != 0)
    if (errno != EINTR) fail(folder, "cannot be locked");
  return locked;
}

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file && errno == ENOENT) return {};
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file || file.bad()) fail(path, "cannot be read");
  return text.str();
}

void write_all(const Fd& descriptor, const std::string& text, const fs::path& path) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t size = ::write(descriptor.get(), text.data() + done, text.size() - done);
    if (size < 0 && errno != EINTR) fail(path, "cannot be written");
    if (size > 0) done += static_cast<std::size_t>(size);
  }
}

/// A temporary file. Removes it unless it was renamed.
struct Scratch {
  fs::path path;
  ~Scratch() {
    if (!path.empty()) ::unlink(path.c_str());
  }
};

}  // namespace

void edit_file(const fs::path& named, const std::function<std::string(const std::string& text)>& edit) {
  // Replace the target of a symbolic link, not the link.
  std::error_code error;
  const fs::path path = fs::exists(named, error) ? fs::canonical(named) : fs::absolute(named);
  const Fd folder = lock_folder(path.parent_path());
  const std::string before = text_of(path);
  const std::string after = edit(before);

  struct stat info{};
  const bool existed = ::stat(path.c_str(), &info) == 0;
  Scratch scratch{path.string() + ".new"};
  ::unlink(scratch.path.c_str());
  const Fd file(
      ::open(scratch.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kReadableByAll));
  if (!file) fail(scratch.path, "cannot be written");
  write_all(file, after, scratch.path);
  // Keep the owner. Only root can give a file to another user.
  if (existed && ::fchown(file.get(), info.st_uid, info.st_gid) != 0 && info.st_uid != ::geteuid())
    fail(path, "belongs to another user and cannot be replaced; run this command as root or as its owner");
  if (::fchmod(file.get(), existed ? info.st_mode & kPermissions : kReadableByAll) != 0 ||
      ::fsync(file.get()) != 0 || ::rename(scratch.path.c_str(), path.c_str()) != 0)
    fail(path, "cannot be written");
  scratch.path.clear();
  ::fsync(folder.get());
}

void append_line(std::string& text, const std::string& line) {
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += line + '\n';
}

}  // namespace clique::cli
