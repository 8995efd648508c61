#include <openssl/evp.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <stdexcept>

#include "cipher.hpp"

namespace crypt_nbd {

namespace {

class ProcessorCipher final : public Cipher {
 public:
  explicit ProcessorCipher(const Key& key) : key_(key) {}

  void encrypt(std::uint64_t sector, std::span<std::byte> data) override { run(sector, data, 1); }
  void decrypt(std::uint64_t sector, std::span<std::byte> data) override { run(sector, data, 0); }

 private:
  struct Free {
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
  };

  void run(std::uint64_t sector, std::span<std::byte> data, int encrypt) const {
    const std::unique_ptr<EVP_CIPHER_CTX, Free> context(EVP_CIPHER_CTX_new());
    check(context != nullptr &&
          EVP_CipherInit_ex(context.get(), EVP_aes_256_xts(), nullptr, key_.data(), nullptr, encrypt) == 1);
    for (; !data.empty(); data = data.subspan(kSector), ++sector) {
      std::array<std::uint8_t, 16> tweak{};
      for (std::size_t i = 0; i < 8; ++i) tweak[i] = static_cast<std::uint8_t>(sector >> (8 * i));
      auto* const bytes = reinterpret_cast<std::uint8_t*>(data.data());
      int size = 0;
      check(EVP_CipherInit_ex(context.get(), nullptr, nullptr, nullptr, tweak.data(), encrypt) == 1 &&
            EVP_CipherUpdate(context.get(), bytes, &size, bytes, kSector) == 1 &&
            static_cast<std::size_t>(size) == kSector);
    }
  }
  static void check(bool success) {
    if (!success)
      throw std::runtime_error("OpenSSL cannot encrypt with AES-256-XTS; both halves of a key must differ");
  }

  const Key key_;
};

}  // namespace

std::unique_ptr<Cipher> make_processor_cipher(const Key& key) {
  return std::make_unique<ProcessorCipher>(key);
}

Key read_key(const std::string& path) {
  std::ifstream file(path);
  std::string digits;
  file >> digits;
  const auto digit = [](char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; };
  Key key{};
  if (digits.size() != 2 * key.size() ||
      !std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isxdigit(c) != 0; }))
    throw std::runtime_error(path + " contains no key; it has to be a file of " +
                             std::to_string(2 * key.size()) +
                             " hexadecimal digits, as `openssl rand -hex 64` prints them");
  for (std::size_t i = 0; i < key.size(); ++i)
    key[i] = static_cast<std::uint8_t>(digit(digits[2 * i]) * 16 + digit(digits[2 * i + 1]));
  // IEEE 1619 as NIST SP 800-38E and FIPS 140 require it.
  if (std::equal(key.begin(), key.begin() + 32, key.begin() + 32))
    throw std::runtime_error("both halves of the key in " + path + " are the same; make another one");
  return key;
}

}  // namespace crypt_nbd
