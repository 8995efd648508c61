#include "daemon/compiler/client/cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "daemon/common/caches.hpp"
#include "daemon/common/environment.hpp"
#include "protocol/fd.hpp"

namespace clique::daemon::compiler {

namespace {

namespace fs = std::filesystem;

/// Precedes the content in an entry's file.
struct Header {
  std::array<char, 8> magic{'C', 'L', 'Q', 'C', 'A', 'C', 'H', '2'};
  CacheKey key;
  std::uint64_t size = 0;
  std::uint64_t checksum = 0;
};

Header header_of(const CacheKey& key, std::span<const std::uint8_t> bytes) {
  Header header;
  header.key = key;
  header.size = bytes.size();
  header.checksum = XXH3_64bits(bytes.data(), bytes.size());
  return header;
}

/// Entries are spread over 256 folders.
std::string path_of(const std::string& folder, const CacheKey& key) {
  const std::string name = key.text();
  return folder + "/" + name.substr(0, 2) + "/" + name.substr(2);
}

std::optional<protocol::Bytes> read_all(int fd) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) return std::nullopt;
  protocol::Bytes bytes(static_cast<std::size_t>(status.st_size));
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::read(fd, bytes.data() + done, bytes.size() - done);
    if (got <= 0) return std::nullopt;
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

bool write_all(int fd, const void* bytes, std::size_t size) {
  const char* at = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t put = ::write(fd, at, size);
    if (put <= 0) return false;
    at += put;
    size -= static_cast<std::size_t>(put);
  }
  return true;
}

std::string folder_from_environment() {
  if (environment("CLIQUE_CACHE") == "0") return {};
  if (auto folder = environment("CLIQUE_CACHE_DIR").value_or(""); !folder.empty()) return folder;
  const fs::path root = user_cache_folder();
  return root.empty() ? "" : (root / "clique/programs").string();
}

struct File {
  fs::path path;
  fs::file_time_type used;
  std::uint64_t size = 0;
};

/// All files in the folder. Temporary files of writers that died are included, so that they are removed when
/// they are old enough.
std::vector<File> files_in(const std::string& folder) {
  std::vector<File> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code vanished;
    if (!at->is_regular_file(vanished)) continue;
    File file{at->path(), at->last_write_time(vanished), 0};
    if (vanished) continue;
    file.size = at->file_size(vanished);
    if (!vanished) files.push_back(std::move(file));
  }
  return files;
}

}  // namespace

CacheKeyBuilder& CacheKeyBuilder::add(std::string_view part) {
  return add(std::span(reinterpret_cast<const std::uint8_t*>(part.data()), part.size()));
}

CacheKeyBuilder& CacheKeyBuilder::add(std::span<const std::uint8_t> part) {
  const std::uint64_t size = part.size();
  digest_.add({reinterpret_cast<const std::uint8_t*>(&size), sizeof size}).add(part);
  return *this;
}

Cache::Cache(std::string folder, std::uint64_t limit) : folder_(std::move(folder)), limit_(limit) {}

Cache Cache::from_environment() {
  return Cache(folder_from_environment(), cache_limit());
}

std::optional<protocol::Bytes> Cache::get(const CacheKey& key) const {
  if (folder_.empty()) return std::nullopt;
  const std::string path = path_of(folder_, key);
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;
  auto bytes = read_all(file.get());
  if (!bytes) return std::nullopt;
  Header header;
  if (bytes->size() >= sizeof header) {
    const Header wanted = header_of(key, std::span(*bytes).subspan(sizeof header));
    if (std::memcmp(bytes->data(), &wanted, sizeof wanted) == 0) {
      // The modification time records the last use.
      ::futimens(file.get(), nullptr);
      bytes->erase(bytes->begin(), bytes->begin() + sizeof header);
      return bytes;
    }
  }
  ::unlink(path.c_str());
  return std::nullopt;
}

void Cache::put(const CacheKey& key, std::span<const std::uint8_t> bytes) {
  if (folder_.empty() || bytes.size() > limit_ / 4) return;
  const std::string path = path_of(folder_, key);
  const fs::path parent = fs::path(path).parent_path();
  std::error_code error;
  if (fs::create_directories(parent, error) && !error) {
    // Only the owner may read the programs.
    fs::permissions(folder_, fs::perms::owner_all, error);
  }
  std::string temporary = parent / "new-XXXXXX";
  const Fd file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file) return;
  const Header header = header_of(key, bytes);
  const bool written =
      write_all(file.get(), &header, sizeof header) && write_all(file.get(), bytes.data(), bytes.size());
  // Renaming is atomic: readers see all of the entry or nothing.
  if (!written || ::rename(temporary.c_str(), path.c_str()) != 0) {
    ::unlink(temporary.c_str());
    return;
  }
  used_ += sizeof header + bytes.size();
  if (!counted_ || used_ > limit_) make_room();
}

void Cache::make_room() {
  std::vector<File> files = files_in(folder_);
  used_ = 0;
  counted_ = true;
  for (const File& file : files) used_ += file.size;
  if (used_ <= limit_) return;
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.used < b.used; });
  // Removes more than needed, so that not every new entry starts this again.
  for (const File& file : files) {
    if (used_ <= limit_ - limit_ / 8) break;
    std::error_code error;
    fs::remove(file.path, error);
    used_ -= file.size;
  }
}

}  // namespace clique::daemon::compiler
