#include "protocol/security/public_key.hpp"

#include <openssl/evp.h>

#include <algorithm>

namespace clique::protocol {

namespace {

constexpr std::string_view kPrefix = "ed25519:";

std::string base64(const std::uint8_t* bytes, std::size_t size) {
  std::string text(4 * ((size + 2) / 3) + 1, '\0');
  const int length =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes, static_cast<int>(size));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

}  // namespace

PublicKey PublicKey::parse(std::string_view text) {
  const auto fail = [&] {
    throw SecurityError("'" + std::string(text) +
                        "' is not a public key; write 'ed25519:' and 44 characters of base64, as 'clique "
                        "keygen' prints them");
  };
  // 32 bytes are 44 characters, the last of which is '='.
  constexpr std::size_t kCharacters = 44;
  if (!text.starts_with(kPrefix) || text.size() != kPrefix.size() + kCharacters || text.back() != '=') fail();
  std::array<unsigned char, kCharacters / 4 * 3> decoded{};
  const auto* characters = reinterpret_cast<const unsigned char*>(text.data() + kPrefix.size());
  if (EVP_DecodeBlock(decoded.data(), characters, kCharacters) != static_cast<int>(decoded.size())) fail();
  PublicKey key;
  std::copy_n(decoded.begin(), kBytes, key.bytes_.begin());
  // The decoder also accepts spaces and superfluous bits, but each key has only one spelling.
  if (key.text() != text) fail();
  return key;
}

std::string PublicKey::text() const {
  return std::string(kPrefix) + base64(bytes_.data(), bytes_.size());
}

std::string PublicKey::fingerprint() const {
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned size = 0;
  if (EVP_Digest(bytes_.data(), bytes_.size(), hash.data(), &size, EVP_sha256(), nullptr) != 1)
    throw SecurityError("OpenSSL has no SHA-256");
  std::string text = base64(hash.data(), size);
  text.erase(text.find_last_not_of('=') + 1);
  return "SHA256:" + text;
}

}  // namespace clique::protocol
