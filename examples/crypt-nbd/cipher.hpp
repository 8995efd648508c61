// Encrypting and decrypting sectors with AES-256-XTS: on an OpenCL device, or on the processor.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace crypt_nbd {

/// The data unit of XTS, in bytes. Its number is the tweak, as in dm-crypt's "plain64".
inline constexpr std::size_t kSector = 512;

/// The key for the data, and the key for the tweaks.
using Key = std::array<std::uint8_t, 64>;

/// Reads a key of 128 hexadecimal digits from a file. Throws std::runtime_error.
Key read_key(const std::string& path);

/// Changes sectors in place. All members may be called on any thread.
class Cipher {
 public:
  virtual ~Cipher() = default;
  /// @param data whole sectors, of which the first has this number. Throws std::runtime_error.
  virtual void encrypt(std::uint64_t sector, std::span<std::byte> data) = 0;
  virtual void decrypt(std::uint64_t sector, std::span<std::byte> data) = 0;
};

/// On the first device of the first OpenCL platform whose name contains `platform`, with `parallel` requests
/// at a time; further ones wait. Throws std::runtime_error.
std::unique_ptr<Cipher> make_device_cipher(const std::string& platform, const Key& key, std::size_t parallel);
/// On the calling thread, with OpenSSL, which uses the processor's instructions for AES.
std::unique_ptr<Cipher> make_processor_cipher(const Key& key);

}  // namespace crypt_nbd
