// Keys, handshakes and records of streams: the vectors of protocol/security.md, and what does not open.
#include "protocol/streams/keys.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <string>
#include <utility>

#include "protocol/decode_error.hpp"
#include "protocol/digest.hpp"
#include "protocol/limits.hpp"
#include "protocol/messages/transfers.hpp"
#include "protocol/security/public_key.hpp"
#include "protocol/streams/bytes.hpp"
#include "protocol/streams/handshake.hpp"
#include "protocol/streams/record.hpp"

namespace clique::protocol {
namespace {

template <typename Bytes>
std::string hex(const Bytes& bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const auto byte : bytes) {
    const auto value = static_cast<std::uint8_t>(byte);
    text += {kDigits[value >> 4U], kDigits[value & 15U]};
  }
  return text;
}

template <std::size_t N>
std::array<std::uint8_t, N> counting_from(std::uint8_t first) {
  std::array<std::uint8_t, N> bytes{};
  std::iota(bytes.begin(), bytes.end(), first);
  return bytes;
}

const auto kSecret = counting_from<kStreamKeyBytes>(0);
const auto kConnecting = counting_from<32>(0x20);
const auto kAccepting = counting_from<32>(0x40);
constexpr LineId kLine = 2;

StreamRequest request() {
  StreamRequest request;
  request.worker = counting_from<16>(0x60);
  request.cipher = StreamCipher::Aes256Gcm;
  request.attempt = 1;
  request.line = kLine;
  request.nonce = kConnecting;
  return request;
}

ConnectionKeys keys() {
  return derive_keys(kSecret, kConnecting, kAccepting, kLine, 1);
}

RecordHeader::Message header() {
  const std::string text = "clique";
  return RecordHeader::of({7, 1024, 0, {std::as_bytes(std::span(text)), nullptr}}).encode();
}

std::string sealed(RecordCipher& cipher, std::span<const std::byte> head) {
  const std::string text = "clique";
  std::array<std::byte, 6> encrypted{};
  cipher.begin(head);
  cipher.transform(std::as_bytes(std::span(text)), encrypted.data());
  return hex(encrypted) + hex(cipher.seal());
}

TEST(StreamKeys, AreThoseOfTheVectors) {
  EXPECT_EQ(hex(keys().to_worker), "5358570d10de4c0c8b7d67eb784ce15303720b722846a3c3868864e689d43241");
  EXPECT_EQ(hex(keys().from_worker), "76ccf7e1d7aa8f5c7e6a2ebe2c6af5b2811b916697433b6a2d532a2e46a85b6b");
}

TEST(StreamKeys, DifferForEachLineAttemptAndNonce) {
  const StreamKey key = keys().to_worker;
  EXPECT_NE(derive_keys(kSecret, kConnecting, kAccepting, kLine + 1, 1).to_worker, key);
  EXPECT_NE(derive_keys(kSecret, kConnecting, kAccepting, kLine, 2).to_worker, key);
  EXPECT_NE(derive_keys(kSecret, kAccepting, kConnecting, kLine, 1).to_worker, key);
  EXPECT_NE(derive_keys(kAccepting, kConnecting, kAccepting, kLine, 1).to_worker, key);
}

TEST(StreamHandshake, IsThatOfTheVectors) {
  EXPECT_EQ(hex(request().encode(kSecret)),
            "434c515354524d02fb9beb2af4e8d25292da812fd4f5d75520b66e825014dd4967faefaee044372c797f21ad97515c3e"
            "20212223"
            "2425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f59bca6bcfbdf415c2e28b91b73f6b3ed7904aa27"
            "d8db774b"
            "2a52ba35724b7fa7");
  StreamAnswer answer;
  answer.nonce = kAccepting;
  EXPECT_EQ(hex(answer.encode(kSecret, request())),
            "0000000000000000404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f2f3a233ee1475753"
            "db131630"
            "9c57b14aaa074923e1a9267892aaff3fc9951c75");
}

TEST(StreamHandshake, ReadsWhatItWrites) {
  StreamRequest sent = request();
  sent.role = StreamRequest::Role::Peer;
  sent.received = 1ULL << 40U;
  const auto message = sent.encode(kSecret);
  EXPECT_TRUE(StreamRequest::authentic(message, kSecret));
  EXPECT_EQ(StreamRequest::worker_of(message), sent.worker);
  const auto read = StreamRequest::decode(message);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->role, sent.role);
  EXPECT_EQ(read->cipher, sent.cipher);
  EXPECT_EQ(read->attempt, sent.attempt);
  EXPECT_EQ(read->line, sent.line);
  EXPECT_EQ(read->received, sent.received);
  EXPECT_EQ(read->nonce, sent.nonce);
}

