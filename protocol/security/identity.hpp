#pragma once

#include <filesystem>
#include <memory>

#include "protocol/security/public_key.hpp"

// OpenSSL's EVP_PKEY and X509.
struct evp_pkey_st;
struct x509_st;

namespace clique::protocol {

/// A private key, by which a client or a node proves who it is, and a certificate for TLS that names nobody:
/// others know the key itself. Copies share the key. Thread-safe.
class Identity {
 public:
  /// A new random key. Throws SecurityError.
  static Identity generate();
  /// Reads a file that write() wrote: a private key in PEM (PKCS #8). Throws SecurityError, also if other
  /// users can read the file; a group may read root's.
  static Identity read(const std::filesystem::path& path);
  /// Writes a new file that only this user can read, and its folder if that does not exist. Throws
  /// SecurityError; an existing file is never replaced.
  void write(const std::filesystem::path& path) const;

  const PublicKey& public_key() const { return public_key_; }

  evp_pkey_st* private_key() const { return key_.get(); }
  x509_st* certificate() const { return certificate_.get(); }

 private:
  explicit Identity(std::shared_ptr<evp_pkey_st> key);

  std::shared_ptr<evp_pkey_st> key_;
  std::shared_ptr<x509_st> certificate_;
  PublicKey public_key_;
};

/// The public Ed25519 key in a key or a certificate. Throws SecurityError if there is another kind of key.
PublicKey public_key_of(const evp_pkey_st* key);

}  // namespace clique::protocol
