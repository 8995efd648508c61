#pragma once

#include <string>

namespace clique::daemon::compiler {

/// Answers a worker's requests (compiler_process.hpp) until it closes the connection, which ends this process
/// even in the middle of one.
/// @param socket inherited from the worker
/// @param library_path as for DeviceLibrary
void serve(int socket, const std::string& library_path);

}  // namespace clique::daemon::compiler
