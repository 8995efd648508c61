#include "protocol/streams/ucx_message.hpp"

#include <algorithm>

#include "protocol/streams/bytes.hpp"

namespace clique::protocol {

namespace {
/// Offsets in a message's header.
enum UcxHeaderAt : std::size_t { kChannel = 0, kNumber = 8, kRecord = 16, kTag = 48 };
static_assert(kRecord + RecordHeader::kBytes == kTag);
static_assert(kTag + std::tuple_size_v<RecordTag> == UcxHeader::kBytes);
}  // namespace

UcxHeader::Message UcxHeader::encode() const {
  Message message{};
  put_number(channel, message.data() + kChannel);
  put_number(number, message.data() + kNumber);
  std::copy(record.begin(), record.end(), message.begin() + kRecord);
  std::ranges::transform(tag, message.begin() + kTag, [](std::uint8_t byte) { return std::byte{byte}; });
  return message;
}

UcxHeader UcxHeader::decode(std::span<const std::byte, kBytes> message) {
  UcxHeader header;
  header.channel = get_number<std::uint64_t>(message.data() + kChannel);
  header.number = get_number<std::uint64_t>(message.data() + kNumber);
  std::copy_n(message.begin() + kRecord, header.record.size(), header.record.begin());
  std::transform(message.begin() + kTag, message.end(), header.tag.begin(), std::to_integer<std::uint8_t>);
  return header;
}

bool UcxArrivals::add(std::uint64_t number, const UcxRecord& record) {
  if (number < next_ || number - next_ >= kMost) return false;
  return waiting_.emplace(number, record).second;
}

UcxRecord UcxArrivals::take() {
  const UcxRecord record = waiting_.begin()->second;
  waiting_.erase(waiting_.begin());
  ++next_;
  return record;
}

std::vector<void*> UcxArrivals::clear() {
  std::vector<void*> data;
  for (const auto& [number, record] : waiting_)
    if (record.data != nullptr) data.push_back(record.data);
  waiting_.clear();
  return data;
}

}  // namespace clique::protocol
