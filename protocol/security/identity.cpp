#include "protocol/security/identity.hpp"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "protocol/fd.hpp"
#include "protocol/security/openssl.hpp"
#include "protocol/security/openssl_error.hpp"

namespace clique::protocol {

namespace {

namespace fs = std::filesystem;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

[[noreturn]] void fail_at(const fs::path& path, const std::string& why) {
  throw SecurityError(path.string() + " " + why);
}

/// A self-signed certificate without a name that never expires. It only carries the key.
std::shared_ptr<X509> make_certificate(EVP_PKEY* key) {
  std::shared_ptr<X509> certificate(X509_new(), X509_free);
  constexpr long kVersion3 = 2;
  constexpr const char* kNever = "99991231235959Z";  // RFC 5280, section 4.1.2.5
  if (!certificate || X509_set_version(certificate.get(), kVersion3) != 1 ||
      ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1) != 1 ||
      ASN1_TIME_set_string(X509_getm_notBefore(certificate.get()), "20200101000000Z") != 1 ||
      ASN1_TIME_set_string(X509_getm_notAfter(certificate.get()), kNever) != 1 ||
      X509_set_pubkey(certificate.get(), key) != 1 || X509_sign(certificate.get(), key, nullptr) <= 0)
    throw_openssl_error("a certificate for the key could not be made");
  return certificate;
}

}  // namespace

PublicKey public_key_of(const EVP_PKEY* key) {
  PublicKey::Bytes bytes{};
  std::size_t size = bytes.size();
  if (key == nullptr || EVP_PKEY_get_base_id(key) != EVP_PKEY_ED25519 ||
      EVP_PKEY_get_raw_public_key(key, bytes.data(), &size) != 1 || size != bytes.size())
    throw_openssl_error("the key is not an Ed25519 key");
  return PublicKey(bytes);
}

Identity::Identity(std::shared_ptr<EVP_PKEY> key)
    : key_(std::move(key)),
      certificate_(make_certificate(key_.get())),
      public_key_(public_key_of(key_.get())) {}

Identity Identity::generate() {
  prepare_openssl();
  std::shared_ptr<EVP_PKEY> key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), EVP_PKEY_free);
  if (!key) throw_openssl_error("a key could not be generated");
  return Identity(std::move(key));
}

Identity Identity::read(const fs::path& path) {
  prepare_openssl();
  Fd descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat info{};
  if (!descriptor || ::fstat(descriptor.get(), &info) != 0)
    fail_at(path, std::string("cannot be read: ") + std::strerror(errno));
  if (!S_ISREG(info.st_mode)) fail_at(path, "is not a regular file");
  // A group may read a key that root owns: systemd provides credentials like this (systemd.exec(5)).
  const bool lent = info.st_uid == 0 && ::geteuid() != 0;
  if ((info.st_mode & (S_IRWXO | (lent ? S_IWGRP | S_IXGRP : S_IRWXG))) != 0)
    fail_at(path,
            "can be read or changed by other users, so its key may not be secret; run chmod 600 on it, or "
            "make a new key if others may have read it");
  const File file(::fdopen(::dup(descriptor.get()), "r"));
  std::shared_ptr<EVP_PKEY> key(
      file ? PEM_read_PrivateKey(
                 file.get(), nullptr, [](char*, int, int, void*) { return -1; }, nullptr)
           : nullptr,
      EVP_PKEY_free);
  if (!key) {
    ERR_clear_error();
    fail_at(path,
            "does not contain a private key in the format of 'clique keygen'; restore it, or make a new key "
            "with that command");
  }
  if (EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_ED25519)
    fail_at(path, "contains a key of another kind than Ed25519; make a key with 'clique keygen'");
  return Identity(std::move(key));
}

void Identity::write(const fs::path& path) const {
  std::error_code error;
  if (path.has_parent_path() && !fs::exists(path.parent_path(), error)) {
    fs::create_directories(path.parent_path(), error);
    if (error) fail_at(path.parent_path(), "cannot be created: " + error.message());
    fs::permissions(path.parent_path(), fs::perms::owner_all, error);
  }
  Fd descriptor(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR));
  if (!descriptor)
    fail_at(path, errno == EEXIST ? "already exists; remove it first to replace its key"
                                  : std::string("cannot be written: ") + std::strerror(errno));
  const File file(::fdopen(::dup(descriptor.get()), "w"));
  if (!file ||
      PEM_write_PKCS8PrivateKey(file.get(), key_.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1 ||
      std::fflush(file.get()) != 0 || ::fsync(descriptor.get()) != 0) {
    const std::string why = std::strerror(errno);
    ::unlink(path.c_str());
    fail_at(path, "cannot be written: " + why);
  }
}

}  // namespace clique::protocol
