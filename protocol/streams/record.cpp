#include "protocol/streams/record.hpp"

#include <string>

#include "protocol/decode_error.hpp"
#include "protocol/limits.hpp"
#include "protocol/messages/transfers.hpp"
#include "protocol/streams/bytes.hpp"

namespace clique::protocol {

namespace {
/// Offsets in a header. The bytes between are 0.
enum HeaderAt : std::size_t {
  kKind = 0,
  kPacking = 1,
  kSize = 4,
  kStatus = 8,
  kExpanded = 12,
  kTransfer = 16,
  kOffset = 24
};
}  // namespace

RecordHeader RecordHeader::of(const PeerData& part) {
  RecordHeader header;
  header.size = static_cast<std::uint32_t>(part.data.bytes.size());
  header.status = part.status;
  header.transfer = part.transfer;
  header.offset = part.offset;
  return header;
}

RecordHeader RecordHeader::packed(Packing how, std::size_t packed_size) const {
  RecordHeader header = *this;
  header.packing = how;
  header.content = size;
  header.size = static_cast<std::uint32_t>(packed_size);
  return header;
}

RecordHeader RecordHeader::unpacked() const {
  RecordHeader header = *this;
  if (packing == Packing::None) return header;
  header.packing = Packing::None;
  header.size = content;
  header.content = 0;
  return header;
}

RecordHeader RecordHeader::received(std::uint64_t count) {
  RecordHeader header;
  header.kind = Kind::Received;
  header.transfer = count;
  return header;
}

RecordHeader RecordHeader::batch(std::uint32_t size) {
  RecordHeader header;
  header.kind = Kind::Batch;
  header.size = size;
  return header;
}

RecordHeader RecordHeader::pulse() {
  RecordHeader header;
  header.kind = Kind::Pulse;
  return header;
}

RecordHeader RecordHeader::address(std::uint32_t size) {
  RecordHeader header;
  header.kind = Kind::Address;
  header.size = size;
  return header;
}

RecordHeader::Message RecordHeader::encode() const {
  Message message{};
  message[kKind] = static_cast<std::byte>(kind);
  message[kPacking] = static_cast<std::byte>(packing);
  put_number(size, message.data() + kSize);
  put_number(content, message.data() + kExpanded);
  put_number(status, message.data() + kStatus);
  put_number(transfer, message.data() + kTransfer);
  put_number(offset, message.data() + kOffset);
  return message;
}

RecordHeader RecordHeader::decode(const Message& message) {
  RecordHeader header;
  header.kind = static_cast<Kind>(message[kKind]);
  header.packing = static_cast<Packing>(message[kPacking]);
  header.size = get_number<std::uint32_t>(message.data() + kSize);
  header.content = get_number<std::uint32_t>(message.data() + kExpanded);
  header.status = get_number<std::int32_t>(message.data() + kStatus);
  header.transfer = get_number<CommandId>(message.data() + kTransfer);
  header.offset = get_number<std::uint64_t>(message.data() + kOffset);
  const auto most = [&]() -> std::size_t {
    switch (header.kind) {
      case Kind::Part:
        return kMaxPayload;
      case Kind::Batch:
        return kMaxBatchRecord;
      case Kind::Address:
        return kMaxUcxAddress;
      case Kind::Received:
      case Kind::Pulse:
        return 0;
    }
    throw DecodeError("a record of the unknown kind " + std::to_string(std::to_integer<int>(message[kKind])));
  };
  if (header.size > most())
    throw DecodeError("a record with a payload of " + std::to_string(header.size) + " bytes");
  const bool packed = header.packing != Packing::None;
  if (header.packing > Packing::Zstd || (packed && header.kind != Kind::Part))
    throw DecodeError("a record with the unknown compression " +
                      std::to_string(std::to_integer<int>(message[kPacking])));
  // Compressed parts are smaller, so that none is worth more memory than its sender has given for it.
  if (packed ? header.content <= header.size || header.content > kMaxPayload : header.content != 0)
    throw DecodeError("a record whose " + std::to_string(header.size) + " bytes expand to " +
                      std::to_string(header.content));
  return header;
}

}  // namespace clique::protocol
