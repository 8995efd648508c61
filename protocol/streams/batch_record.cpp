#include "protocol/streams/batch_record.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "protocol/decode_error.hpp"
#include "protocol/limits.hpp"
#include "protocol/streams/bytes.hpp"

namespace clique::protocol {

namespace {

/// What precedes the records: the number of payloads, the size of the records, and the size of each payload.
using Number = std::uint32_t;
constexpr std::size_t kFixed = 2 * sizeof(Number);

}  // namespace

OutgoingRecord OutgoingRecord::of(Batch& batch) {
  OutgoingRecord record;
  const auto records = batch.records();
  record.payloads = std::move(batch.payloads());
  const std::size_t sizes = kFixed + record.payloads.size() * sizeof(Number);
  record.head.resize(sizes + records.size());
  std::byte* at = record.head.data();
  put_number(static_cast<Number>(record.payloads.size()), at);
  put_number(static_cast<Number>(records.size()), at + sizeof(Number));
  at += kFixed;
  record.size_ = record.head.size();
  for (const Payload& payload : record.payloads) {
    put_number(static_cast<Number>(payload.bytes.size()), at);
    at += sizeof(Number);
    record.size_ += payload.bytes.size();
  }
  std::copy(records.begin(), records.end(), at);
  batch.clear();
  if (record.size_ > kMaxBatchRecord)
    throw std::length_error("a batch of " + std::to_string(record.size_) + " bytes is too large to be sent");
  record.header = RecordHeader::batch(static_cast<std::uint32_t>(record.size_)).encode();
  return record;
}

OutgoingRecord OutgoingRecord::of(const RecordHeader& header) {
  OutgoingRecord record;
  record.header = header.encode();
  return record;
}

Incoming read_batch(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  const auto malformed = [] { return DecodeError("a record whose batch does not have the sizes it states"); };
  if (bytes.size() < kFixed) throw malformed();
  const std::size_t payloads = get_number<Number>(bytes.data());
  const std::size_t records = get_number<Number>(bytes.data() + sizeof(Number));
  if (payloads > Limits::kFrames || records > Limits::kBatchBytes)
    throw DecodeError("a batch of " + std::to_string(records) + " bytes with " + std::to_string(payloads) +
                      " payloads");
  bytes = bytes.subspan(kFixed);
  if (bytes.size() < payloads * sizeof(Number) + records) throw malformed();
  const std::byte* size = bytes.data();
  bytes = bytes.subspan(payloads * sizeof(Number));
  Incoming incoming;
  incoming.records = bytes.first(records);
  bytes = bytes.subspan(records);
  incoming.frames.reserve(payloads);
  for (std::size_t i = 0; i < payloads; ++i, size += sizeof(Number)) {
    const std::size_t length = get_number<Number>(size);
    if (length > bytes.size()) throw malformed();
    incoming.frames.push_back({bytes.first(length), owner});
    bytes = bytes.subspan(length);
  }
  if (!bytes.empty()) throw malformed();
  incoming.owner = std::move(owner);
  return incoming;
}

}  // namespace clique::protocol
