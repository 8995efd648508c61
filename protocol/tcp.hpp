#pragma once

#include <chrono>
#include <optional>

namespace clique::protocol {

/// Has TCP send small messages without delay, and end the connection if the other host does not answer.
/// @param interval between two probes of a silent connection, and before the first one
/// @param silence how long sent data may stay without acknowledgement
void notice_lost_host(int socket, std::chrono::seconds interval, int probes,
                      std::chrono::milliseconds silence);

/// The round trip of a connection, as the system measures it; 0: unknown.
std::chrono::microseconds round_trip(int socket);

/// What a connection has carried lately when there was enough to send, in bytes per second, as the system
/// measures it. Nothing if it does not know, or the socket is not TCP's.
std::optional<double> delivery_rate(int socket);

}  // namespace clique::protocol
