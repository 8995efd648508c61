// One connection of a stream's line, after the handshake.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "protocol/fd.hpp"
#include "protocol/streams/dial.hpp"
#include "protocol/streams/keys.hpp"
#include "protocol/streams/record.hpp"
#include "protocol/tcp.hpp"

namespace clique::protocol {

/// How long a record may make no progress, and how long the other end may take to acknowledge a part. Then
/// the connection counts as broken: somebody on the way may have removed bytes.
inline constexpr std::chrono::seconds kStreamPatience{30};

/// Sets the options of a TCP socket: no delay of small messages, and an end within seconds if the other host
/// does not answer any more.
void set_stream_options(int socket);

/// Sends and receives records, through the connection itself, or as a derived class does it. One thread
/// receives, and any number send. They wait for the system.
class Stream {
 public:
  /// Throws StreamBroken and SecurityError.
  Stream(Dialled connection, StreamEnd end);
  virtual ~Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Whether payloads are encrypted, and authentic once receive_payload() has returned. Otherwise nothing
  /// protects them; headers may be authentic all the same.
  bool seals_payloads() const { return protocol::seals_payloads(ciphers_.sealing); }
  /// Whether receive_verified() can be called: payloads are sealed in pieces, or not at all.
  bool can_verify_first() const { return ciphers_.sealing != Sealing::Records; }

  /// Sends a record. Waits until the system has taken it. Throws StreamBroken and SecurityError.
  virtual void send(const RecordHeader& header, std::span<const std::byte> payload);
  /// Sends a record without payload, without waiting for another thread that sends, nor for the system.
  /// @returns false if another thread sends: it, or its caller, has to call this again. What the system has
  /// not taken is sent before the next record, or by flush(). Throws as send().
  virtual bool try_send(const RecordHeader& header);
  /// Whether try_send() has left something for flush().
  bool has_rest() const { return has_rest_.load(std::memory_order_relaxed); }
  /// Sends the rest. Waits until the system has taken it. Throws StreamBroken.
  virtual void flush();

  /// Waits for the next record's header. Throws StreamBroken and DecodeError, and SecurityError if headers
  /// have tags, and this one is not authentic. If records are sealed as a whole, it is not authentic until
  /// receive_payload() has returned.
  virtual RecordHeader receive_header();
  /// Receives the payload of that record, even if it is empty. Nothing in `to` may be used unless this
  /// returns. Throws StreamBroken, and SecurityError if the record is not authentic.
  virtual void receive_payload(const RecordHeader& header, std::byte* to);
  /// The same, but nothing is written to `to` that should be authentic and is not. If this throws, some of
  /// the payload may have been written.
  void receive_verified(const RecordHeader& header, std::byte* to);

  /// Whether another record has begun to arrive.
  virtual bool more() const;

  /// What the connection has carried lately when there was enough to send, in bytes per second, as the system
  /// measures it. Nothing if it does not know.
  virtual std::optional<double> rate() const;
  /// What the connection has carried. Nothing if the system does not know.
  virtual std::optional<Delivery> delivery() const;

  /// Ends the connection: all calls of other threads throw StreamBroken. Any thread.
  virtual void shut() const;

 protected:
  int socket() const { return socket_.get(); }
  /// The sealer under sending().
  ConnectionCiphers& ciphers() { return ciphers_; }
  /// Held while a record is sent.
  std::mutex& sending() { return sending_; }

 private:
  void write(std::span<const std::byte> first, std::span<const std::byte> second);
  /// @param idle nothing needs to come, unless some of it has
  void read(std::span<std::byte> first, std::span<std::byte> second, bool idle = false) const;
  void flush_rest();
  /// Sends the payload of the record that the sealer has begun.
  /// @param before is sent first
  void send_sealed(std::span<const std::byte> before, std::span<const std::byte> payload);
  /// Receives a piece that is sealed by itself, and decrypts it in place. Throws StreamBroken, and
  /// SecurityError if it is not authentic.
  void receive_piece(std::span<std::byte> piece);

  const Fd socket_;
  ConnectionCiphers ciphers_;      // the sealer under sending_
  std::mutex sending_;             // guards the members for sending
  std::vector<std::byte> sealed_;  // a piece of a payload, encrypted, and perhaps its tag
  std::vector<std::byte> rest_;    // of records that the system has not taken
  std::atomic<bool> has_rest_{false};
  RecordHeader::Message header_{};  // of the record that is being received
  std::vector<std::byte> piece_;    // of its payload, for receive_verified()
};

}  // namespace clique::protocol
