#include "protocol/streams/record.hpp"

#include <string>

#include "protocol/decode_error.hpp"
#include "protocol/limits.hpp"
#include "protocol/messages/transfers.hpp"
#include "protocol/streams/bytes.hpp"

namespace clique::protocol {

namespace {
/// Offsets in a header. The bytes between are 0.
enum HeaderAt : std::size_t { kKind = 0, kSize = 4, kStatus = 8, kTransfer = 16, kOffset = 24 };
}  // namespace

RecordHeader RecordHeader::of(const PeerData& part) {
  return {Kind::Part, static_cast<std::uint32_t>(part.data.bytes.size()), part.status, part.transfer,
          part.offset};
}

RecordHeader RecordHeader::received(std::uint64_t count) {
  return {Kind::Received, 0, 0, count, 0};
}

RecordHeader RecordHeader::batch(std::uint32_t size) {
  return {Kind::Batch, size, 0, 0, 0};
}

RecordHeader RecordHeader::pulse() {
  return {Kind::Pulse, 0, 0, 0, 0};
}

RecordHeader::Message RecordHeader::encode() const {
  Message message{};
  message[kKind] = static_cast<std::byte>(kind);
  put_number(size, message.data() + kSize);
  put_number(status, message.data() + kStatus);
  put_number(transfer, message.data() + kTransfer);
  put_number(offset, message.data() + kOffset);
  return message;
}

RecordHeader RecordHeader::decode(const Message& message) {
  RecordHeader header;
  header.kind = static_cast<Kind>(message[kKind]);
  header.size = get_number<std::uint32_t>(message.data() + kSize);
  header.status = get_number<std::int32_t>(message.data() + kStatus);
  header.transfer = get_number<CommandId>(message.data() + kTransfer);
  header.offset = get_number<std::uint64_t>(message.data() + kOffset);
  const auto most = [&]() -> std::size_t {
    switch (header.kind) {
      case Kind::Part:
        return kMaxPayload;
      case Kind::Batch:
        return kMaxBatchRecord;
      case Kind::Received:
      case Kind::Pulse:
        return 0;
    }
    throw DecodeError("a record of the unknown kind " + std::to_string(std::to_integer<int>(message[kKind])));
  };
  if (header.size > most())
    throw DecodeError("a record with a payload of " + std::to_string(header.size) + " bytes");
  return header;
}

}  // namespace clique::protocol
