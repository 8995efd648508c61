// Arithmetic with numbers that depend linearly on ids and loop counters.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "icd/core/division/evaluate.hpp"

namespace clique::icd::linear {

/// All numbers are computed with 128 bits. What exceeds that is not known.
__extension__ using Wide = __int128;

/// Thrown where a number exceeds 128 bits.
struct TooLarge {};

/// Sum, difference and product. Throw TooLarge.
inline Wide add(Wide a, Wide b) {
  Wide sum;
  if (__builtin_add_overflow(a, b, &sum)) throw TooLarge();
  return sum;
}
inline Wide subtract(Wide a, Wide b) {
  Wide difference;
  if (__builtin_sub_overflow(a, b, &difference)) throw TooLarge();
  return difference;
}
inline Wide multiply(Wide a, Wide b) {
  Wide product;
  if (__builtin_mul_overflow(a, b, &product)) throw TooLarge();
  return product;
}
/// Rounded down. @param b positive
inline Wide divide(Wide a, Wide b) {
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}
inline Wide power(unsigned exponent) {
  return Wide{1} << exponent;
}

/// The numbers from `least` to `most`; none if `most` is less.
struct Interval {
  Wide least = 0;
  Wide most = 0;
  bool empty() const { return most < least; }
};

/// A sum of multiples of variables. Variables are numbered.
struct Sum {
  Wide constant = 0;
  std::vector<std::pair<std::size_t, Wide>> terms = {};  ///< by variable; no factor is 0

  bool is_constant() const { return terms.empty(); }
  Wide factor(std::size_t variable) const {
    for (const auto& [each, factor] : terms)
      if (each == variable) return factor;
    return 0;
  }
  void add_term(std::size_t variable, Wide factor) {
    const auto at = std::lower_bound(terms.begin(), terms.end(), variable,
                                     [](const auto& term, std::size_t other) { return term.first < other; });
    if (at == terms.end() || at->first != variable) {
      if (factor != 0) terms.insert(at, {variable, factor});
    } else {
      at->second = add(at->second, factor);
      if (at->second == 0) terms.erase(at);
    }
  }
};

/// A multiple of a sum. Throws TooLarge, as all functions here do.
Sum scaled(Sum sum, Wide by);

/// The variables: global, local and group ids in each dimension, the counters of the loops, and what is made
/// for numbers that are no sums of multiples of these.
inline constexpr std::size_t kGlobal = 0;
inline constexpr std::size_t kLocal = 3;
inline constexpr std::size_t kGroup = 6;
inline constexpr std::size_t kCounters = 9;

/// Computes with sums whose variables have values in known intervals. What is no sum of multiples of
/// variables becomes a new variable.
class Sums {
 public:
  /// The variables of the work-groups in `groups`, and of `loops` counters, which are not bounded yet.
  /// @param space must outlive this object
  Sums(const LaunchSpace& space, const GroupBox& groups, std::size_t loops);

  /// The values of a variable, which a caller may narrow.
  Interval& values(std::size_t variable) { return variables_[variable]; }
  const Interval& values(std::size_t variable) const { return variables_[variable]; }
  /// Whether the variable is one of an id or counter, not one made for a number.
  bool is_named(std::size_t variable) const { return variable < named_; }
  /// Forgets the variables that were made for numbers.
  void forget() { variables_.resize(named_); }

  /// Between which values a sum lies.
  Interval interval(const Sum& sum) const;
  /// A number of which nothing else is known.
  Sum any(Interval values);
  /// The same for a signed number of so many bits.
  Sum any(unsigned bits);
  /// a + b × times
  Sum plus(Sum a, const Sum& b, Wide times = 1) const;
  /// The sum that is equal to a number of so many bits, where `sum` is equal to it modulo 2^bits.
  Sum within(const Sum& sum, unsigned bits, bool is_signed);
  /// value = divisor × quotient + remainder, 0 <= remainder < divisor
  struct Quotient {
    Sum quotient;
    Sum remainder;
  };
  /// @param divisor positive
  Quotient divided(const Sum& value, Wide divisor);
  Sum product(const Sum& a, const Sum& b);
  /// a / b, of numbers of so many bits
  Sum quotient(const Sum& a, const Sum& b, unsigned bits);
  /// a % b, of numbers of so many bits
  Sum remainder(const Sum& a, const Sum& b, unsigned bits);
  /// a & b, both not negative
  Sum common_bits(const Sum& a, const Sum& b, unsigned bits);
  /// a | b, both not negative
  Sum all_bits(const Sum& a, const Sum& b);
  /// a ^ b, both not negative
  Sum different_bits(const Sum& a, const Sum& b, unsigned bits);
  Sum least(const Sum& a, const Sum& b);
  Sum greatest(const Sum& a, const Sum& b);
  /// The sum if all its values are allowed; otherwise any number of so many bits.
  Sum checked(const Sum& sum, Interval allowed, unsigned bits);

 private:
  /// The same sum with the id that says most: global id = offset + group id × local size + local id.
  Sum simplified(Sum sum) const;
  /// Whether no bit can be set in both: all values of one are multiples of a power of 2 that the other one
  /// does not reach. Both are not negative.
  bool have_no_common_bit(const Sum& a, const Sum& b) const;

  const LaunchSpace& space_;
  std::size_t named_;
  std::vector<Interval> variables_;
};

}  // namespace clique::icd::linear
