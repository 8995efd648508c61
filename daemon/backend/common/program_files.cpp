#include "daemon/backend/common/program_files.hpp"

#include "daemon/worker/errors.hpp"
#include "protocol/limits.hpp"
#include "protocol/sources/include_tree.hpp"

namespace clique::daemon {

namespace {

/// The largest number of sets that wait for their builds. A client sends a set just before its build.
constexpr std::size_t kMostSets = 1024;
/// The largest size of all texts in bytes, including those of waiting builds. Clients that wait for their
/// builds need less.
constexpr std::size_t kMostBytes = 4 * protocol::kMaxKeptFileBytes;

/// A path must be absolute and in normal form, so that each file has one name.
void check_path(const std::string& path) {
  if (path.size() <= protocol::kMaxPath && path.starts_with('/') && path.find('\0') == std::string::npos &&
      protocol::absolute_path(path, "/") == path)
    return;
  throw RuleBroken("the path of a program's file has " + std::to_string(path.size()) +
                   " bytes; it must be absolute, in normal form, and have at most " +
                   std::to_string(protocol::kMaxPath) + " bytes");
}

}  // namespace

ProgramFiles::Text ProgramFiles::text_of(protocol::ProgramFile&& file) {
  Text& text = kept_[file.digest];
  if (text != nullptr) return text;
  if (file.text.empty() && file.digest != protocol::digest_of("")) {
    kept_.erase(file.digest);
    throw RuleBroken("the text of a program's file is neither in the message nor known from an earlier one");
  }
  const std::size_t size = file.text.size();
  if (bytes_->fetch_add(size) + size > kMostBytes)
    throw RuleBroken("the files of the session's programs have more than " +
                     std::to_string(kMostBytes / protocol::kMiB) + " MiB, which is the limit");
  // The client's digest is not verified: it identifies the text only in this session, and caches use the
  // text.
  text = Text(new std::string(file.text.begin(), file.text.end()),
              [bytes = bytes_, size](const std::string* old) {
                *bytes -= size;
                delete old;
              });
  return text;
}

void ProgramFiles::take(protocol::ProgramFiles&& message) {
  if (message.id == 0 || sets_.contains(message.id))
    throw RuleBroken("ProgramFiles with the id " + std::to_string(message.id) +
                     ", which must be new and not 0");
  if (message.files.size() > protocol::kMaxProgramFiles)
    throw RuleBroken("a program with " + std::to_string(message.files.size()) + " files; the limit is " +
                     std::to_string(protocol::kMaxProgramFiles));
  if (sets_.size() >= kMostSets)
    throw RuleBroken("the files of " + std::to_string(kMostSets) +
                     " builds, which is the limit, already wait for these builds");
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
  if (found == sets_.end()) throw RuleBroken("there are no ProgramFiles with the id " + std::to_string(id));
  auto set = std::move(found->second);
  sets_.erase(found);
  return set;
}

}  // namespace clique::daemon
