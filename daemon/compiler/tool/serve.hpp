// clique-compiler as the worker's compile server.
#pragma once

#include <string>

namespace clique::daemon::compiler {

/// Answers the requests of a worker (client/compiler_process.hpp) until the worker closes the connection.
/// That ends this process at once, even while it compiles.
/// @param socket the connection, inherited from the worker
/// @param library_path as for DeviceLibrary
void serve(int socket, const std::string& library_path);

}  // namespace clique::daemon::compiler
