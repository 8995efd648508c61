// Compares both ciphers with the vectors of IEEE 1619 for AES-256, and the device with OpenSSL for random
// requests. Use: crypt-check [PLATFORM]. Exit status: 0 if everything is right; otherwise a message says what
// is not.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "cipher.hpp"

namespace {

using namespace crypt_nbd;

std::vector<std::byte> bytes_of(const std::string& hexadecimal) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < hexadecimal.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(hexadecimal.substr(i, 2), nullptr, 16)));
  return bytes;
}

void expect(bool right, const std::string& what) {
  if (!right) throw std::runtime_error(what + " is wrong");
}

/// Vectors 10 to 14 of IEEE 1619-2007, annex B: one key, the bytes from 0 to 255 twice, and five sectors. Of
/// each result the first two blocks; the others follow from the same tables and from the multiplication of
/// the tweak, which the comparison with OpenSSL covers.
struct Vector {
  std::uint64_t sector;
  const char* begin;
};
constexpr const char* kVectorKey =
    "2718281828459045235360287471352662497757247093699959574966967627"
    "3141592653589793238462643383279502884197169399375105820974944592";
constexpr Vector kVectors[] = {
    {0xff, "1c3b3a102f770386e4836c99e370cf9bea00803f5e482357a4ae12d414a3e63b"},
    {0xffff, "77a31251618a15e6b92d1d66dffe7b50b50bad552305ba0217a610688eff7e11"},
    {0xffffff, "e387aaa58ba483afa7e8eb469778317ecf4cf573aa9d4eac23f2cdf914e4e200"},
    {0xffffffff, "bf53d2dade78e822a4d949a9bc6766b01b06a8ef70d26748c6a7fc36d80ae4c5"},
    {0xffffffffff, "64497e5a831e4a932c09be3e5393376daa599548b816031d224bbf50a818ed23"},
};

void check_vectors(Cipher& cipher, const std::string& name) {
  std::vector<std::byte> plain(kSector);
  for (std::size_t i = 0; i < plain.size(); ++i) plain[i] = static_cast<std::byte>(i);
  for (const Vector& vector : kVectors) {
    const std::string what = "sector " + std::to_string(vector.sector) + " of IEEE 1619 on the " + name;
    std::vector<std::byte> data = plain;
    cipher.encrypt(vector.sector, data);
    const std::vector<std::byte> begin = bytes_of(vector.begin);
    expect(std::equal(begin.begin(), begin.end(), data.begin()), what + ", encrypted,");
    cipher.decrypt(vector.sector, data);
    expect(data == plain, what + ", decrypted,");
  }
}

/// Requests of random sizes at random places, from several threads at the same time.
void compare(Cipher& device, Cipher& processor) {
  constexpr unsigned kThreads = 4;
  constexpr int kRequests = 40;
  std::vector<std::exception_ptr> errors(kThreads);
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&, thread] {
      try {
        std::mt19937_64 random(thread);
        for (int request = 0; request < kRequests; ++request) {
          // Also of one sector, of an odd number, and beyond 2^32.
          std::vector<std::byte> plain((1 + random() % (request % 2 == 0 ? 9 : 1000)) * kSector);
          for (std::byte& byte : plain) byte = static_cast<std::byte>(random());
          const std::uint64_t sector = random() >> random() % 64;
          const std::string what =
              "a request of " + std::to_string(plain.size()) + " bytes at sector " + std::to_string(sector);
          std::vector<std::byte> here = plain, there = plain;
          processor.encrypt(sector, here);
          device.encrypt(sector, there);
          expect(here == there, what + ", encrypted on the device,");
          device.decrypt(sector, there);
          expect(there == plain, what + ", decrypted on the device,");
        }
      } catch (...) {
        errors[thread] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

void check(const std::string& platform) {
  const auto key_of = [](const std::string& digits) {
    const std::vector<std::byte> bytes = bytes_of(digits);
    Key key{};
    for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::uint8_t>(bytes.at(i));
    return key;
  };
  const Key key = key_of(kVectorKey);
  const auto device = make_device_cipher(platform, key, 2), processor = make_processor_cipher(key);
  check_vectors(*processor, "processor");
  check_vectors(*device, "device");
  compare(*device, *processor);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    check(argc > 1 ? argv[1] : "");
    std::puts("right");
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "crypt-check: %s\n", error.what());
    return 1;
  }
}
