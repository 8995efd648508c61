#pragma once

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace clique::daemon::confinement {

/// Throws std::runtime_error, with a message for users, for a system call that has just failed.
[[noreturn]] inline void throw_failure(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

}  // namespace clique::daemon::confinement
