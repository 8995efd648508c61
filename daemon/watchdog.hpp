// Ends the worker where its main thread cannot: a call of the device's driver may wait for a kernel that
// never ends.
#pragma once

#include <array>

namespace clique::daemon {

/// Ends the process a few seconds after one of these sockets was closed, however busy the main thread is. Any
/// thread; returns at once.
/// @param sockets descriptors of the client's connections. Whoever owns them closes them when they are lost.
void end_with_connections(const std::array<int, 2>& sockets);

/// Ends the process in a few seconds, in which the main thread may do it in better order. Any thread; returns
/// at once.
void end_soon();

}  // namespace clique::daemon
