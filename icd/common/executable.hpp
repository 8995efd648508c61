#pragma once

#include <unistd.h>

#include <filesystem>
#include <system_error>

namespace clique::icd {

/// True if the path is a file that this process may execute.
inline bool is_executable(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace clique::icd
