// The keys of streams, and the ciphers that protect their records. protocol/security.md specifies both.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "protocol/ids.hpp"

// OpenSSL's EVP_CIPHER_CTX.
struct evp_cipher_ctx_st;

namespace clique::protocol {

/// What protects the records of a stream.
enum class StreamCipher : std::uint8_t {
  None = 0,                     ///< nothing
  Aes256Gcm = 1,                ///< NIST SP 800-38D
  ChaCha20Poly1305 = 2,         ///< RFC 8439
  Aes256GcmHeaders = 3,         ///< Aes256Gcm authenticates the headers; payloads travel as they are
  ChaCha20Poly1305Headers = 4,  ///< the same with ChaCha20Poly1305
  Aes256GcmPieces = 5,          ///< Aes256Gcm seals the header, and each piece of the payload, by itself
  ChaCha20Poly1305Pieces = 6    ///< the same with ChaCha20Poly1305
};

/// What a cipher of a stream seals at once, each with a tag.
enum class Sealing : std::uint8_t {
  None,     ///< nothing
  Records,  ///< a record: the tag follows the payload
  Headers,  ///< a header: the tag follows it. Payloads travel as they are.
  Pieces    ///< a header, as above, and each piece of kSealedPiece bytes of a payload: the tag follows it
};
Sealing sealing(StreamCipher cipher);
/// Whether payloads are encrypted, and authentic.
constexpr bool seals_payloads(Sealing sealing) {
  return sealing == Sealing::Records || sealing == Sealing::Pieces;
}
/// Whether headers have a tag of their own.
constexpr bool tags_headers(Sealing sealing) {
  return sealing == Sealing::Headers || sealing == Sealing::Pieces;
}

/// The cipher that this process should choose: AES if the processor has instructions for it.
StreamCipher preferred_cipher(Sealing sealing);

inline constexpr std::size_t kStreamKeyBytes = 32;
using StreamKey = std::array<std::uint8_t, kStreamKeyBytes>;
/// A random number that one end of a connection contributes to its keys.
using StreamNonce = std::array<std::uint8_t, 32>;
/// The HMAC-SHA256 (RFC 2104) of a handshake message.
using StreamMac = std::array<std::uint8_t, 32>;
/// What authenticates a record.
using RecordTag = std::array<std::uint8_t, 16>;

/// The keys of one connection. Each connection has others, since both ends contribute a nonce.
struct ConnectionKeys {
  StreamKey to_worker{};    ///< for records from the side that connected
  StreamKey from_worker{};  ///< for records from the worker that was connected to
};

/// Which end of a connection this process is.
enum class StreamEnd : std::uint8_t { Connecting, Accepting };

/// Derives the keys of a connection by HKDF-SHA256 (RFC 5869). Throws SecurityError.
/// @param secret that both ends know: Pass::stream_key
ConnectionKeys derive_keys(std::span<const std::uint8_t> secret, const StreamNonce& connecting,
                           const StreamNonce& accepting, LineId line, std::uint32_t attempt);

/// Authenticates a handshake message. Throws SecurityError.
StreamMac authenticate(std::span<const std::uint8_t> secret, std::span<const std::uint8_t> message);
/// Compares in a time that does not depend on the contents.
bool same_mac(const StreamMac& a, const StreamMac& b);

/// Seals, or opens, the records of one direction of one connection, or what Sealing says of them. The nonce
/// of what is sealed is its number, so that nothing opens that is repeated, left out or exchanged with
/// something else. One thread at a time.
class RecordCipher {
 public:
  enum class Direction : std::uint8_t { Seal, Open };

  /// Throws SecurityError. @param cipher not None
  RecordCipher(StreamCipher cipher, const StreamKey& key, Direction direction);

  /// Begins the next record, header or piece. Throws SecurityError.
  /// @param header is authenticated, but not encrypted. Empty for a piece.
  void begin(std::span<const std::byte> header);
  /// Encrypts, or decrypts, bytes of the payload. `from` and `to` may be the same memory. Throws
  /// SecurityError.
  void transform(std::span<const std::byte> from, std::byte* to);
  /// Ends what is sealed. Throws SecurityError.
  RecordTag seal();
  /// Ends what is opened. Nothing of it may be used before. Throws SecurityError unless header and payload
  /// are what the other end has sealed with this number.
  void verify(const RecordTag& tag);

 private:
  std::unique_ptr<evp_cipher_ctx_st, void (*)(evp_cipher_ctx_st*)> context_;
  std::uint64_t begun_ = 0;
};

/// The ciphers of both directions of a connection; nothing if its cipher is None.
struct ConnectionCiphers {
  /// Throws SecurityError.
  ConnectionCiphers(StreamCipher cipher, const ConnectionKeys& keys, StreamEnd end);

  std::optional<RecordCipher> sealer;  ///< for what this end sends
  std::optional<RecordCipher> opener;  ///< for what it receives
  Sealing sealing = Sealing::None;
};

}  // namespace clique::protocol
