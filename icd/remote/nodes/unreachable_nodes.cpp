#include "icd/remote/nodes/unreachable_nodes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <filesystem>

#include "protocol/fd.hpp"

namespace clique::icd {

namespace {

/// The longest file that is read, and the most nodes that are written.
constexpr std::size_t kLongestFile = 64U << 10U;
constexpr std::size_t kMostNodes = 512;

/// The content of a file that only this user can have written; empty if it is none.
std::string own_content(const std::string& path) {
  // O_NONBLOCK: a FIFO must not make the program wait.
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info{};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != ::geteuid() ||
      (info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return {};
  std::string text(kLongestFile + 1, '\0');
  const ssize_t size = ::read(file.get(), text.data(), text.size());
  if (size < 0 || static_cast<std::size_t>(size) > kLongestFile) return {};
  text.resize(static_cast<std::size_t>(size));
  return text;
}

bool parse_seconds(std::string_view text, std::int64_t& seconds) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  return error == std::errc() && end == text.data() + text.size();
}

/// Whether this user owns the folder, so that no other one can have put files into it.
bool owns(const std::filesystem::path& folder) {
  struct stat info{};
  return ::stat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::geteuid();
}

}  // namespace

UnreachableNodes::UnreachableNodes(std::string file) : file_(std::move(file)) {
  if (file_.empty()) return;
  const std::string content = own_content(file_);
  const auto now = Clock::now();
  std::string_view text(content);
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const auto space = line.find(' ');
    std::int64_t seconds = 0;
    // A line that is cut off is no line.
    if (end == std::string_view::npos || space == std::string_view::npos ||
        !parse_seconds(line.substr(space + 1), seconds)) {
      since_.clear();
      return;
    }
    text.remove_prefix(end + 1);
    // Compared as numbers, because the file may contain any.
    const auto today = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
    if (seconds > today || seconds <= today - kTime.count()) continue;
    since_.emplace(line.substr(0, space), Clock::time_point(std::chrono::seconds(seconds)));
  }
}

std::optional<std::chrono::seconds> UnreachableNodes::silent_for(const NodeAddress& node) const {
  const auto found = since_.find(node.text());
  if (found == since_.end()) return std::nullopt;
  return std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - found->second);
}

void UnreachableNodes::note(const std::vector<NodeAddress>& silent,
                            const std::vector<NodeAddress>& answered) {
  if (file_.empty()) return;
  bool changed = false;
  for (const NodeAddress& node : silent) {
    if (since_.size() >= kMostNodes) break;
    changed |= since_.emplace(node.text(), Clock::now()).second;
  }
  for (const NodeAddress& node : answered) changed |= since_.erase(node.text()) > 0;
  if (changed) write();
}

void UnreachableNodes::write() const {
  const std::filesystem::path path(file_);
  // Where a variable names another user's folder, for instance under sudo, this user's files would be in the
  // way.
  const std::filesystem::path place = path.parent_path().parent_path();
  if (::mkdir(place.c_str(), S_IRWXU) != 0 && !owns(place)) return;
  if (::mkdir(path.parent_path().c_str(), S_IRWXU) != 0 && !owns(path.parent_path())) return;
  std::string text;
  for (const auto& [node, since] : since_)
    text +=
        node + ' ' +
        std::to_string(std::chrono::duration_cast<std::chrono::seconds>(since.time_since_epoch()).count()) +
        '\n';
  // Other programs see the old file or the new one.
  const std::string scratch = file_ + "." + std::to_string(::getpid());
  ::unlink(scratch.c_str());
  const Fd file(
      ::open(scratch.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR));
  if (!file) return;
  const bool written = ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (!written || std::rename(scratch.c_str(), file_.c_str()) != 0) ::unlink(scratch.c_str());
}

}  // namespace clique::icd
