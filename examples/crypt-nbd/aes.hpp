// The tables and round keys of AES-256 (FIPS 197), for the kernels in xts.cl.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace crypt_nbd {

/// What a round does with a byte in row 0: the state's column that comes of it, row 0 in its lowest byte.
/// `last` is for the last round, which does not mix columns.
struct RoundTables {
  std::array<std::uint32_t, 256> rounds;
  std::array<std::uint8_t, 256> last;
};

/// SubBytes and MixColumns.
RoundTables encryption_tables();
/// Their inverses.
RoundTables decryption_tables();

/// Four words for each of the 15 times that a key is added, in the order of encryption.
using RoundKeys = std::array<std::uint32_t, 60>;

RoundKeys encryption_keys(std::span<const std::uint8_t, 32> key);
/// In the order of the equivalent inverse cipher (section 5.3.5).
RoundKeys decryption_keys(std::span<const std::uint8_t, 32> key);

}  // namespace crypt_nbd
