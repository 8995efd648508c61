#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace clique::protocol {

/// A key, a certificate or a TLS connection that cannot be used. what() says why, and completes a sentence
/// that begins with what it is.
class SecurityError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The public Ed25519 key (RFC 8032) by which a client or a node is known to others.
class PublicKey {
 public:
  static constexpr std::size_t kBytes = 32;
  using Bytes = std::array<std::uint8_t, kBytes>;

  PublicKey() = default;
  explicit PublicKey(const Bytes& bytes) : bytes_(bytes) {}

  /// Reads what text() writes. Throws SecurityError.
  static PublicKey parse(std::string_view text);

  const Bytes& bytes() const { return bytes_; }
  /// "ed25519:" and the bytes in base64, as in the files that list keys.
  std::string text() const;
  /// "SHA256:" and the hash of the bytes in base64, for people who compare keys.
  std::string fingerprint() const;

  auto operator<=>(const PublicKey&) const = default;

 private:
  Bytes bytes_{};
};

}  // namespace clique::protocol
