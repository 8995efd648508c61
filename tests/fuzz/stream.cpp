// Streams: the handshake, from both sides, and records over a real connection, sealed or not.
#include "protocol/streams/stream.hpp"

#include <sys/socket.h>

#include <array>
#include <cstring>
#include <optional>
#include <span>

#include "protocol/decode_error.hpp"
#include "protocol/limits.hpp"
#include "protocol/messages/transfers.hpp"
#include "protocol/security/public_key.hpp"
#include "protocol/streams/batch_connection.hpp"
#include "protocol/streams/batch_record.hpp"
#include "protocol/streams/packing.hpp"
#include "protocol/streams/ucx_message.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace clique::fuzz::target_stream {
namespace {

using namespace clique::protocol;

const std::array<std::uint8_t, kStreamKeyBytes> kSecret{1, 2, 3};
const std::array<std::uint8_t, kStreamKeyBytes> kOther{3, 2, 1};

void shake_hands(std::string_view input) {
  StreamRequest::Message request{};
  std::copy_n(input.begin(), std::min(input.size(), request.size()), request.begin());
  const auto decoded = StreamRequest::decode(request);
  if (decoded) {
    auto again = decoded->encode(kSecret);
    require(std::equal(again.begin(), again.end() - std::tuple_size_v<StreamMac>, request.begin()),
            "a request is the same after a round trip");
    require(StreamRequest::worker_of(request) == decoded->worker, "the gate reads the same worker");
    require(StreamRequest::authentic(again, kSecret), "a request is authentic if its maker knows the secret");
  }
  StreamAnswer::Message answer{};
  std::copy_n(input.begin(), std::min(input.size(), answer.size()), answer.begin());
  require(!StreamAnswer::decode(answer, kOther, StreamRequest{}), "nobody answers without the secret");
}

/// A connection on which the input arrives, and which ends then. @returns nothing if there is none
std::optional<Dialled> connection_with(std::string_view input, StreamCipher cipher) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return std::nullopt;
  Fd here(ends[0]);
  const Fd there(ends[1]);
  if (::send(there.get(), input.data(), input.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) return std::nullopt;
  return Dialled{std::move(here), cipher, ConnectionKeys{}, 0};
}

/// Receives the input as parts of large transfers.
void receive_parts(std::string_view input, StreamCipher cipher) {
  auto connection = connection_with(input, cipher);
  if (!connection) return;
  Stream stream(std::move(*connection), StreamEnd::Accepting);
  std::vector<std::byte> payload;
  try {
    for (;;) {
      const RecordHeader header = stream.receive_header();
      if (header.kind == RecordHeader::Kind::Batch) return;
      require(header.size <= kMaxPayload, "a payload has a limit");
      require(RecordHeader::decode(header.encode()).size == header.size, "a header is the same again");
      payload.resize(std::max<std::size_t>(payload.size(), header.size));
      require(!tags_headers(sealing(cipher)), "a sealed header needs the key");
      stream.receive_payload(header, payload.data());
      require(cipher == StreamCipher::None, "a sealed record needs the key");
      if (header.packing == RecordHeader::Packing::None) continue;
      require(header.content <= kMaxPayload, "a content has a limit");
      std::vector<std::byte> content(header.content);
      unpack(header.packing, std::span(payload).first(header.size), content);
    }
  } catch (const StreamBroken&) {
  } catch (const DecodeError&) {
  } catch (const SecurityError&) {
  }
}

/// Receives the input as batches.
void receive_batches(std::string_view input, StreamCipher cipher) {
  auto connection = connection_with(input, cipher);
  if (!connection) return;
  BatchConnection line(std::move(*connection), StreamEnd::Accepting);
  try {
    for (BatchConnection::Record record; line.receive(record);) {
      require(cipher == StreamCipher::None, "a sealed record needs the key");
      std::size_t bytes = record.batch.records.size();
      for (const Payload& frame : record.batch.frames) bytes += frame.bytes.size();
      require(bytes <= input.size(), "a batch is made of what has arrived");
    }
  } catch (const StreamBroken&) {
  } catch (const DecodeError&) {
  } catch (const SecurityError&) {
  }
}

/// Receives the input as the headers of UCX's messages, in the order in which they come.
void receive_through_ucx(std::string_view input) {
  UcxArrivals arrivals;
  std::uint64_t taken = 0;
  for (; input.size() >= UcxHeader::kBytes; input.remove_prefix(UcxHeader::kBytes)) {
    UcxHeader::Message message{};
    std::memcpy(message.data(), input.data(), message.size());
    const UcxHeader header = UcxHeader::decode(message);
    require(header.encode() == message, "a header is the same after a round trip");
    if (!arrivals.add(header.number, {header.record, header.tag, 0, nullptr})) return;
    for (; arrivals.ready(); ++taken) arrivals.take();
    require(taken <= header.number + UcxArrivals::kMost, "records are taken once");
  }
}

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  StreamRequest request;
  request.attempt = 1;
  const auto asked = request.encode(kSecret);
  all.emplace_back(asked.begin(), asked.end());
  const auto answered = StreamAnswer{}.encode(kSecret, request);
  all.emplace_back(answered.begin(), answered.end());
  RecordHeader part;
  part.size = 3;
  std::string records(text_of(part.encode()));
  records += "abc";
  records += text_of(RecordHeader::received(7).encode());
  all.push_back(records);
  const std::string data(3000, 'x');
  Packer packer;
  const std::string large(8 * kKiB, 'y');
  part.size = static_cast<std::uint32_t>(large.size());
  const Packer::Packed packed = packer.pack(bytes_of(large), 1e6);
  require(!packed.bytes.empty(), "equal bytes are compressed");
  all.emplace_back(text_of(part.packed(packed.packing, packed.bytes.size()).encode()));
  all.back() += text_of(packed.bytes);
  UcxHeader first;
  first.record = RecordHeader::received(7).encode();
  UcxHeader second = first;
  second.number = 1;
  all.emplace_back(text_of(second.encode()));
  all.back() += text_of(first.encode());
  Batch batch;
  batch.add(PeerData{7, 0, 0, {std::as_bytes(std::span(data)), nullptr}});
  const OutgoingRecord record = OutgoingRecord::of(batch);
  std::string sent(text_of(record.header));
  sent += text_of(record.head);
  sent += data;
  sent += text_of(RecordHeader::pulse().encode());
  all.push_back(sent);
  return all;
}

void test(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  shake_hands(input);
  receive_through_ucx(input);
  for (const StreamCipher cipher : {StreamCipher::None, StreamCipher::ChaCha20Poly1305}) {
    receive_parts(input, cipher);
    receive_batches(input, cipher);
  }
  receive_parts(input, StreamCipher::ChaCha20Poly1305Headers);
  receive_parts(input, StreamCipher::ChaCha20Poly1305Pieces);
}

const Registration kTarget{"stream", seeds, test};

}  // namespace
}  // namespace clique::fuzz::target_stream
