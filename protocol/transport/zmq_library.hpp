// ZeroMQ's library, opened at run time: programs that reach their devices over streams need neither it nor
// what it brings along, such as Kerberos. zmq_library.cpp defines those functions of zmq.h that Clique calls.
#pragma once

namespace clique::protocol {

/// Opens the library, once. Call this before the first function of zmq.h, most of which cannot fail.
/// Thread-safe. Throws std::runtime_error, which says what to install, if the library or a function is
/// missing.
void open_zmq_library();

}  // namespace clique::protocol
