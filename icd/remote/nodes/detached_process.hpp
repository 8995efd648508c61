// Starting a program that is not a child of this process.
#pragma once

#include <string>
#include <vector>

namespace clique::icd {

/// Starts a program without the application noticing. The program is not a child of this process and is in a
/// process group of its own. It has the default signal handling, /dev/null as standard input and output, and
/// the environment of this process without LD_PRELOAD. It inherits two descriptors: standard error, and
/// `inherited` as number kInheritedFd.
/// @param path the executable; arguments[0] is the program's name.
/// Throws std::system_error.
void start_detached(const std::string& path, std::vector<std::string> arguments, int inherited);

/// The number of the inherited descriptor in the started program.
inline constexpr int kInheritedFd = 3;

}  // namespace clique::icd
