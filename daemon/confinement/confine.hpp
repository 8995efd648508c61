// Sets up the walls of a process. This is the only place that decides which walls a process gets.
#pragma once

#include "daemon/confinement/file_rules.hpp"
#include "daemon/confinement/wall.hpp"

namespace clique::daemon::confinement {

/// Whether a process was started in namespaces of its own.
enum class Start : std::uint8_t {
  WithoutNamespaces,  ///< no: its role has none
  InNamespaces,       ///< yes: with NewProcess::own_namespaces
  NamespacesRefused   ///< no: the kernel did not allow it
};

/// Whether processes of this role are started in namespaces of their own. Processes that use CUDA are not,
/// because windows between GPUs need processes that see each other.
bool wants_namespaces(Role role);

/// Sets up the walls of the calling process. They also hold for its threads and for all programs it starts,
/// and cannot be removed. Call this first, while the process has one thread and has loaded no driver. Does
/// nothing if `mode` is Off.
/// @param network of a worker; other roles have none
/// @returns the walls of this role that the host lacks
/// Throws std::runtime_error with the reason if `mode` is Required and a wall is missing.
MissingWalls confine(const FileNeeds& needs, Start start, Mode mode, Network network = Network::HandedOver);

/// "WALL: REASON; WALL: REASON"
std::string to_text(const MissingWalls& missing);

}  // namespace clique::daemon::confinement
