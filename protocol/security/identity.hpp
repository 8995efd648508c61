#pragma once

#include <filesystem>
#include <memory>

#include "protocol/security/public_key.hpp"

// OpenSSL's EVP_PKEY and X509.
struct evp_pkey_st;
struct x509_st;

namespace clique::protocol {

/// The private key of a client or a node, and a certificate for TLS that contains the key but no name. Copies
/// share the key. Thread-safe.
class Identity {
 public:
  /// Generates a random key. Throws SecurityError.
  static Identity generate();
  /// Reads a file that write() wrote: a private key in PEM (PKCS #8). Throws SecurityError, also if other
  /// users can read the file; only if root owns it, its group may read it.
  static Identity read(const std::filesystem::path& path);
  /// Writes a new file that only this user can read, and creates its folder if necessary. Throws
  /// SecurityError. Never replaces an existing file.
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

/// The public part of an Ed25519 key. Throws SecurityError if it is null or a key of another kind.
PublicKey public_key_of(const evp_pkey_st* key);

}  // namespace clique::protocol
