#pragma once

#include <cerrno>
#include <system_error>

namespace clique {

/// Throws std::system_error for the error of a system call that has just failed.
/// @param call its name
[[noreturn]] inline void throw_errno(const char* call) {
  throw std::system_error(errno, std::generic_category(), call);
}

/// What an errno means.
inline std::string error_text(int error) {
  return std::generic_category().message(error);
}

}  // namespace clique
