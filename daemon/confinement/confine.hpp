// Puts up a process's walls: the only place that decides which ones a process gets.
#pragma once

#include "daemon/confinement/file_rules.hpp"
#include "daemon/confinement/wall.hpp"

namespace clique::daemon::confinement {

/// How a process was started, as far as it concerns namespaces.
enum class Start : std::uint8_t {
  WithoutNamespaces,  ///< it is meant to have none
  InNamespaces,       ///< with NewProcess::own_namespaces
  NamespacesRefused   ///< the kernel did not allow that
};

/// Whether processes of the role are to be started in namespaces of their own. Those that use CUDA are not:
/// the windows between GPUs need processes that see each other.
bool wants_namespaces(Role role);

/// Puts up the walls around this process, its threads and all that it starts, for ever. To be called first,
/// by the process itself, while it has one thread and has loaded no driver. Does nothing where `mode` is Off.
/// @returns the walls that the host cannot put up, of those that the role has
/// Throws std::runtime_error with the reason if `mode` is Required and one is missing.
MissingWalls confine(const FileNeeds& needs, Start start, Mode mode);

/// "WALL: REASON; WALL: REASON"
std::string to_text(const MissingWalls& missing);

}  // namespace clique::daemon::confinement
