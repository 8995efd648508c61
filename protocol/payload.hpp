// The two kinds of raw bytes in messages: short ones that are copied, and bulk data that is not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace clique::protocol {

/// Raw bytes; a BIN of msgpack.
using Bytes = std::vector<std::uint8_t>;

/// Bulk data. Up to kInlinePayload bytes travel inside the message as a BIN. More travel behind the records
/// of the batch, and the field is NIL, so that they are neither copied nor parsed.
struct Payload {
  std::span<const std::byte> bytes;
  /// Keeps `bytes` alive. Empty if the sender's caller guarantees their lifetime in another way.
  std::shared_ptr<const void> owner;
};

}  // namespace clique::protocol
