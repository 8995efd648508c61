// Numbers in the fixed layouts of streams: big-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace clique::protocol {

/// Writes a number to sizeof(number) bytes.
template <typename Number, typename Byte>
void put_number(Number number, Byte* to) {
  using Bits = std::make_unsigned_t<Number>;
  auto bits = static_cast<Bits>(number);
  for (std::size_t i = sizeof(Bits); i-- > 0;) {
    to[i] = static_cast<Byte>(bits & 0xffU);
    if constexpr (sizeof(Bits) > 1) bits = static_cast<Bits>(bits >> 8U);
  }
}

/// Reads what put_number() wrote.
template <typename Number, typename Byte>
Number get_number(const Byte* from) {
  using Bits = std::make_unsigned_t<Number>;
  Bits bits = 0;
  for (std::size_t i = 0; i < sizeof(Bits); ++i)
    bits = static_cast<Bits>((sizeof(Bits) > 1 ? bits << 8U : 0U) | static_cast<Bits>(from[i]));
  return static_cast<Number>(bits);
}

}  // namespace clique::protocol
