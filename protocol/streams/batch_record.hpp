// A batch as a record of a stream. protocol/README.md describes the layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "protocol/batch.hpp"
#include "protocol/payload.hpp"
#include "protocol/streams/record.hpp"
#include "protocol/transport/incoming.hpp"

namespace clique::protocol {

/// A record that is to be sent. Payloads are referred to, not copied.
struct OutgoingRecord {
  /// Moves the batch's payloads and copies its records. Throws std::length_error if it is larger than
  /// kMaxBatchRecord.
  static OutgoingRecord of(Batch& batch);
  /// A record without payload.
  static OutgoingRecord of(const RecordHeader& header);

  RecordHeader::Message header{};
  std::vector<std::byte> head = {};           ///< the sizes and the records
  std::vector<Payload> payloads = {};         ///< of the batch
  std::size_t size() const { return size_; }  ///< bytes of `head` and `payloads`

 private:
  std::size_t size_ = 0;
};

/// Reads the payload of a record of RecordHeader::Kind::Batch. Throws DecodeError.
/// @param owner keeps `bytes` alive
Incoming read_batch(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

}  // namespace clique::protocol
