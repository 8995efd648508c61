// Walls: the mechanisms that confine a process of a session to what belongs to the session.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace clique::daemon::confinement {

/// What a process does. Its role determines its rights.
enum class Role : std::uint8_t {
  OpenClWorker,  ///< uses an OpenCL driver, which on CPUs runs kernels as native code in this process
  CudaWorker,    ///< runs kernels on a GPU, and starts the compiler
  Compiler,      ///< clique-compiler, which parses what clients send
  Probe          ///< lists the node's devices
};

/// One mechanism.
enum class Wall : std::uint8_t {
  Privileges,  ///< no capabilities, not even by starting a program
  Limits,      ///< no core dumps; the OOM killer prefers the process to the daemon
  Processes,   ///< sees only processes that it has started
  Files,       ///< sees only the files that it needs
  FileRights,  ///< may read, write and execute these files only as needed
  Network,     ///< has no network but the connections that it is handed
  SystemCalls  ///< cannot use system calls that it does not need
};

/// All walls, in the order in which they are set up.
inline constexpr Wall kWalls[] = {Wall::Limits,     Wall::Processes, Wall::Files,      Wall::Privileges,
                                  Wall::FileRights, Wall::Network,   Wall::SystemCalls};

/// What a worker has of the network.
enum class Network : std::uint8_t {
  HandedOver,  ///< the connections that it is handed, and UNIX sockets
  FixedPeers,  ///< the same, and whoever hands connections over has fixed their peers (fixed_peer.hpp)
  Own          ///< also sockets that it makes itself; it has no wall of this kind
};

/// The name that users see, and a description with the mechanism.
std::string_view name_of(Wall wall);
std::string_view description_of(Wall wall);
/// What the host's administrator can do if the wall is missing, for users.
std::string_view remedy_of(Wall wall);

/// A wall that the host lacks.
struct MissingWall {
  Wall wall = Wall::Privileges;
  std::string reason;  ///< for users
};
using MissingWalls = std::vector<MissingWall>;

/// Whether processes get walls.
enum class Mode : std::uint8_t {
  Off,
  On,       ///< all that the host supports
  Required  ///< all; if one is missing, the process does not start
};

/// "off", "on" or "required".
std::string_view name_of(Mode mode);
/// Parses such a name. Throws std::invalid_argument.
Mode parse_mode(std::string_view text);
/// The value of CLIQUE_CONFINEMENT, which cliqued sets for the processes that it starts; On if it is not set.
/// Throws std::invalid_argument.
Mode mode_of_environment();

}  // namespace clique::daemon::confinement
