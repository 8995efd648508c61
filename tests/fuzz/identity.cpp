// The file with a private key.
#include "protocol/security/identity.hpp"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <memory>

#include "tests/fuzz/fuzz.hpp"

namespace clique::fuzz::target_identity {
namespace {

using namespace clique::protocol;

std::string pem(const EVP_PKEY* key) {
  const std::unique_ptr<BIO, int (*)(BIO*)> memory(BIO_new(BIO_s_mem()), BIO_free);
  require(PEM_write_bio_PKCS8PrivateKey(memory.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1,
          "OpenSSL writes keys");
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

std::vector<std::string> seeds() {
  const std::shared_ptr<EVP_PKEY> other(EVP_PKEY_Q_keygen(nullptr, nullptr, "X25519"), EVP_PKEY_free);
  return {pem(Identity::generate().private_key()), pem(other.get()),
          "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n"};
}

void test(const std::uint8_t* data, std::size_t size) {
  const MemoryFile file(std::as_bytes(std::span(data, size)));
  try {
    const Identity identity = Identity::read(file.path());
    require(public_key_of(identity.private_key()) == identity.public_key(), "the public key is the key's");
  } catch (const SecurityError&) {
    return;
  }
}

const Registration kTarget{"identity", seeds, test};

}  // namespace
}  // namespace clique::fuzz::target_identity
