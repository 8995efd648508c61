#include "icd/core/programs/included_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <utility>

#include "icd/common/object.hpp"
#include "icd/remote/link/link.hpp"
#include "protocol/batch.hpp"
#include "protocol/fd.hpp"
#include "protocol/limits.hpp"
#include "protocol/messages/programs.hpp"
#include "protocol/sources/include_tree.hpp"

namespace clique::icd {

namespace {

/// The content of a regular file; nothing if it cannot be read.
std::optional<std::string> read_file(const std::string& path) {
  // The path may name a pipe, which must not block, or a terminal, which must not become the controlling one.
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (static_cast<std::uint64_t>(status.st_size) > protocol::kMaxProgramFileBytes)
    throw protocol::TooMuchIncluded("'" + path + "', which the program includes, has " +
                                    std::to_string(status.st_size) +
                                    " bytes; the limit for all included files is " +
                                    std::to_string(protocol::kMaxProgramFileBytes) + " bytes");
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + done, text.size() - done);
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  // The file may have shrunk meanwhile.
  text.resize(done);
  return text;
}

}  // namespace

IncludedFiles find_included_files(std::string_view source, std::string_view options,
                                  const std::map<std::string, std::string_view, std::less<>>& headers,
                                  const std::string& folder) {
  std::map<std::string, std::optional<std::string>> read;
  const protocol::OpenFile open = [&read](const std::string& path) -> std::optional<std::string_view> {
    const auto [file, is_new] = read.try_emplace(path);
    if (is_new) file->second = read_file(path);
    if (!file->second) return std::nullopt;
    return *file->second;
  };
  const auto texts = protocol::include_tree({source, options, folder, headers}, open);
  IncludedFiles result{folder, {}};
  for (const protocol::SourceText& text : texts) {
    if (text.path.empty() || text.header) continue;
    std::string& content = read[text.path].value();
    const protocol::Digest digest = protocol::digest_of(content);
    result.files.push_back({text.path, std::move(content), digest});
  }
  return result;
}

std::string working_directory() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::current_path(error);
  // A folder that was removed has no path.
  return error || !folder.is_absolute() ? "/" : folder.string();
}

protocol::ObjectId post_files(Link& link, KnownTexts& known, const IncludedFiles& files) {
  if (files.files.empty()) return 0;
  protocol::ProgramFiles message{next_id(), false, files.folder, {}};
  link.compose([&](protocol::Batch& batch) {
    std::size_t bytes = 0;
    for (const IncludedFiles::File& file : files.files)
      if (!known.digests.contains(file.digest)) bytes += file.text.size();
    if (known.bytes + bytes > protocol::kMaxKeptFileBytes) {
      message.forget = true;
      known = {};
    }
    for (const IncludedFiles::File& file : files.files) {
      protocol::ProgramFile sent{file.path, file.digest, {}};
      if (known.digests.insert(file.digest).second) {
        sent.text.assign(file.text.begin(), file.text.end());
        known.bytes += file.text.size();
      }
      message.files.push_back(std::move(sent));
    }
    batch.add(message);
  });
  return message.id;
}

}  // namespace clique::icd
