#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace clique::protocol {

/// A key, a file of keys, a credential or a TLS connection that cannot be used. what() gives the reason for
/// users.
class SecurityError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The public Ed25519 key (RFC 8032) that identifies a client or a node.
class PublicKey {
 public:
  static constexpr std::size_t kBytes = 32;
  using Bytes = std::array<std::uint8_t, kBytes>;

  PublicKey() = default;
  explicit PublicKey(const Bytes& bytes) : bytes_(bytes) {}

  /// Parses the format of text(). Throws SecurityError.
  static PublicKey parse(std::string_view text);

  const Bytes& bytes() const { return bytes_; }
  /// "ed25519:" and the bytes in base64, the format of key files.
  std::string text() const;
  /// "SHA256:" and the SHA-256 of the bytes in base64 without padding, for people who compare keys.
  std::string fingerprint() const;

  auto operator<=>(const PublicKey&) const = default;

 private:
  Bytes bytes_{};
};

}  // namespace clique::protocol
