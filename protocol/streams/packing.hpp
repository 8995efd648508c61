// Compression of the parts of large transfers, where that is faster than sending them as they are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "protocol/streams/record.hpp"

namespace clique::protocol {

/// Whether this process compresses what it sends. It expands what it receives in any case.
enum class Compression : std::uint8_t {
  None,
  Auto,    ///< where that is faster
  Always,  ///< whatever shrinks, also where that is slower; for tests
};

/// Decides for each part that a connection sends whether to compress it, and how. It knows what a byte costs
/// on the connection, what compressing a byte has cost lately, and how much smaller that made it, and takes
/// what is expected to be fastest. Where the data does not shrink, it tries again rarely. Not thread-safe.
class Packer {
 public:
  using Packing = RecordHeader::Packing;
  struct Packed {
    Packing packing = Packing::None;
    std::span<const std::byte> bytes;  ///< valid until the next call
  };

  /// @param content of a part
  /// @param rate what the connection carries, in bytes per second; nothing: not known, then nothing is
  /// compressed
  /// @returns Packing::None, without bytes, if the content is to be sent as it is
  Packed pack(std::span<const std::byte> content, std::optional<double> rate);

 private:
  /// What is known of one way to compress.
  struct Way {
    Packing packing;
    double cost;                 ///< nanoseconds per byte of content
    double ratio;                ///< compressed by content; 1: it does not shrink
    std::uint32_t pause = 0;     ///< parts to go before it is tried again though it does not pay
    std::uint32_t failures = 0;  ///< attempts in a row that did not pay
  };

  /// Compresses, and learns from it. @returns the size; 0: it did not shrink enough
  std::size_t compress(Way& way, std::span<const std::byte> content);

  // What they cost on a processor of 2020 with data that shrinks by half.
  std::array<Way, 2> ways_{Way{Packing::Lz4, 2.0, 0.5}, Way{Packing::Zstd, 4.0, 0.4}};
  std::vector<std::byte> buffer_;
  double rate_ = 0;  ///< the fastest of late
};

/// Expands a compressed payload to exactly `content` bytes at `to`. Throws DecodeError if it is not one of
/// that size; then the bytes at `to` are undefined.
void unpack(RecordHeader::Packing packing, std::span<const std::byte> payload, std::span<std::byte> to);

}  // namespace clique::protocol
