// What keeps a process of a session away from everything that is not its session's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace clique::daemon::confinement {

/// What a process does, which decides what it may do.
enum class Role : std::uint8_t {
  OpenClWorker,  ///< runs kernels as native code in its own process, where the driver is one for processors
  CudaWorker,    ///< runs kernels on a GPU, and starts the compiler
  Compiler,      ///< clique-compiler, which reads what clients write
  Probe          ///< lists the node's devices
};

/// One kind of protection.
enum class Wall : std::uint8_t {
  Privileges,  ///< no capabilities, and none by starting a program
  Limits,      ///< no core dumps; ended before the daemon when memory is short
  Processes,   ///< sees no process but those that it has started
  Files,       ///< sees no files but those that it needs
  FileRights,  ///< reads, writes and starts only the files that it needs, in the ways that it needs
  SystemCalls  ///< cannot use system calls that it does not need
};

/// In the order in which they are put up.
inline constexpr Wall kWalls[] = {Wall::Limits,     Wall::Processes,  Wall::Files,
                                  Wall::Privileges, Wall::FileRights, Wall::SystemCalls};

/// The name for users, and what the wall consists of.
std::string_view name_of(Wall wall);
std::string_view description_of(Wall wall);

/// A wall that the process does without.
struct MissingWall {
  Wall wall = Wall::Privileges;
  std::string reason;  ///< for users
};
using MissingWalls = std::vector<MissingWall>;

/// Whether processes get walls.
enum class Mode : std::uint8_t {
  Off,
  On,       ///< those that the host can put up
  Required  ///< all; without one of them a process does not start
};

/// "off", "on" or "required".
std::string_view name_of(Mode mode);
/// Reads such a name. Throws std::invalid_argument.
Mode parse_mode(std::string_view text);
/// What CLIQUE_CONFINEMENT says, which cliqued sets for the processes that it starts; On if it is not set.
/// Throws std::invalid_argument.
Mode mode_of_environment();

}  // namespace clique::daemon::confinement