TEST(StreamHandshake, ShowsNothingThatItsSenderChooses) {
  StreamRequest wanted = request();
  const std::string text = "\nFLUSHALL\nQUIT\n\n";
  std::copy_n(text.begin(), wanted.worker.size(), wanted.worker.begin());
  wanted.line = get_number<LineId>("PASSWORD");
  wanted.received = get_number<std::uint64_t>("USERNAME");
  const auto message = wanted.encode(kSecret);
  const std::string bytes(message.begin(), message.end());
  for (const char* chosen : {"FLUSHALL", "PASSWORD", "USERNAME"})
    EXPECT_EQ(bytes.find(chosen), std::string::npos);
  // Another nonce masks all of it in another way.
  wanted.nonce = kAccepting;
  const auto other = wanted.encode(kSecret);
  constexpr std::size_t kBegin = 8;
  constexpr std::size_t kEnd = 48;
  std::size_t same = 0;
  for (std::size_t i = kBegin; i < kEnd; ++i) same += message[i] == other[i] ? 1 : 0;
  EXPECT_LT(same, (kEnd - kBegin) / 4);
}

TEST(StreamHandshake, RefusesEveryChangedBit) {
  const auto message = request().encode(kSecret);
  StreamAnswer answer;
  answer.nonce = kAccepting;
  const auto answered = answer.encode(kSecret, request());
  for (std::size_t bit = 0; bit < 8 * message.size(); ++bit) {
    auto changed = message;
    changed[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
    EXPECT_FALSE(StreamRequest::decode(changed) && StreamRequest::authentic(changed, kSecret)) << bit;
  }
  for (std::size_t bit = 0; bit < 8 * answered.size(); ++bit) {
    auto changed = answered;
    changed[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
    EXPECT_FALSE(StreamAnswer::decode(changed, kSecret, request())) << bit;
  }
  StreamRequest other = request();
  other.nonce = kAccepting;
  EXPECT_FALSE(StreamAnswer::decode(answered, kSecret, other)) << "an answer to another request";
}

TEST(StreamRecords, AreThoseOfTheVectors) {
  EXPECT_EQ(hex(header()), "0100000000000006000000000000000000000000000000070000000000000400");
  RecordCipher aes(StreamCipher::Aes256Gcm, keys().to_worker, RecordCipher::Direction::Seal);
  EXPECT_EQ(sealed(aes, header()), "973d67c1407acb5c1ccd8529ff6cec0c423b9f22866c");
  EXPECT_EQ(sealed(aes, header()), "ab58d21b437a61e0f84694894fbf8cb7cc17876e348b");
  RecordCipher chacha(StreamCipher::ChaCha20Poly1305, keys().to_worker, RecordCipher::Direction::Seal);
  EXPECT_EQ(sealed(chacha, header()), "21fd245cda7f7f180d872cca8c7a673f5e431fae592c");
  EXPECT_EQ(sealed(chacha, header()), "62b7003c6ad3668b631a15ff3e0ad1c469695d2dac54");
}

/// A record whose header and payload are sealed by themselves: the header's tag, the payload, and its tag.
std::string sealed_piece(RecordCipher& cipher, const RecordHeader::Message& head) {
  cipher.begin(head);
  const std::string tag = hex(cipher.seal());
  return tag + sealed(cipher, {});
}

/// The tag of a record whose header alone is sealed.
std::string sealed_header(RecordCipher& cipher, const RecordHeader::Message& head) {
  cipher.begin(head);
  return hex(cipher.seal());
}

TEST(StreamCiphers, AreThoseThatBothEndsKnow) {
  using Content = StreamRequest::Content;
  for (const Encryption encryption : {Encryption::None, Encryption::Commands, Encryption::All}) {
    for (const Content content : {Content::Parts, Content::Batches, Content::UcxParts}) {
      for (const KnownCiphers known : {KnownCiphers{}, {true, false}, {true, true}}) {
        const StreamCipher cipher = StreamRequest::cipher_for(encryption, content, known);
        EXPECT_TRUE(StreamRequest::accepts(encryption, content, cipher));
        EXPECT_EQ(seals_payloads(sealing(cipher)), StreamRequest::encrypts(encryption, content));
      }
    }
  }
  const KnownCiphers all{.headers = true, .pieces = true};
  const StreamCipher pieces = StreamRequest::cipher_for(Encryption::All, Content::Parts, all);
  EXPECT_EQ(sealing(pieces), Sealing::Pieces);
  EXPECT_FALSE(StreamRequest::accepts(Encryption::All, Content::Batches, pieces));
  EXPECT_FALSE(StreamRequest::accepts(Encryption::All, Content::UcxParts, pieces));
  EXPECT_FALSE(StreamRequest::accepts(Encryption::Commands, Content::Parts, pieces));
  EXPECT_FALSE(StreamRequest::accepts(Encryption::None, Content::Parts, pieces));
  const StreamCipher headers = StreamRequest::cipher_for(Encryption::Commands, Content::Parts, all);
  EXPECT_EQ(sealing(headers), Sealing::Headers);
  EXPECT_FALSE(StreamRequest::accepts(Encryption::All, Content::Parts, headers));
  EXPECT_FALSE(StreamRequest::accepts(Encryption::Commands, Content::Batches, headers));
  EXPECT_FALSE(StreamRequest::accepts(Encryption::None, Content::Parts, headers));
  EXPECT_FALSE(StreamRequest::accepts(Encryption::Commands, Content::Parts, StreamCipher::Aes256Gcm));
}

TEST(StreamVectors, AreThoseOfTheProtocolsPage) {
  std::ifstream file(CLIQUE_SOURCE_DIR "/protocol/security.md");
  // Numbers are divided there, by spaces and lines.
  std::string page;
  for (std::string word; file >> word;) page += word;
  const auto has = [&page](const std::string& name, const std::string& value) {
    EXPECT_NE(page.find(name + value), std::string::npos) << name << " " << value;
  };
  StreamAnswer answer;
  answer.nonce = kAccepting;
  has("request", hex(request().encode(kSecret)));
  has("answer", hex(answer.encode(kSecret, request())));
  has("to", hex(keys().to_worker));
  has("from", hex(keys().from_worker));
  has("header", hex(header()));
  for (const auto& [name, cipher] :
       {std::pair{"AES", StreamCipher::Aes256Gcm}, {"ChaCha20", StreamCipher::ChaCha20Poly1305}}) {
    RecordCipher sealer(cipher, keys().to_worker, RecordCipher::Direction::Seal);
    const std::string first = sealed(sealer, header());
    has(name, first + sealed(sealer, header()));
  }
  for (const auto& [name, cipher] : {std::pair{"AESalone", StreamCipher::Aes256GcmHeaders},
                                     {"ChaCha20alone", StreamCipher::ChaCha20Poly1305Headers}}) {
    RecordCipher sealer(cipher, keys().to_worker, RecordCipher::Direction::Seal);
    const std::string first = sealed_header(sealer, header());
    has(name, first + sealed_header(sealer, header()));
  }
  for (const auto& [name, cipher] : {std::pair{"AESpieces", StreamCipher::Aes256GcmPieces},
                                     {"ChaCha20pieces", StreamCipher::ChaCha20Poly1305Pieces}}) {
    RecordCipher sealer(cipher, keys().to_worker, RecordCipher::Direction::Seal);
    const std::string first = sealed_piece(sealer, header());
    has(name, first + sealed_piece(sealer, header()));
  }
}

/// Seals two records, and opens one of them.
class StreamRecordsOf : public testing::TestWithParam<StreamCipher> {
 protected:
  struct Record {
    RecordHeader::Message head;
    std::array<std::byte, 6> payload;
    RecordTag tag;
  };
  Record seal(const RecordHeader::Message& head) {
    const std::string text = "clique";
    Record record{head, {}, {}};
    sealer_.begin(head);
    sealer_.transform(std::as_bytes(std::span(text)), record.payload.data());
    record.tag = sealer_.seal();
    return record;
  }
  std::string open(Record record, const StreamKey& key = keys().to_worker) {
    RecordCipher opener(GetParam(), key, RecordCipher::Direction::Open);
    opener.begin(record.head);
    opener.transform(record.payload, record.payload.data());
    opener.verify(record.tag);
    return {reinterpret_cast<const char*>(record.payload.data()), record.payload.size()};
  }

  RecordCipher sealer_{GetParam(), keys().to_worker, RecordCipher::Direction::Seal};
};

TEST_P(StreamRecordsOf, OpenUnchangedAndInOrderOnly) {
  const Record first = seal(header());
  const Record second = seal(header());
  EXPECT_EQ(open(first), "clique");
  EXPECT_THROW(open(second), SecurityError) << "a record was removed, or two were exchanged";
  EXPECT_THROW(open(first, keys().from_worker), SecurityError) << "a record of the other direction";
  EXPECT_THROW(open(first, derive_keys(kSecret, kConnecting, kAccepting, kLine + 1, 1).to_worker),
               SecurityError)
      << "a record of another line";
  for (std::size_t i = 0; i < first.head.size(); ++i) {
    Record changed = first;
    changed.head[i] ^= std::byte{1};
    EXPECT_THROW(open(changed), SecurityError) << "byte " << i << " of the header";
  }
  for (std::size_t i = 0; i < first.payload.size(); ++i) {
    Record changed = first;
    changed.payload[i] ^= std::byte{1};
    EXPECT_THROW(open(changed), SecurityError) << "byte " << i << " of the payload";
  }
  for (std::size_t i = 0; i < first.tag.size(); ++i) {
    Record changed = first;
    changed.tag[i] ^= 1U;
    EXPECT_THROW(open(changed), SecurityError) << "byte " << i << " of the tag";
  }
}

INSTANTIATE_TEST_SUITE_P(Ciphers, StreamRecordsOf,
                         testing::Values(StreamCipher::Aes256Gcm, StreamCipher::ChaCha20Poly1305),
                         [](const auto& cipher) {
                           return cipher.param == StreamCipher::Aes256Gcm ? "Aes256Gcm" : "ChaCha20Poly1305";
                         });

TEST(StreamRecords, RefuseUnknownKindsAndLargePayloads) {
  RecordHeader::Message unknown = header();
  unknown[0] = std::byte{9};
  EXPECT_THROW(RecordHeader::decode(unknown), DecodeError);
  RecordHeader large;
  large.size = kMaxPayload;
  EXPECT_EQ(RecordHeader::decode(large.encode()).size, kMaxPayload);
  large.size = kMaxPayload + 1;
  EXPECT_THROW(RecordHeader::decode(large.encode()), DecodeError);
  RecordHeader received = RecordHeader::received(5);
  EXPECT_EQ(RecordHeader::decode(received.encode()).transfer, 5U);
  received.size = 1;
  EXPECT_THROW(RecordHeader::decode(received.encode()), DecodeError);
}

}  // namespace
}  // namespace clique::protocol
