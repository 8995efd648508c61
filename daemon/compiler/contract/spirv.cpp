#include "daemon/compiler/contract/spirv.hpp"

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <sstream>

#include "daemon/common/environment.hpp"

namespace clique::daemon::compiler {

namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kSpirvMagic = 0x07230203;
constexpr std::size_t kHeaderWords = 5;

/// Major version of clique-compiler's LLVM, which reads bitcode of its own and older versions.
constexpr int kLatestTranslator = 19;
/// Older translators lack options that clique-compiler uses.
constexpr int kOldestTranslator = 14;

/// Where to look for programs if PATH is not set.
constexpr const char* kDefaultPath = "/usr/local/bin:/usr/bin:/bin";

std::string find_program(const std::string& name) {
  std::istringstream folders(environment("PATH").value_or(kDefaultPath));
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string candidate = fs::path(folder) / name;
    std::error_code error;
    if (!folder.empty() && fs::is_regular_file(candidate, error) && ::access(candidate.c_str(), X_OK) == 0)
      return candidate;
  }
  return {};
}

std::string find_path() {
  if (const auto path = environment("CLIQUE_SPIRV_TRANSLATOR")) return *path;
  for (int version = kLatestTranslator; version >= kOldestTranslator; --version)
    if (auto path = find_program("llvm-spirv-" + std::to_string(version)); !path.empty()) return path;
  return find_program("llvm-spirv");
}

}  // namespace

bool is_spirv(std::span<const std::uint8_t> bytes) {
  const std::size_t words = bytes.size() / sizeof(std::uint32_t);
  const auto word = [&](std::size_t index) {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes.data() + index * sizeof value, sizeof value);
    return value;
  };
  if (bytes.size() % sizeof(std::uint32_t) != 0 || words < kHeaderWords || word(0) != kSpirvMagic)
    return false;
  for (std::size_t at = kHeaderWords; at < words;) {
    const std::size_t count = word(at) >> 16U;
    if (count == 0 || count > words - at) return false;
    at += count;
  }
  return true;
}

std::optional<SpirvTranslator> find_spirv_translator() {
  const std::string path = find_path();
  std::error_code error;
  const std::string file = fs::canonical(path, error).string();
  if (error || ::access(file.c_str(), X_OK) != 0) return std::nullopt;
  return SpirvTranslator{path,
                         file + " " + std::to_string(fs::file_size(file, error)) + " " +
                             std::to_string(fs::last_write_time(file, error).time_since_epoch().count())};
}

}  // namespace clique::daemon::compiler
