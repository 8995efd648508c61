#include "protocol/streams/keys.hpp"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include <algorithm>
#include <string>

#include "protocol/security/public_key.hpp"
#include "protocol/streams/bytes.hpp"

namespace clique::protocol {

namespace {

/// Separates these keys from any others that could ever be derived from the same secret.
constexpr std::string_view kPurpose = "clique stream 1";

void require(bool done, const char* what) {
  if (!done) throw SecurityError(std::string("OpenSSL cannot ") + what);
}

template <typename T>
using Owned = std::unique_ptr<T, void (*)(T*)>;

}  // namespace

Sealing sealing(StreamCipher cipher) {
  switch (cipher) {
    case StreamCipher::None:
      break;
    case StreamCipher::Aes256Gcm:
    case StreamCipher::ChaCha20Poly1305:
      return Sealing::Records;
    case StreamCipher::Aes256GcmHeaders:
    case StreamCipher::ChaCha20Poly1305Headers:
      return Sealing::Headers;
    case StreamCipher::Aes256GcmPieces:
    case StreamCipher::ChaCha20Poly1305Pieces:
      return Sealing::Pieces;
  }
  return Sealing::None;
}

StreamCipher preferred_cipher(Sealing sealing) {
#if defined(__x86_64__)
  const bool aes = __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul");
#else
  constexpr bool aes = false;
#endif
  switch (sealing) {
    case Sealing::None:
      break;
    case Sealing::Records:
      return aes ? StreamCipher::Aes256Gcm : StreamCipher::ChaCha20Poly1305;
    case Sealing::Headers:
      return aes ? StreamCipher::Aes256GcmHeaders : StreamCipher::ChaCha20Poly1305Headers;
    case Sealing::Pieces:
      return aes ? StreamCipher::Aes256GcmPieces : StreamCipher::ChaCha20Poly1305Pieces;
  }
  return StreamCipher::None;
}

ConnectionKeys derive_keys(std::span<const std::uint8_t> secret, const StreamNonce& connecting,
                           const StreamNonce& accepting, LineId line, std::uint32_t attempt) {
  std::array<std::uint8_t, std::tuple_size_v<StreamNonce> * 2> salt{};
  std::copy(connecting.begin(), connecting.end(), salt.begin());
  std::copy(accepting.begin(), accepting.end(), salt.begin() + connecting.size());
  std::array<std::uint8_t, kPurpose.size() + sizeof line + sizeof attempt> info{};
  std::copy(kPurpose.begin(), kPurpose.end(), info.begin());
  put_number(line, info.data() + kPurpose.size());
  put_number(attempt, info.data() + kPurpose.size() + sizeof line);

  const Owned<EVP_KDF> kdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr), EVP_KDF_free);
  require(kdf != nullptr, "derive keys by HKDF");
  const Owned<EVP_KDF_CTX> context(EVP_KDF_CTX_new(kdf.get()), EVP_KDF_CTX_free);
  std::string digest = "SHA256";
  const std::array<OSSL_PARAM, 5> parameters{
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), digest.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, const_cast<std::uint8_t*>(secret.data()),
                                        secret.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, salt.data(), salt.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info.data(), info.size()),
      OSSL_PARAM_construct_end()};
  std::array<std::uint8_t, 2 * kStreamKeyBytes> derived{};
  require(context != nullptr &&
              EVP_KDF_derive(context.get(), derived.data(), derived.size(), parameters.data()) == 1,
          "derive keys by HKDF");
  ConnectionKeys keys;
  std::copy_n(derived.begin(), kStreamKeyBytes, keys.to_worker.begin());
  std::copy_n(derived.begin() + kStreamKeyBytes, kStreamKeyBytes, keys.from_worker.begin());
  OPENSSL_cleanse(derived.data(), derived.size());
  return keys;
}

StreamMac authenticate(std::span<const std::uint8_t> secret, std::span<const std::uint8_t> message) {
  StreamMac mac{};
  unsigned size = 0;
  require(HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()), message.data(), message.size(),
               mac.data(), &size) != nullptr &&
              size == mac.size(),
          "compute an HMAC");
  return mac;
}

bool same_mac(const StreamMac& a, const StreamMac& b) {
  return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

RecordCipher::RecordCipher(StreamCipher cipher, const StreamKey& key, Direction direction)
    : context_(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free) {
  const bool aes = cipher == StreamCipher::Aes256Gcm || cipher == StreamCipher::Aes256GcmHeaders ||
                   cipher == StreamCipher::Aes256GcmPieces;
  const EVP_CIPHER* const kind = aes ? EVP_aes_256_gcm() : EVP_chacha20_poly1305();
  // Both have keys of 256 bits, nonces of 96 and tags of 128.
  require(context_ != nullptr && EVP_CipherInit_ex(context_.get(), kind, nullptr, key.data(), nullptr,
                                                   direction == Direction::Seal ? 1 : 0) == 1,
          "prepare a cipher");
}

void RecordCipher::begin(std::span<const std::byte> header) {
  constexpr std::size_t kNonceBytes = 12;
  std::array<std::uint8_t, kNonceBytes> nonce{};
  put_number(begun_++, nonce.data() + kNonceBytes - sizeof begun_);
  int size = 0;
  require(EVP_CipherInit_ex(context_.get(), nullptr, nullptr, nullptr, nonce.data(), -1) == 1 &&
              (header.empty() || EVP_CipherUpdate(context_.get(), nullptr, &size,
                                                  reinterpret_cast<const unsigned char*>(header.data()),
                                                  static_cast<int>(header.size())) == 1),
          "begin a record");
}

void RecordCipher::transform(std::span<const std::byte> from, std::byte* to) {
  int size = 0;
  require(EVP_CipherUpdate(context_.get(), reinterpret_cast<unsigned char*>(to), &size,
                           reinterpret_cast<const unsigned char*>(from.data()),
                           static_cast<int>(from.size())) == 1 &&
              static_cast<std::size_t>(size) == from.size(),
          "encrypt or decrypt a record");
}

RecordTag RecordCipher::seal() {
  RecordTag tag{};
  int size = 0;
  std::array<unsigned char, EVP_MAX_BLOCK_LENGTH> rest{};
  require(EVP_CipherFinal_ex(context_.get(), rest.data(), &size) == 1 &&
              EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_GET_TAG, static_cast<int>(tag.size()),
                                  tag.data()) == 1,
          "end a record");
  return tag;
}

void RecordCipher::verify(const RecordTag& tag) {
  RecordTag expected = tag;
  int size = 0;
  std::array<unsigned char, EVP_MAX_BLOCK_LENGTH> rest{};
  require(EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_SET_TAG, static_cast<int>(expected.size()),
                              expected.data()) == 1,
          "verify a record");
  if (EVP_CipherFinal_ex(context_.get(), rest.data(), &size) != 1)
    throw SecurityError(
        "a record is not what the other end has sent: somebody on the way has changed, repeated or removed "
        "something");
}

ConnectionCiphers::ConnectionCiphers(StreamCipher cipher, const ConnectionKeys& keys, StreamEnd end)
    : sealing(protocol::sealing(cipher)) {
  if (cipher == StreamCipher::None) return;
  const bool connecting = end == StreamEnd::Connecting;
  sealer.emplace(cipher, connecting ? keys.to_worker : keys.from_worker, RecordCipher::Direction::Seal);
  opener.emplace(cipher, connecting ? keys.from_worker : keys.to_worker, RecordCipher::Direction::Open);
}

}  // namespace clique::protocol
