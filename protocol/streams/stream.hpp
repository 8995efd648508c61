// One connection of a stream's line, after the handshake.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "protocol/fd.hpp"
#include "protocol/streams/handshake.hpp"
#include "protocol/streams/keys.hpp"
#include "protocol/streams/record.hpp"

namespace clique::protocol {

/// A connection has ended, or could not be made. Another one may do.
class StreamBroken : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How long a record may make no progress, and how long the other end may take to acknowledge a part. Then
/// the connection counts as broken: somebody on the way may have removed bytes.
inline constexpr std::chrono::seconds kStreamPatience{30};

/// Sets the options of a TCP socket: no delay of small messages, and an end within seconds if the other host
/// does not answer any more.
void set_stream_options(int socket);

/// Sends and receives records. One thread receives, and any number send.
class Stream {
 public:
  /// Which end this process is.
  enum class End : std::uint8_t { Connecting, Accepting };

  /// @param socket connected, after the handshake
  /// Throws SecurityError.
  Stream(Fd socket, End end, StreamCipher cipher, const ConnectionKeys& keys);

  bool sealed() const { return sealer_.has_value(); }

  /// Sends a record. Waits until the system has taken it. Throws StreamBroken and SecurityError.
  void send(const RecordHeader& header, std::span<const std::byte> payload);
  /// Sends a record without payload, without waiting for another thread that sends, nor for the system.
  /// @returns false if another thread sends: it, or its caller, has to call this again. What the system has
  /// not taken is sent before the next record, or by flush(). Throws as send().
  bool try_send(const RecordHeader& header);
  /// Whether try_send() has left something for flush().
  bool has_rest() const { return has_rest_.load(std::memory_order_relaxed); }
  /// Sends the rest. Waits until the system has taken it. Throws StreamBroken.
  void flush();

  /// Waits for the next record's header. Throws StreamBroken and DecodeError. If records are sealed, it is
  /// not authentic until receive_payload() has returned.
  RecordHeader receive_header();
  /// Receives the payload of that record, even if it is empty. Nothing in `to` may be used unless this
  /// returns. Throws StreamBroken, and SecurityError if the record is not authentic.
  void receive_payload(const RecordHeader& header, std::byte* to);

  /// Whether another record has begun to arrive.
  bool more() const;

  /// Ends the connection: all calls of other threads throw StreamBroken. Any thread.
  void shut() const;

 private:
  void write(std::span<const std::byte> first, std::span<const std::byte> second);
  /// @param idle nothing needs to come, unless some of it has
  void read(std::byte* to, std::size_t size, bool idle = false) const;
  void flush_rest();

  const Fd socket_;
  std::mutex sending_;  // guards the members for sending
  std::optional<RecordCipher> sealer_;
  std::vector<std::byte> sealed_;  // a record's payload and tag, encrypted
  std::vector<std::byte> rest_;    // of records that the system has not taken
  std::atomic<bool> has_rest_{false};
  std::optional<RecordCipher> opener_;
  RecordHeader::Message header_{};  // of the record that is being received
};

/// A connection that this process has made, and the number of parts that the worker has received on the line.
struct DialledStream {
  std::unique_ptr<Stream> stream;
  std::uint64_t received = 0;
};

/// Connects to a daemon's port and does the handshake with a worker there.
/// @param endpoint tcp://HOST:PORT
/// @param request names the worker, the role, the line and what has been received; its cipher and nonce are
/// set here
/// @param secret Pass::stream_key
/// @param stop looked at several times a second: true gives up
/// Throws StreamBroken and SecurityError.
DialledStream dial_stream(const std::string& endpoint, StreamRequest request, bool encrypt,
                          std::span<const std::uint8_t> secret, const std::function<bool()>& stop);

/// The worker's side of the handshake, for a request that is authentic: answers it. Throws StreamBroken and
/// SecurityError.
/// @param received parts of the line that this end has received
std::unique_ptr<Stream> accept_stream(Fd socket, const StreamRequest& request,
                                      std::span<const std::uint8_t> secret, std::uint64_t received);

}  // namespace clique::protocol
