#include "icd/core/division/sums.hpp"

#include <algorithm>

namespace clique::icd::linear {

namespace {

/// The largest number that has no more bits than this one, which is not negative.
Wide filled(Wide number) {
  Wide all = 0;
  while (all < number) all = 2 * all + 1;
  return all;
}

}  // namespace

Sum scaled(Sum sum, Wide by) {
  if (by == 0) return {};
  sum.constant = multiply(sum.constant, by);
  for (auto& [variable, factor] : sum.terms) factor = multiply(factor, by);
  return sum;
}

Sums::Sums(const LaunchSpace& space, const GroupBox& groups, std::size_t loops)
    : space_(space), named_(kCounters + loops), variables_(named_) {
  for (unsigned d = 0; d < 3; ++d) {
    const Wide first = Wide{space.offset[d]} + Wide{groups.begin[d]} * space.local[d];
    const Wide end =
        Wide{space.offset[d]} + std::min(Wide{groups.end[d]} * space.local[d], Wide{space.global[d]});
    variables_[kGlobal + d] = {first, end - 1};
    variables_[kLocal + d] = {0, std::min(Wide{space.local[d]}, Wide{space.global[d]}) - 1};
    variables_[kGroup + d] = {Wide{groups.begin[d]}, Wide{groups.end[d]} - 1};
  }
  for (std::size_t loop = 0; loop < loops; ++loop) variables_[kCounters + loop] = {0, power(64)};
}

Interval Sums::interval(const Sum& sum) const {
  Interval result{sum.constant, sum.constant};
  for (const auto& [variable, factor] : sum.terms) {
    const Interval& values = variables_[variable];
    const Wide one = multiply(factor, values.least);
    const Wide other = multiply(factor, values.most);
    result.least = add(result.least, std::min(one, other));
    result.most = add(result.most, std::max(one, other));
  }
  return result;
}

Sum Sums::any(Interval values) {
  variables_.push_back(values);
  Sum sum;
  sum.add_term(variables_.size() - 1, 1);
  return sum;
}

Sum Sums::any(unsigned bits) {
  return any({-power(bits - 1), power(bits - 1) - 1});
}

Sum Sums::simplified(Sum sum) const {
  for (unsigned d = 0; d < 3; ++d) {
    const Wide local = space_.local[d];
    const Wide offset = space_.offset[d];
    const auto replace = [&](Wide times, Wide global_sign) {
      // Adds times × (global - offset - local size × group - local id), which is 0.
      sum.add_term(kGlobal + d, multiply(times, global_sign));
      sum.add_term(kGroup + d, multiply(-global_sign, multiply(times, local)));
      sum.add_term(kLocal + d, multiply(-global_sign, times));
      sum.constant = subtract(sum.constant, multiply(global_sign, multiply(times, offset)));
    };
    const Wide of_global = sum.factor(kGlobal + d);
    const Wide of_local = sum.factor(kLocal + d);
    const Wide of_group = sum.factor(kGroup + d);
    if (of_local != 0 && of_group == multiply(of_local, local)) {
      replace(of_local, 1);
    } else if (of_global != 0 && (of_local == -of_global || of_group == -multiply(of_global, local))) {
      replace(of_global, -1);
    }
  }
  return sum;
}

Sum Sums::plus(Sum a, const Sum& b, Wide times) const {
  a.constant = add(a.constant, multiply(b.constant, times));
  for (const auto& [variable, factor] : b.terms) a.add_term(variable, multiply(factor, times));
  return simplified(std::move(a));
}

Sum Sums::within(const Sum& sum, unsigned bits, bool is_signed) {
  const Wide lowest = is_signed ? -power(bits - 1) : 0;
  const Interval values = interval(sum);
  const Wide window = divide(subtract(values.least, lowest), power(bits));
  if (divide(subtract(values.most, lowest), power(bits)) != window)
    return any({lowest, lowest + power(bits) - 1});
  Sum result = sum;
  result.constant = subtract(result.constant, multiply(window, power(bits)));
  return result;
}

Sums::Quotient Sums::divided(const Sum& value, Wide divisor) {
  Quotient result;
  const auto rest = [&](Wide number) { return number - divisor * divide(number, divisor); };
  result.quotient.constant = divide(value.constant, divisor);
  result.remainder.constant = rest(value.constant);
  for (const auto& [variable, factor] : value.terms) {
    result.quotient.add_term(variable, divide(factor, divisor));
    result.remainder.add_term(variable, rest(factor));
  }
  const Interval left = interval(result.remainder);
  const Interval over{divide(left.least, divisor), divide(left.most, divisor)};
  if (over.least == over.most) {
    result.quotient.constant = add(result.quotient.constant, over.least);
    result.remainder.constant = subtract(result.remainder.constant, multiply(over.least, divisor));
  } else {
    result.quotient = plus(std::move(result.quotient), any(over));
    result.remainder = any({0, divisor - 1});
  }
  result.quotient = simplified(std::move(result.quotient));
  result.remainder = simplified(std::move(result.remainder));
  return result;
}

Sum Sums::product(const Sum& a, const Sum& b) {
  if (b.is_constant()) return scaled(a, b.constant);
  if (a.is_constant()) return scaled(b, a.constant);
  const Interval one = interval(a);
  const Interval other = interval(b);
  const auto [least, most] = std::minmax({multiply(one.least, other.least), multiply(one.least, other.most),
                                          multiply(one.most, other.least), multiply(one.most, other.most)});
  return any({least, most});
}

Sum Sums::quotient(const Sum& a, const Sum& b, unsigned bits) {
  const Interval values = interval(a);
  const Interval by = interval(b);
  if (values.least < 0 || by.least < 0) return any(bits);
  // Programs must not divide by 0.
  if (!b.is_constant() || by.least == 0) return any({0, values.most});
  return divided(a, b.constant).quotient;
}

Sum Sums::remainder(const Sum& a, const Sum& b, unsigned bits) {
  const Interval values = interval(a);
  const Interval by = interval(b);
  if (values.least < 0 || by.least < 0) return any(bits);
  if (!b.is_constant() || by.least == 0)
    return any({0, std::min(values.most, std::max<Wide>(by.most, 1) - 1)});
  return divided(a, b.constant).remainder;
}

Sum Sums::common_bits(const Sum& a, const Sum& b, unsigned bits) {
  if (a.is_constant() && !b.is_constant()) return common_bits(b, a, bits);
  if (b.is_constant()) {
    const Wide low = b.constant + 1;
    if ((low & b.constant) == 0) return divided(a, low).remainder;
    // The highest bits of the number.
    const Wide high = power(bits) - b.constant;
    if ((high & (high - 1)) == 0) return scaled(divided(a, high).quotient, high);
  }
  return any({0, std::min(interval(a).most, interval(b).most)});
}

bool Sums::have_no_common_bit(const Sum& a, const Sum& b) const {
  const auto below = [this](const Sum& low, const Sum& high) {
    Wide all = high.constant;
    for (const auto& [variable, factor] : high.terms) all |= factor;
    // The lowest bit that is set in the constant or a factor divides all values; 0 has none.
    return all == 0 || interval(low).most < (all & -all);
  };
  return below(a, b) || below(b, a);
}

Sum Sums::all_bits(const Sum& a, const Sum& b) {
  if (have_no_common_bit(a, b)) return plus(a, b);
  const Interval one = interval(a);
  const Interval other = interval(b);
  return any({std::max(one.least, other.least), filled(std::max(one.most, other.most))});
}

Sum Sums::different_bits(const Sum& a, const Sum& b, unsigned bits) {
  if (have_no_common_bit(a, b)) return plus(a, b);
  // ~a
  if (b.is_constant() && b.constant == power(bits) - 1) return plus(b, a, -1);
  return any({0, filled(std::max(interval(a).most, interval(b).most))});
}

Sum Sums::least(const Sum& a, const Sum& b) {
  const Interval one = interval(a);
  const Interval other = interval(b);
  if (one.most <= other.least) return a;
  if (other.most <= one.least) return b;
  return any({std::min(one.least, other.least), std::min(one.most, other.most)});
}

Sum Sums::greatest(const Sum& a, const Sum& b) {
  const Interval one = interval(a);
  const Interval other = interval(b);
  if (one.least >= other.most) return a;
  if (other.least >= one.most) return b;
  return any({std::max(one.least, other.least), std::max(one.most, other.most)});
}

Sum Sums::checked(const Sum& sum, Interval allowed, unsigned bits) {
  const Interval values = interval(sum);
  return values.least >= allowed.least && values.most <= allowed.most ? sum : any(bits);
}

}  // namespace clique::icd::linear
