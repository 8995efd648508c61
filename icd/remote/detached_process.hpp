// Starting a program that is nobody's child.
#pragma once

#include <string>
#include <vector>

namespace clique::icd {

/// Starts a program so that the application does not notice: not as a child of this process, in a process
/// group of its own, with the default signal handling, without standard input and output, without what
/// LD_PRELOAD names, and with no descriptor of ours but standard error and `inherited`, which it has as
/// number kInheritedFd.
/// @param path of the executable; arguments[0] is its name.
/// Throws std::system_error.
void start_detached(const std::string& path, std::vector<std::string> arguments, int inherited);

inline constexpr int kInheritedFd = 3;

}  // namespace clique::icd
