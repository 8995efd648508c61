#include "aes.hpp"

#include <algorithm>
#include <bit>

namespace crypt_nbd {

namespace {

using Word = std::uint32_t;
using Byte = std::uint8_t;

/// The product in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1 (section 4.2).
constexpr Byte times(Byte a, Byte b) {
  unsigned product = 0;
  for (unsigned factor = a; b != 0; b >>= 1U) {
    if ((b & 1U) != 0) product ^= factor;
    factor = factor << 1U ^ ((factor & 0x80U) != 0 ? 0x11bU : 0U);
  }
  return static_cast<Byte>(product);
}

/// SubBytes (section 5.1.1): the inverse in GF(2^8), and an affine transformation.
constexpr std::array<Byte, 256> substitutions() {
  std::array<Byte, 256> table{};
  for (unsigned a = 0; a < 256; ++a) {
    // The inverse is the 254th power, and 0 has itself.
    Byte inverse = 1;
    for (int i = 0; i < 254; ++i) inverse = times(inverse, static_cast<Byte>(a));
    Byte sum = 0x63;
    for (int turn = 0; turn < 5; ++turn) sum ^= std::rotl(inverse, turn);
    table[a] = sum;
  }
  return table;
}

const std::array<Byte, 256>& substitution() {
  static const std::array<Byte, 256> table = substitutions();
  return table;
}

/// A column of these bytes, row 0 first.
constexpr Word column(Byte row0, Byte row1, Byte row2, Byte row3) {
  return Word{row0} | Word{row1} << 8U | Word{row2} << 16U | Word{row3} << 24U;
}

/// What becomes of a byte in row 0 in InvMixColumns (section 5.3.3).
constexpr Word unmixed(Byte byte) {
  return column(times(byte, 0x0e), times(byte, 0x09), times(byte, 0x0d), times(byte, 0x0b));
}

Word substitute(Word word) {
  const auto byte = [word](int row) { return substitution()[word >> (8 * row) & 0xffU]; };
  return column(byte(0), byte(1), byte(2), byte(3));
}

}  // namespace

RoundTables encryption_tables() {
  RoundTables tables{};
  tables.last = substitution();
  for (unsigned i = 0; i < 256; ++i) {
    const Byte s = tables.last[i];
    tables.rounds[i] = column(times(s, 2), s, s, times(s, 3));
  }
  return tables;
}

RoundTables decryption_tables() {
  RoundTables tables{};
  for (unsigned i = 0; i < 256; ++i) tables.last[substitution()[i]] = static_cast<Byte>(i);
  for (unsigned i = 0; i < 256; ++i) tables.rounds[i] = unmixed(tables.last[i]);
  return tables;
}

RoundKeys encryption_keys(std::span<const Byte, 32> key) {
  // Section 5.2, with 8 words of key.
  RoundKeys words{};
  for (std::size_t i = 0; i < 8; ++i)
    words[i] = column(key[4 * i], key[4 * i + 1], key[4 * i + 2], key[4 * i + 3]);
  Byte constant = 1;
  for (std::size_t i = 8; i < words.size(); ++i) {
    Word word = words[i - 1];
    if (i % 8 == 0) {
      // RotWord moves each byte one row up.
      word = substitute(std::rotr(word, 8)) ^ constant;
      constant = times(constant, 2);
    } else if (i % 8 == 4) {
      word = substitute(word);
    }
    words[i] = words[i - 8] ^ word;
  }
  return words;
}

RoundKeys decryption_keys(std::span<const Byte, 32> key) {
  const RoundKeys forth = encryption_keys(key);
  RoundKeys back{};
  for (std::size_t i = 0; i < back.size(); ++i) {
    const std::size_t round = i / 4;
    const Word word = forth[4 * (14 - round) + i % 4];
    const auto part = [word](int row) {
      return std::rotl(unmixed(static_cast<Byte>(word >> (8 * row))), 8 * row);
    };
    back[i] = round == 0 || round == 14 ? word : part(0) ^ part(1) ^ part(2) ^ part(3);
  }
  return back;
}

}  // namespace crypt_nbd
