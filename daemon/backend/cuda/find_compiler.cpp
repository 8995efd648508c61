#include "daemon/backend/cuda/find_compiler.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace clique::daemon::cuda {

namespace {

constexpr const char* kName = "clique-compiler";

bool is_program(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::string find_compiler() {
  if (const char* path = std::getenv("CLIQUE_COMPILER"); path != nullptr && *path != '\0')
    return is_program(path) ? path : "";
  std::error_code error;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  if (!error)
    for (const char* place : {"compiler", ".", "../libexec/clique", "../lib/clique"})
      if (const auto path = folder / place / kName; is_program(path)) return path.lexically_normal();
  if (const char* path = std::getenv("PATH")) {
    std::istringstream folders(path);
    for (std::string one; std::getline(folders, one, ':');)
      if (const auto candidate = std::filesystem::path(one) / kName; !one.empty() && is_program(candidate))
        return candidate;
  }
  return {};
}

}  // namespace clique::daemon::cuda
