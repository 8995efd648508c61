// What travels on a stream after the handshake: records, each a header of fixed size and perhaps a payload.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "protocol/ids.hpp"
#include "protocol/limits.hpp"

namespace clique::protocol {

struct PeerData;

/// Encryption goes over a record in pieces of this size, in bytes: each is still in the core's cache when it
/// is copied. Sealing::Pieces gives each a tag, so that the other end has to know this size.
inline constexpr std::size_t kSealedPiece = 128 * kKiB;

struct RecordHeader {
  enum class Kind : std::uint8_t {
    Part = 1,      ///< PeerData
    Received = 2,  ///< this many parts, or batches, have arrived since the line began (`transfer`)
    Batch = 3,     ///< a batch (batch_record.hpp)
    Pulse = 4,     ///< nothing: the other end is alive
    Address = 5,   ///< where the sender is reached through UCX; the first record, and only there
  };
  static constexpr std::size_t kBytes = 32;
  using Message = std::array<std::byte, kBytes>;

  /// How the payload of a part is compressed.
  enum class Packing : std::uint8_t { None = 0, Lz4 = 1, Zstd = 2 };

  Kind kind = Kind::Part;
  Packing packing = Packing::None;
  std::uint32_t size = 0;  ///< bytes of the payload; at most kMaxPayload, kMaxBatchRecord or kMaxUcxAddress
  std::uint32_t content = 0;  ///< bytes to which a compressed payload expands; at most kMaxPayload
  std::int32_t status = 0;
  CommandId transfer = 0;
  std::uint64_t offset = 0;

  static RecordHeader of(const PeerData& part);
  /// The header of the same part with a compressed payload of `size` bytes.
  RecordHeader packed(Packing how, std::size_t packed_size) const;
  /// The header of the part as it was before it was compressed.
  RecordHeader unpacked() const;
  static RecordHeader received(std::uint64_t count);
  static RecordHeader batch(std::uint32_t size);
  static RecordHeader pulse();
  static RecordHeader address(std::uint32_t size);

  Message encode() const;
  /// Throws DecodeError.
  static RecordHeader decode(const Message& message);
};

}  // namespace clique::protocol
