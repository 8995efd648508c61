// The floating-point formats of devices, and the distance of their numbers from exact ones.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace clique::test {

/// A half as the host stores it.
struct Half16 {
  std::uint16_t bits = 0;
};

/// The properties of a format: `Bits` has its layout, `digits` is the number of bits of its significand,
/// `least` the exponent of its smallest normal number.
template <typename T>
struct Format;
template <>
struct Format<float> {
  using Bits = std::uint32_t;
  static constexpr const char* name = "float";
  static constexpr int digits = 24, least = -126, greatest = 127;
};
template <>
struct Format<double> {
  using Bits = std::uint64_t;
  static constexpr const char* name = "double";
  static constexpr int digits = 53, least = -1022, greatest = 1023;
};
template <>
struct Format<Half16> {
  using Bits = std::uint16_t;
  static constexpr const char* name = "half";
  static constexpr int digits = 11, least = -14, greatest = 15;
};

template <typename T>
T from_bits(typename Format<T>::Bits bits) {
  return std::bit_cast<T>(bits);
}

inline long double value(float x) {
  return x;
}
inline long double value(double x) {
  return x;
}
inline long double value(Half16 x) {
  const int exponent = x.bits >> 10U & 31U;
  const auto fraction = static_cast<long double>(x.bits & 1023U);
  long double magnitude = 0;
  if (exponent == 31) {
    magnitude = fraction != 0 ? std::numeric_limits<long double>::quiet_NaN()
                              : std::numeric_limits<long double>::infinity();
  } else {
    magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  }
  return (x.bits & 0x8000U) != 0 ? -magnitude : magnitude;
}

/// The unit in the last place of numbers of T near `x` (§7.4 of the OpenCL C specification).
template <typename T>
long double unit(long double x) {
  const int exponent = x == 0 ? Format<T>::least : std::max(std::ilogb(x), Format<T>::least);
  return std::ldexp(1.0L, exponent - Format<T>::digits + 1);
}

template <typename T>
long double greatest() {
  return std::ldexp(2 - std::ldexp(1.0L, 1 - Format<T>::digits), Format<T>::greatest);
}

/// The distance of `got` from `expected` in units in the last place; infinity if they are different kinds of
/// numbers.
template <typename T>
long double distance(T got_number, long double expected) {
  const long double got = value(got_number);
  const long double wrong = std::numeric_limits<long double>::infinity();
  if (std::isnan(expected)) return std::isnan(got) ? 0 : wrong;
  if (std::isnan(got)) return wrong;
  if (std::isinf(expected)) return got == expected ? 0 : wrong;
  if (std::isinf(got)) {
    // The largest number is the nearest to an exact value that is out of range or rounds to infinity.
    if (std::signbit(got) != std::signbit(expected)) return wrong;
    const long double beyond = std::ldexp(1.0L, Format<T>::greatest + 1);
    if (std::abs(expected) >= beyond) return 0;
    return (beyond - std::abs(expected)) / unit<T>(greatest<T>());
  }
  // An infinite result counts as the smallest number that is out of range.
  const long double bound = std::copysign(std::ldexp(1.0L, Format<T>::greatest + 1), expected);
  if (std::abs(expected) > std::abs(bound)) return std::abs(got - bound) / unit<T>(greatest<T>());
  return std::abs(got - expected) / unit<T>(expected);
}

