#include "protocol/streams/handshake.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "protocol/streams/bytes.hpp"

namespace clique::protocol {

namespace {

/// The last byte is the version of this layout.
constexpr std::array<std::uint8_t, 8> kMagic{StreamRequest::kFirstByte, 'L', 'Q', 'S', 'T', 'R', 'M', 2};

/// Offsets in a request.
enum RequestAt : std::size_t {
  kWorker = 8,
  kRole = 24,
  kCipher = 25,
  kContent = 26,
  kReserved = 27,
  kAttempt = 28,
  kLine = 32,
  kReceived = 40,
  kNonce = 48,
  kMac = 80
};
static_assert(kMac + std::tuple_size_v<StreamMac> == StreamRequest::kBytes);

/// Offsets in an answer.
enum AnswerAt : std::size_t { kAnswerNonce = 8, kAnswerMac = 40 };
static_assert(kAnswerMac + std::tuple_size_v<StreamMac> == StreamAnswer::kBytes);

/// Masks what the request says, or unmasks it. Where a daemon makes the connection, its worker chooses that,
/// and the nonce is the daemon's: the worker cannot have the daemon send bytes of its choice to a service
/// that understands them.
void apply_mask(StreamRequest::Message& message) {
  const auto nonce = std::span<const std::uint8_t>(message).subspan(kNonce, sizeof(StreamNonce));
  StreamMac mask{};
  for (std::size_t at = kWorker; at < kNonce; ++at) {
    const std::size_t place = (at - kWorker) % mask.size();
    const auto block = static_cast<std::uint8_t>((at - kWorker) / mask.size());
    if (place == 0) mask = authenticate(nonce, std::span(&block, 1));
    message[at] ^= mask[place];
  }
}

/// What a received request says; nothing if it is no request of this layout.
std::optional<StreamRequest::Message> unmasked(StreamRequest::Message message) {
  if (!std::equal(kMagic.begin(), kMagic.end(), message.begin())) return std::nullopt;
  apply_mask(message);
  return message;
}

StreamAddress worker_in(const StreamRequest::Message& unmasked_message) {
  StreamAddress worker{};
  std::copy_n(unmasked_message.begin() + kWorker, worker.size(), worker.begin());
  return worker;
}

template <std::size_t N>
StreamMac mac_in(const std::array<std::uint8_t, N>& message) {
  StreamMac mac{};
  std::copy(message.end() - mac.size(), message.end(), mac.begin());
  return mac;
}

StreamMac mac_of_answer(std::span<const std::uint8_t> secret, const StreamRequest& request,
                        std::span<const std::uint8_t> answer) {
  std::vector<std::uint8_t> bound(request.nonce.begin(), request.nonce.end());
  bound.insert(bound.end(), answer.begin(), answer.end());
  return authenticate(secret, bound);
}

}  // namespace

StreamCipher StreamRequest::cipher_for(Encryption encryption, Content content, KnownCiphers known) {
  if (encrypts(encryption, content))
    return preferred_cipher(content == Content::Parts && known.pieces ? Sealing::Pieces : Sealing::Records);
  const bool headers = encryption == Encryption::Commands && known.headers;
  return preferred_cipher(headers ? Sealing::Headers : Sealing::None);
}

bool StreamRequest::accepts(Encryption encryption, Content content, StreamCipher cipher) {
  // Older clients seal no headers (27 and before) and no pieces (28). Nobody can make others omit it:
  // requests are authentic.
  switch (sealing(cipher)) {
    case Sealing::None:
      return !encrypts(encryption, content);
    case Sealing::Records:
      return encrypts(encryption, content);
    case Sealing::Headers:
      return encryption == Encryption::Commands && content != Content::Batches;
    case Sealing::Pieces:
      return encryption == Encryption::All && content == Content::Parts;
  }
  return false;
}

StreamRequest::Message StreamRequest::encode(std::span<const std::uint8_t> secret) const {
  Message message{};
  std::copy(kMagic.begin(), kMagic.end(), message.begin());
  std::copy(worker.begin(), worker.end(), message.begin() + kWorker);
  message[kRole] = static_cast<std::uint8_t>(role);
  message[kCipher] = static_cast<std::uint8_t>(cipher);
  message[kContent] = static_cast<std::uint8_t>(content);
  put_number(attempt, message.data() + kAttempt);
  put_number(line, message.data() + kLine);
  put_number(received, message.data() + kReceived);
  std::copy(nonce.begin(), nonce.end(), message.begin() + kNonce);
  apply_mask(message);
  const StreamMac mac = authenticate(secret, std::span(message).first(kMac));
  std::copy(mac.begin(), mac.end(), message.begin() + kMac);
  return message;
}

std::optional<StreamAddress> StreamRequest::worker_of(const Message& masked) {
  const auto message = unmasked(masked);
  if (!message) return std::nullopt;
  return worker_in(*message);
}

std::optional<StreamRequest> StreamRequest::decode(const Message& masked) {
  const auto unmasked_message = unmasked(masked);
  if (!unmasked_message) return std::nullopt;
  const Message& message = *unmasked_message;
  if (message[kRole] > static_cast<std::uint8_t>(Role::Peer) ||
      message[kCipher] > static_cast<std::uint8_t>(StreamCipher::ChaCha20Poly1305Pieces) ||
      message[kContent] > static_cast<std::uint8_t>(Content::UcxParts) || message[kReserved] != 0)
    return std::nullopt;
  StreamRequest request;
  request.worker = worker_in(message);
  request.role = static_cast<Role>(message[kRole]);
  request.cipher = static_cast<StreamCipher>(message[kCipher]);
  request.content = static_cast<Content>(message[kContent]);
  request.attempt = get_number<std::uint32_t>(message.data() + kAttempt);
  request.line = get_number<LineId>(message.data() + kLine);
  request.received = get_number<std::uint64_t>(message.data() + kReceived);
  std::copy_n(message.begin() + kNonce, request.nonce.size(), request.nonce.begin());
  return request;
}

bool StreamRequest::authentic(const Message& message, std::span<const std::uint8_t> secret) {
  return same_mac(mac_in(message), authenticate(secret, std::span(message).first(kMac)));
}

StreamAnswer::Message StreamAnswer::encode(std::span<const std::uint8_t> secret,
                                           const StreamRequest& to) const {
  Message message{};
  put_number(received, message.data());
  std::copy(nonce.begin(), nonce.end(), message.begin() + kAnswerNonce);
  const StreamMac mac = mac_of_answer(secret, to, std::span(message).first(kAnswerMac));
  std::copy(mac.begin(), mac.end(), message.begin() + kAnswerMac);
  return message;
}

std::optional<StreamAnswer> StreamAnswer::decode(const Message& message, std::span<const std::uint8_t> secret,
                                                 const StreamRequest& to) {
  if (!same_mac(mac_in(message), mac_of_answer(secret, to, std::span(message).first(kAnswerMac))))
    return std::nullopt;
  StreamAnswer answer;
  answer.received = get_number<std::uint64_t>(message.data());
  std::copy_n(message.begin() + kAnswerNonce, answer.nonce.size(), answer.nonce.begin());
  return answer;
}

}  // namespace clique::protocol
