#include "daemon/backend/common/program_files.hpp"

#include "daemon/worker/errors.hpp"
#include "protocol/limits.hpp"
#include "protocol/sources/include_tree.hpp"

namespace clique::daemon {

namespace {

/// Sets of files that wait for their builds. A client sends a set just before its build.
constexpr std::size_t kMostSets = 1024;
/// Bytes of texts, with those of builds that wait. More than a client makes that waits for its builds.
constexpr std::size_t kMostBytes = 4 * protocol::kMaxKeptFileBytes;

/// Rule: a path is absolute and in normal form, so that each file has one name.
void check_path(const std::string& path) {
  if (path.size() <= protocol::kMaxPath && path.starts_with('/') && path.find('\0') == std::string::npos &&
      protocol::absolute_path(path, "/") == path)
    return;
  throw RuleBroken("a path of " + std::to_string(path.size()) +
                   " bytes of a program's file is not absolute, is not in normal form, or has more than " +
                   std::to_string(protocol::kMaxPath) + " bytes");
}

}  // namespace

ProgramFiles::Text ProgramFiles::text_of(protocol::ProgramFile&& file) {
  Text& text = kept_[file.digest];
  if (text != nullptr) return text;
  if (file.text.empty() && file.digest != protocol::digest_of("")) {
    kept_.erase(file.digest);
    throw RuleBroken("the text of a program's file is neither known nor in the message");
  }
  const std::size_t size = file.text.size();
  if (bytes_->fetch_add(size) + size > kMostBytes)
    throw RuleBroken("the files of the session's programs have more than " +
                     std::to_string(kMostBytes / protocol::kMiB) + " MiB, which is the limit");
  // The client's digest is not checked: it names the text in this session only, and caches look at the text.
  text = Text(new std::string(file.text.begin(), file.text.end()),
              [bytes = bytes_, size](const std::string* old) {
                *bytes -= size;
                delete old;
              });
  return text;
}

void ProgramFiles::take(protocol::ProgramFiles&& message) {
  if (message.id == 0 || sets_.contains(message.id))
    throw RuleBroken("files " + std::to_string(message.id) + " of a program exist already");
  if (message.files.size() > protocol::kMaxProgramFiles)
    throw RuleBroken("a program with " + std::to_string(message.files.size()) + " files; it may have " +
                     std::to_string(protocol::kMaxProgramFiles));
  if (sets_.size() >= kMostSets)
    throw RuleBroken("the files of " + std::to_string(kMostSets) +
                     " builds wait for these, which is the limit");
  check_path(message.folder);
  if (message.forget) kept_.clear();
  auto set = std::make_shared<FileSet>();
  set->folder = std::move(message.folder);
  std::size_t bytes = 0;
  for (protocol::ProgramFile& file : message.files) {
    check_path(file.path);
    std::string path = file.path;
    Text text = text_of(std::move(file));
    bytes += text->size();
    if (bytes > protocol::kMaxProgramFileBytes)
      throw RuleBroken("the files of a program have more than " +
                       std::to_string(protocol::kMaxProgramFileBytes / protocol::kMiB) +
                       " MiB, which is the limit");
    set->files[std::move(path)] = std::move(text);
  }
  sets_.emplace(message.id, std::move(set));
}

std::shared_ptr<const FileSet> ProgramFiles::claim(protocol::ObjectId id) {
  if (id == 0) return std::make_shared<FileSet>();
  const auto found = sets_.find(id);
  if (found == sets_.end()) throw RuleBroken("files " + std::to_string(id) + " of a program do not exist");
  auto set = std::move(found->second);
  sets_.erase(found);
  return set;
}

}  // namespace clique::daemon
