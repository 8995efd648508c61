// One connection of a line that carries batches.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "protocol/fd.hpp"
#include "protocol/streams/batch_record.hpp"
#include "protocol/streams/dial.hpp"
#include "protocol/streams/keys.hpp"
#include "protocol/streams/record.hpp"

namespace clique::protocol {

/// Whether a record has been arriving for too long, if so many of its bytes have come. The size in its header
/// is authentic only when all of it has arrived. If somebody on the way makes the size larger, the heartbeats
/// that follow count as the record's bytes: the other end seems alive, and the record does not end.
bool too_slow(std::chrono::nanoseconds arriving, std::size_t bytes);

/// Sends and receives records that carry batches, without waiting. One thread at a time sends, and one
/// receives.
class BatchConnection {
 public:
  /// Throws SecurityError.
  BatchConnection(Dialled connection, StreamEnd end);

  int fd() const { return socket_.get(); }

  /// Sends as much of a record as the system takes.
  /// @returns false if that is not all of it: the next call has to be for the same record, and goes on with
  /// it. Throws StreamBroken and SecurityError.
  bool send(const OutgoingRecord& record);
  /// Whether a record has been sent in part.
  bool sending() const { return begun_; }

  /// What has arrived.
  struct Record {
    RecordHeader::Kind kind = RecordHeader::Kind::Pulse;
    std::uint64_t received = 0;  ///< Received: the number
    Incoming batch = {};         ///< Batch
  };
  /// Receives the next record. @returns false if not all of it has arrived. Throws StreamBroken when the
  /// connection has ended, or the record is too slow; DecodeError; and SecurityError if the record is not
  /// authentic.
  bool receive(Record& record);
  /// Whether anything has arrived since the last call.
  bool heard() { return std::exchange(heard_, false); }

 private:
  bool send_plain(const OutgoingRecord& record);
  bool send_sealed(const OutgoingRecord& record);
  /// Encrypts the next piece of a record.
  void seal_piece(const OutgoingRecord& record);
  /// Sends bytes. @returns how many the system has taken.
  std::size_t write(std::span<const std::span<const std::byte>> pieces);

  /// Receives into memory. @returns how many bytes; 0: none has arrived
  std::size_t read(std::span<std::byte> to);
  /// Reads a header from `buffer_`. @returns false if not all of it has arrived.
  bool begin_record();
  /// Bytes of the present record that follow its header.
  std::size_t expected() const { return header_.size + (ciphers_.opener ? sizeof(RecordTag) : 0); }
  /// Takes bytes of the present record that are in `block_` from now on.
  void took(std::size_t bytes);
  void finish_record(Record& record);
  /// Notes that not all of the present record has arrived. Throws StreamBroken if it is too slow.
  void await_rest();

  const Fd socket_;
  ConnectionCiphers ciphers_;

  // For sending.
  bool begun_ = false;
  std::size_t sent_ = 0;  // bytes of the record, with its header, that were sent or encrypted
  std::vector<std::byte> sealed_;
  std::size_t sealed_sent_ = 0;
  bool tagged_ = false;  // the tag is in sealed_

  // For receiving.
  std::vector<std::byte> buffer_;  // what the system gave, from unread_ to filled_
  std::size_t unread_ = 0;
  std::size_t filled_ = 0;
  bool drained_ = false;  // the system had no more
  bool heard_ = false;
  bool in_record_ = false;
  RecordHeader::Message head_{};
  RecordHeader header_;
  std::shared_ptr<std::byte[]> block_;                            // of the present record
  std::size_t arrived_ = 0;                                       // bytes in it
  std::size_t opened_ = 0;                                        // of these, bytes that are decrypted
  std::optional<std::chrono::steady_clock::time_point> awaited_;  // since when its rest is awaited
};

}  // namespace clique::protocol
