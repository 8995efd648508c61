// How requests and results travel between the worker and clique-compiler: over a stream socket, each as a
// 4-byte size followed by one msgpack record.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <stdexcept>

#include "protocol/codec.hpp"

namespace clique::daemon::compiler {

/// The other process has closed the connection, or the record exceeds the size limit.
class ConnectionLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The deadline passed before the whole record was transferred.
class TimedOut : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using Deadline = std::chrono::steady_clock::time_point;
inline constexpr Deadline kNoDeadline = Deadline::max();

/// Sends or receives one record of at most 1 GiB. Both block until it is transferred completely. Both throw
/// ConnectionLost and TimedOut; std::system_error if poll() fails.
void send_record(int socket, std::span<const char> record, Deadline deadline = kNoDeadline);
protocol::Bytes receive_record(int socket, Deadline deadline = kNoDeadline);

/// Throws protocol::DecodeError if the bytes are not one msgpack record within protocol::Limits.
msgpack::object_handle parse_record(std::span<const std::uint8_t> record);

/// Encodes a struct that declares CLIQUE_FIELDS as one record.
using protocol::encode;

/// The reverse of encode(). Throws protocol::DecodeError.
template <protocol::Fielded T>
T decode(std::span<const std::uint8_t> record) {
  return protocol::decode<T>(parse_record(record).get());
}

}  // namespace clique::daemon::compiler
