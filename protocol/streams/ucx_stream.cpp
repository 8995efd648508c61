#include "protocol/streams/ucx_stream.hpp"

#include <algorithm>
#include <array>

#include "protocol/decode_error.hpp"

namespace clique::protocol {

namespace {

/// What a part without payload carries: only a message with data waits until the other end wants it, and
/// parts must not pile up there.
constexpr std::array<std::byte, 1> kNothing{};

/// Bytes that UCX carries for the payload of a record.
std::size_t data_size(const RecordHeader& header) {
  const bool part = header.kind == RecordHeader::Kind::Part;
  return part ? std::max<std::size_t>(header.size, kNothing.size()) : 0;
}

}  // namespace

UcxStream::~UcxStream() = default;

void UcxStream::meet() {
  auto channel = UcxChannel::open(socket());
  const std::vector<std::byte> own = channel->address();
  Stream::send(RecordHeader::address(static_cast<std::uint32_t>(own.size())), own);
  const RecordHeader header = Stream::receive_header();
  if (header.kind != RecordHeader::Kind::Address)
    throw DecodeError("a connection through UCX that does not begin with an address");
  std::vector<std::byte> address(header.size);
  Stream::receive_payload(header, address.data());
  channel->connect(address);
  const std::lock_guard lock(mutex_);
  if (shut_) throw StreamClosed();
  channel_ = std::move(channel);
  met_.notify_all();
}

UcxChannel& UcxStream::channel() {
  std::unique_lock lock(mutex_);
  if (!met_.wait_for(lock, kStreamPatience, [this] { return channel_ || shut_; }))
    throw StreamBroken("the other end has not told its address for UCX");
  if (shut_) throw StreamClosed();
  return *channel_;
}

void UcxStream::send(const RecordHeader& header, std::span<const std::byte> payload) {
  UcxChannel& to = channel();
  const std::lock_guard lock(sending());
  send_sealed(to, header, payload);
}

bool UcxStream::try_send(const RecordHeader& header) {
  UcxChannel& to = channel();
  const std::unique_lock lock(sending(), std::try_to_lock);
  if (!lock) return false;
  send_sealed(to, header, {});
  return true;
}

void UcxStream::send_sealed(UcxChannel& to, const RecordHeader& header, std::span<const std::byte> payload) {
  const RecordHeader::Message head = header.encode();
  RecordTag tag{};
  if (auto& sealer = ciphers().sealer) {
    sealer->begin(head);
    if (seals_payloads()) {
      sealed_payload_.resize(std::max(sealed_payload_.size(), payload.size()));
      if (!payload.empty()) sealer->transform(payload, sealed_payload_.data());
      payload = std::span(sealed_payload_).first(payload.size());
    }
    tag = sealer->seal();
  }
  if (data_size(header) == 0)
    to.post(head, tag);
  else
    to.send(head, tag, payload.empty() ? kNothing : payload);
}

RecordHeader UcxStream::receive_header() {
  try {
    // Only this thread sets it.
    if (!channel_) meet();
    record_ = channel_->next();
  } catch (...) {
    shut();
    throw;
  }
  try {
    if (auto& opener = ciphers().opener; opener && !seals_payloads()) {
      opener->begin(record_.header);
      opener->verify(record_.tag);
    }
    const RecordHeader header = RecordHeader::decode(record_.header);
    if (header.kind == RecordHeader::Kind::Address) throw DecodeError("a second address for UCX");
    if (record_.size != data_size(header))
      throw DecodeError("a record with " + std::to_string(record_.size) + " bytes through UCX instead of " +
                        std::to_string(data_size(header)));
    return header;
  } catch (const std::exception&) {
    channel_->drop(record_);
    throw;
  }
}

void UcxStream::receive_payload(const RecordHeader& header, std::byte* to) {
  std::array<std::byte, kNothing.size()> nothing{};
  const std::span payload(to, header.size);
  channel_->receive(record_, header.size == 0 ? std::span<std::byte>(nothing).first(record_.size) : payload);
  if (!seals_payloads()) return;
  auto& opener = ciphers().opener;
  opener->begin(record_.header);
  if (!payload.empty()) opener->transform(payload, to);
  opener->verify(record_.tag);
}

bool UcxStream::more() const {
  return channel_->more();
}

void UcxStream::shut() const {
  Stream::shut();
  const std::lock_guard lock(mutex_);
  shut_ = true;
  met_.notify_all();
  if (channel_) channel_->shut();
}

}  // namespace clique::protocol
