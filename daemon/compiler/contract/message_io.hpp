// How requests and results travel between the worker and clique-compiler: over a stream socket, each as its
// size (4 bytes) and one msgpack record.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <stdexcept>

#include "protocol/codec.hpp"

namespace clique::daemon::compiler {

/// The other side is gone.
class ConnectionLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The time is over.
class TimedOut : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using Deadline = std::chrono::steady_clock::time_point;
inline constexpr Deadline kNoDeadline = Deadline::max();

/// Both throw ConnectionLost and TimedOut.
void send_record(int socket, std::span<const char> record, Deadline deadline = kNoDeadline);
protocol::Bytes receive_record(int socket, Deadline deadline = kNoDeadline);

/// Throws protocol::DecodeError where the record is none.
msgpack::object_handle parse_record(std::span<const std::uint8_t> record);

template <protocol::Fielded T>
msgpack::sbuffer encode(const T& value) {
  msgpack::sbuffer record;
  msgpack::packer packer(record);
  std::vector<protocol::Payload> payloads;
  protocol::detail::Encoder{packer, payloads}(value);
  return record;
}

/// Throws protocol::DecodeError.
template <protocol::Fielded T>
T decode(std::span<const std::uint8_t> record) {
  const msgpack::object_handle parsed = parse_record(record);
  std::span<const protocol::Payload> no_frames;
  const std::shared_ptr<const void> no_owner;
  T value;
  protocol::detail::Decoder{no_frames, no_owner}(parsed.get(), value);
  return value;
}

}  // namespace clique::daemon::compiler
