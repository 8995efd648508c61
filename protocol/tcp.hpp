#pragma once

#include <chrono>
#include <cstdint>
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

/// What a connection has carried since it was made, as the system counts it.
struct Delivery {
  std::uint64_t acknowledged = 0;     ///< bytes that the other end's system has
  std::uint64_t repeated = 0;         ///< bytes that were sent again
  std::chrono::microseconds busy{0};  ///< for how long there were bytes that were not acknowledged
  /// For how long no more could be under way because the buffers of the two ends were full.
  std::chrono::microseconds held{0};
  /// The shortest round trip of late, which no queue on the way has made longer.
  std::chrono::microseconds round_trip{0};
};
/// Nothing if the system does not know, or the socket is not TCP's.
std::optional<Delivery> delivery(int socket);

}  // namespace clique::protocol