/// Numbers that are special for some function, of both signs: zeros, denormal numbers, neighbours of whole
/// and half numbers and of powers of 2, the largest number, infinities and not-a-number.
template <typename T>
std::vector<T> special_values() {
  using Bits = typename Format<T>::Bits;
  constexpr int fraction_bits = Format<T>::digits - 1;
  const auto bits_of = [](long double x) {
    const int exponent = std::ilogb(x);
    const auto fraction = static_cast<Bits>(std::ldexp(x, fraction_bits - exponent));
    return static_cast<Bits>((static_cast<Bits>(exponent - Format<T>::least) << fraction_bits) + fraction);
  };
  const auto infinity = static_cast<Bits>(static_cast<Bits>(2 * Format<T>::greatest + 1) << fraction_bits);
  std::vector<Bits> magnitudes = {0,
                                  1,
                                  2,
                                  static_cast<Bits>((Bits{1} << fraction_bits) - 1),
                                  static_cast<Bits>(Bits{1} << fraction_bits),
                                  static_cast<Bits>((Bits{1} << fraction_bits) + 1),
                                  static_cast<Bits>(infinity - 2),
                                  static_cast<Bits>(infinity - 1),
                                  infinity,
                                  static_cast<Bits>(infinity | Bits{1} << (fraction_bits - 1))};
  for (const long double x : {0.0625L,
                              0.25L,
                              0.5L,
                              0.75L,
                              1.0L,
                              1.5L,
                              2.0L,
                              2.5L,
                              3.0L,
                              4.0L,
                              5.0L,
                              7.0L,
                              8.0L,
                              10.0L,
                              31.0L,
                              63.5L,
                              64.0L,
                              100.0L,
                              127.0L,
                              1023.0L,
                              2048.0L,
                              3.14159265358979L,
                              1.57079632679490L,
                              0.78539816339745L,
                              2.71828182845905L,
                              0.69314718055995L}) {
    const Bits bits = bits_of(x);
    for (const int neighbour : {-1, 0, 1}) magnitudes.push_back(static_cast<Bits>(bits + neighbour));
  }
  if constexpr (sizeof(T) > 2)
    for (const long double x : {8388607.5L, 8388608.0L, 16777215.0L, 16777216.0L, 2147483648.0L, 1e20L})
      magnitudes.push_back(bits_of(x));
  std::vector<T> values;
  for (const Bits bits : magnitudes) {
    values.push_back(from_bits<T>(bits));
    values.push_back(from_bits<T>(static_cast<Bits>(bits | Bits{1} << (sizeof(Bits) * 8 - 1))));
  }
  return values;
}

/// `count` numbers: the special ones, then random bits; every other number has an exponent close to 0.
template <typename T>
std::vector<T> numbers(size_t count, unsigned seed) {
  using Bits = typename Format<T>::Bits;
  constexpr int fraction_bits = Format<T>::digits - 1;
  std::vector<T> result = special_values<T>();
  std::mt19937_64 random(seed);
  while (result.size() < count) {
    auto bits = static_cast<Bits>(random());
    if (result.size() % 2 == 1) {
      const Bits fraction_and_sign =
          static_cast<Bits>(bits & ~(Bits{2 * Format<T>::greatest + 1} << fraction_bits));
      const auto exponent = static_cast<Bits>(Format<T>::greatest - 8 + static_cast<int>(random() % 16));
      bits = static_cast<Bits>(fraction_and_sign | exponent << fraction_bits);
    }
    result.push_back(from_bits<T>(bits));
  }
  return result;
}

/// Pairs for functions of two arguments: each special number with each other, then random ones. The numbers
/// of every third random pair are close to each other.
template <typename T>
std::pair<std::vector<T>, std::vector<T>> pairs(size_t count, unsigned seed) {
  using Bits = typename Format<T>::Bits;
  std::pair<std::vector<T>, std::vector<T>> result;
  const std::vector<T> special = special_values<T>();
  for (const T a : special) {
    for (const T b : special) {
      result.first.push_back(a);
      result.second.push_back(b);
    }
  }
  const std::vector<T> more_a = numbers<T>(count, seed), more_b = numbers<T>(count, seed + 1);
  std::mt19937_64 random(seed);
  for (size_t i = special.size(); i < more_a.size(); ++i) {
    T b = more_b[i];
    if (i % 3 == 0) {
      b = from_bits<T>(static_cast<Bits>(std::bit_cast<Bits>(more_a[i]) + random() % 64));
    }
    result.first.push_back(more_a[i]);
    result.second.push_back(b);
  }
  return result;
}

}  // namespace clique::test
