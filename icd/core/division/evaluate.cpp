#include "icd/core/division/evaluate.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace clique::icd {

namespace {

using protocol::Comparison;
using protocol::Footprint;
using protocol::FootprintAccess;
using protocol::FootprintLoop;
using protocol::FootprintNumber;
using Op = protocol::FootprintOp;

/// All numbers are computed with 128 bits. What exceeds that is not known.
__extension__ using Wide = __int128;

/// Accesses of more separate ranges are taken for all between the first and the last.
constexpr std::uint64_t kMostRanges = 256;
/// Deeper expressions are not known.
constexpr unsigned kDeepest = 500;

/// Thrown where a number exceeds 128 bits.
struct TooLarge {};

Wide add(Wide a, Wide b) {
  Wide sum;
  if (__builtin_add_overflow(a, b, &sum)) throw TooLarge();
  return sum;
}
Wide subtract(Wide a, Wide b) {
  Wide difference;
  if (__builtin_sub_overflow(a, b, &difference)) throw TooLarge();
  return difference;
}
Wide multiply(Wide a, Wide b) {
  Wide product;
  if (__builtin_mul_overflow(a, b, &product)) throw TooLarge();
  return product;
}
/// Rounded down. @param b positive
Wide divide(Wide a, Wide b) {
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}
Wide power(unsigned exponent) {
  return Wide{1} << exponent;
}
bool is_signed(Comparison comparison) {
  return comparison == Comparison::LessSigned || comparison == Comparison::LessEqualSigned;
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

Sum scaled(Sum sum, Wide by) {
  if (by == 0) return {};
  sum.constant = multiply(sum.constant, by);
  for (auto& [variable, factor] : sum.terms) factor = multiply(factor, by);
  return sum;
}

/// The variables: global, local and group ids in each dimension, the counters of the loops, and what is made
/// for numbers that are no sums of multiples of these.
constexpr std::size_t kGlobal = 0;
constexpr std::size_t kLocal = 3;
constexpr std::size_t kGroup = 6;
constexpr std::size_t kCounters = 9;

/// Evaluates the numbers of a footprint for one access in a part of a launch.
///
/// A number of the kernel's code has N bits. Here it is a sum whose value is the same modulo 2^N for the
/// current values of the variables. That holds for sums, differences and products whatever overflows. Where
/// the number itself matters, in comparisons, extensions and divisions, within() finds the sum that is equal
/// to it.
class Evaluation {
 public:
  Evaluation(const Footprint& footprint, ScalarArguments arguments, const LaunchSpace& space,
             const GroupBox& groups)
      : footprint_(footprint), arguments_(arguments), space_(space) {
    variables_.resize(kCounters + footprint.loops.size());
    for (unsigned d = 0; d < 3; ++d) {
      const Wide first = Wide{space.offset[d]} + Wide{groups.begin[d]} * space.local[d];
      const Wide end =
          Wide{space.offset[d]} + std::min(Wide{groups.end[d]} * space.local[d], Wide{space.global[d]});
      variables_[kGlobal + d] = {first, end - 1};
      variables_[kLocal + d] = {0, std::min(Wide{space.local[d]}, Wide{space.global[d]}) - 1};
      variables_[kGroup + d] = {Wide{groups.begin[d]}, Wide{groups.end[d]} - 1};
    }
    for (std::size_t loop = 0; loop < footprint.loops.size(); ++loop)
      variables_[kCounters + loop] = {0, power(64)};
  }

  RangeSet bytes_of(const FootprintAccess& access, const AccessedObject& object) {
    RangeSet bytes;
    try {
      // Each condition may make another one tell more.
      for (unsigned round = 0; round < 3; ++round) {
        narrowed_ = false;
        forget();
        for (const std::uint32_t condition : access.conditions)
          if (!narrow(footprint_.conditions[condition])) return bytes;
        if (!narrowed_) break;
      }
      forget();
      const std::size_t coordinates = object.image ? object.image->dimensions : 0;
      if (access.coordinates.size() != coordinates) {
        bytes.add(0, object.size);
      } else if (object.image) {
        add_bytes(position(access, *object.image), object.image->pixel_size, object.size, bytes);
      } else {
        add_bytes(within(number(access.offset), 64, true), access.size, object.size, bytes);
      }
    } catch (const TooLarge&) {
      bytes.add(0, object.size);
    }
    return bytes;
  }

 private:
  /// Forgets what depends on the intervals of the variables.
  void forget() {
    numbers_.clear();
    bounded_.assign(footprint_.loops.size(), false);
    variables_.resize(kCounters + footprint_.loops.size());
  }

  // Sums.

  Interval interval(const Sum& sum) const {
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

  Sum any(Interval values) {
    variables_.push_back(values);
    Sum sum;
    sum.add_term(variables_.size() - 1, 1);
    return sum;
  }
  Sum any(unsigned bits) { return any({-power(bits - 1), power(bits - 1) - 1}); }

  /// global id = offset + group id × local size + local id. Uses the id that says most.
  Sum simplified(Sum sum) const {
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

  Sum plus(Sum a, const Sum& b, Wide times = 1) const {
    a.constant = add(a.constant, multiply(b.constant, times));
    for (const auto& [variable, factor] : b.terms) a.add_term(variable, multiply(factor, times));
    return simplified(std::move(a));
  }

  /// The sum that is equal to a number of so many bits, where `sum` is equal to it modulo 2^bits.
  Sum within(const Sum& sum, unsigned bits, bool is_signed) {
    const Wide lowest = is_signed ? -power(bits - 1) : 0;
    const Interval values = interval(sum);
    const Wide window = divide(subtract(values.least, lowest), power(bits));
    if (divide(subtract(values.most, lowest), power(bits)) != window)
      return any({lowest, lowest + power(bits) - 1});
    Sum result = sum;
    result.constant = subtract(result.constant, multiply(window, power(bits)));
    return result;
  }

  /// value = divisor × quotient + remainder, 0 <= remainder < divisor
  struct Quotient {
    Sum quotient;
    Sum remainder;
  };
  Quotient divided(const Sum& value, Wide divisor) {
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

  // Numbers.

  Sum number(std::uint32_t index) {
    if (const auto known = numbers_.find(index); known != numbers_.end()) return known->second;
    if (depth_ == kDeepest) return any(footprint_.numbers[index].bits);
    ++depth_;
    Sum sum;
    try {
      sum = find(footprint_.numbers[index]);
    } catch (const TooLarge&) {
      sum = any(footprint_.numbers[index].bits);
    }
    --depth_;
    numbers_.insert_or_assign(index, sum);
    return sum;
  }

  unsigned bits(std::uint32_t index) const { return footprint_.numbers[index].bits; }
  Sum signed_number(std::uint32_t index) { return within(number(index), bits(index), true); }
  Sum unsigned_number(std::uint32_t index) { return within(number(index), bits(index), false); }
  static Sum constant(Wide value) { return {value}; }
  static Sum variable(std::size_t index) {
    Sum sum;
    sum.add_term(index, 1);
    return sum;
  }

  Sum find(const FootprintNumber& number) {
    switch (number.op) {
      case Op::Unknown:
        return any(number.bits);
      case Op::Constant:
        return constant(number.value);
      case Op::Argument:
        return argument(number);
      case Op::GlobalId:
        return variable(kGlobal + number.a);
      case Op::LocalId:
        return variable(kLocal + number.a);
      case Op::GroupId:
        return variable(kGroup + number.a);
      case Op::GlobalSize:
        return constant(space_.global[number.a]);
      case Op::LocalSize:
        // The last work-group may be smaller.
        if (space_.global[number.a] % space_.local[number.a] == 0) return constant(space_.local[number.a]);
        return any({1, Wide{space_.local[number.a]}});
      case Op::EnqueuedLocalSize:
        return constant(space_.local[number.a]);
      case Op::GroupCount:
        return constant(space_.groups(number.a));
      case Op::GlobalOffset:
        return constant(space_.offset[number.a]);
      case Op::Dimensions:
        return constant(space_.dimensions);
      case Op::Counter:
        bound_counter(number.a);
        return variable(kCounters + number.a);
      case Op::Add:
        return plus(this->number(number.a), this->number(number.b));
      case Op::Subtract:
        return plus(this->number(number.a), this->number(number.b), -1);
      case Op::Multiply:
        return product(this->number(number.a), this->number(number.b));
      case Op::DivideUnsigned:
        return quotient(unsigned_number(number.a), unsigned_number(number.b), number.bits);
      case Op::DivideSigned:
        return quotient(signed_number(number.a), signed_number(number.b), number.bits);
      case Op::DivideDown:
        return divided(signed_number(number.a), number.value).quotient;
      case Op::RemainderUnsigned:
        return remainder(unsigned_number(number.a), unsigned_number(number.b), number.bits);
      case Op::RemainderSigned:
        return remainder(signed_number(number.a), signed_number(number.b), number.bits);
      case Op::And:
        return common_bits(unsigned_number(number.a), unsigned_number(number.b), number.bits);
      case Op::SignExtend:
        return signed_number(number.a);
      case Op::ZeroExtend:
        return unsigned_number(number.a);
      case Op::Truncate:
        return this->number(number.a);
      case Op::LeastSigned:
        return least(signed_number(number.a), signed_number(number.b));
      case Op::LeastUnsigned:
        return least(unsigned_number(number.a), unsigned_number(number.b));
      case Op::GreatestSigned:
        return greatest(signed_number(number.a), signed_number(number.b));
      case Op::GreatestUnsigned:
        return greatest(unsigned_number(number.a), unsigned_number(number.b));
      case Op::Either: {
        const Interval a = interval(signed_number(number.a));
        const Interval b = interval(signed_number(number.b));
        return any({std::min(a.least, b.least), std::max(a.most, b.most)});
      }
      case Op::Within24Signed:
        return checked(signed_number(number.a), {-power(23), power(23) - 1}, number.bits);
      case Op::Within24Unsigned:
        return checked(unsigned_number(number.a), {0, power(24) - 1}, number.bits);
      case Op::Or:
        return all_bits(unsigned_number(number.a), unsigned_number(number.b));
      case Op::ExclusiveOr:
        return different_bits(unsigned_number(number.a), unsigned_number(number.b), number.bits);
      case Op::ShiftLeft:
        if (const auto by = shift_of(number)) return scaled(this->number(number.a), power(*by));
        break;
      case Op::ShiftRightUnsigned:
        if (const auto by = shift_of(number)) return divided(unsigned_number(number.a), power(*by)).quotient;
        break;
      case Op::ShiftRightSigned:
        if (const auto by = shift_of(number)) return divided(signed_number(number.a), power(*by)).quotient;
        break;
    }
    return any(number.bits);
  }

  Sum argument(const FootprintNumber& number) {
    const std::span<const std::byte> bytes = arguments_[number.a];
    const auto at = static_cast<std::uint64_t>(number.value);
    const std::size_t size = number.bits / 8U;
    if (number.bits % 8 != 0 || number.value < 0 || at > bytes.size() || size > bytes.size() - at)
      return any(number.bits);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value |= std::to_integer<std::uint64_t>(bytes[at + i]) << (8 * i);
    const Wide wide = value;
    return constant(wide >= power(number.bits - 1) ? wide - power(number.bits) : wide);
  }

  Sum product(const Sum& a, const Sum& b) {
    if (b.is_constant()) return scaled(a, b.constant);
    if (a.is_constant()) return scaled(b, a.constant);
    const Interval one = interval(a);
    const Interval other = interval(b);
    const auto [least, most] = std::minmax({multiply(one.least, other.least), multiply(one.least, other.most),
                                            multiply(one.most, other.least), multiply(one.most, other.most)});
    return any({least, most});
  }

  Sum quotient(const Sum& a, const Sum& b, unsigned bits) {
    const Interval values = interval(a);
    const Interval by = interval(b);
    if (values.least < 0 || by.least < 0) return any(bits);
    // Programs must not divide by 0.
    if (!b.is_constant() || by.least == 0) return any({0, values.most});
    return divided(a, b.constant).quotient;
  }

  Sum remainder(const Sum& a, const Sum& b, unsigned bits) {
    const Interval values = interval(a);
    const Interval by = interval(b);
    if (values.least < 0 || by.least < 0) return any(bits);
    if (!b.is_constant() || by.least == 0)
      return any({0, std::min(values.most, std::max<Wide>(by.most, 1) - 1)});
    return divided(a, b.constant).remainder;
  }

  /// a & b, both not negative
  Sum common_bits(const Sum& a, const Sum& b, unsigned bits) {
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

  /// By how many bits a number is shifted, if that is the same for all work-items, and defined.
  std::optional<unsigned> shift_of(const FootprintNumber& number) {
    const Sum by = unsigned_number(number.b);
    if (!by.is_constant() || by.constant >= number.bits) return std::nullopt;
    return static_cast<unsigned>(by.constant);
  }

  /// Whether no bit can be set in both: all values of one are multiples of a power of 2 that the other one
  /// does not reach. Both are not negative.
  bool have_no_common_bit(const Sum& a, const Sum& b) const {
    const auto below = [this](const Sum& low, const Sum& high) {
      Wide all = high.constant;
      for (const auto& [variable, factor] : high.terms) all |= factor;
      // The lowest bit that is set in the constant or a factor divides all values; 0 has none.
      return all == 0 || interval(low).most < (all & -all);
    };
    return below(a, b) || below(b, a);
  }

  /// The largest number that has no more bits than this one, which is not negative.
  static Wide filled(Wide number) {
    Wide all = 0;
    while (all < number) all = 2 * all + 1;
    return all;
  }

  /// a | b, both not negative
  Sum all_bits(const Sum& a, const Sum& b) {
    if (have_no_common_bit(a, b)) return plus(a, b);
    const Interval one = interval(a);
    const Interval other = interval(b);
    return any({std::max(one.least, other.least), filled(std::max(one.most, other.most))});
  }

  /// a ^ b, both not negative
  Sum different_bits(const Sum& a, const Sum& b, unsigned bits) {
    if (have_no_common_bit(a, b)) return plus(a, b);
    // ~a
    if (b.is_constant() && b.constant == power(bits) - 1) return plus(b, a, -1);
    return any({0, filled(std::max(interval(a).most, interval(b).most))});
  }

  Sum least(const Sum& a, const Sum& b) {
    const Interval one = interval(a);
    const Interval other = interval(b);
    if (one.most <= other.least) return a;
    if (other.most <= one.least) return b;
    return any({std::min(one.least, other.least), std::min(one.most, other.most)});
  }

  Sum greatest(const Sum& a, const Sum& b) {
    const Interval one = interval(a);
    const Interval other = interval(b);
    if (one.least >= other.most) return a;
    if (other.least >= one.most) return b;
    return any({std::max(one.least, other.least), std::max(one.most, other.most)});
  }

  Sum checked(const Sum& sum, Interval allowed, unsigned bits) {
    const Interval values = interval(sum);
    return values.least >= allowed.least && values.most <= allowed.most ? sum : any(bits);
  }

  // Loops.

  void bound_counter(std::uint32_t index) {
    if (bounded_[index]) return;
    bounded_[index] = true;
    Wide most = power(64);
    try {
      most = most_iterations(footprint_.loops[index]);
    } catch (const TooLarge&) {
    }
    Interval& counter = variables_[kCounters + index];
    counter.most = std::min(counter.most, most);
  }

  /// How often a loop can go back to its beginning.
  ///
  /// The variable begins with `start`. Whenever it is compared and the loop goes on, it is less than the
  /// bound. So if neither `start` nor the last number before the bound overflows when the step is added, it
  /// never overflows, and it is start + counter × step throughout.
  Wide most_iterations(const FootprintLoop& loop) {
    const Wide unknown = power(64);
    if (!loop.bounded) return unknown;
    const unsigned width = bits(loop.start);
    const Sum step = signed_number(loop.step);
    if (!step.is_constant() || step.constant == 0) return unknown;
    Interval start = interval(within(number(loop.start), width, loop.is_signed));
    const bool compares_signed = is_signed_comparison(loop);
    Interval bound = interval(within(number(loop.bound), bits(loop.bound), compares_signed));
    const bool grows = step.constant > 0;
    // A number that was extended with its sign, and compared without.
    if (loop.is_signed && !compares_signed && (start.least < 0 || !grows)) return unknown;
    const Wide lowest = loop.is_signed ? -power(width - 1) : 0;
    const Wide highest = lowest + power(width) - 1;
    Wide size = step.constant;
    Comparison comparison = loop.comparison;
    if (comparison == Comparison::Different) {
      // It reaches the bound if it comes closer by 1 each time, from the right side.
      if (size != (grows ? 1 : -1)) return unknown;
      const Wide first = loop.next ? step.constant : 0;
      if (grows ? start.most + first > bound.least : start.least + first < bound.most) return unknown;
    } else if (comparison == Comparison::Equal || loop.bound_first == grows) {
      return unknown;
    }
    if (!grows) {
      // The same for the negative numbers.
      start = {-start.most, -start.least};
      bound = {-bound.most, -bound.least};
      size = -size;
    }
    const bool or_equal =
        comparison == Comparison::LessEqualSigned || comparison == Comparison::LessEqualUnsigned;
    const Wide end = or_equal ? add(bound.most, 1) : bound.most;
    const Wide limit = grows ? highest : -lowest;
    if (add(std::max(start.most, subtract(end, 1)), size) > limit) return unknown;
    const Wide tests = std::max<Wide>(0, divide(add(subtract(end, start.least), size - 1), size));
    return loop.next ? std::max<Wide>(0, tests - 1) : tests;
  }

  /// Whether the comparison is one of signed numbers. What asks only whether they differ is one of the
  /// variable's kind.
  static bool is_signed_comparison(const FootprintLoop& loop) {
    return loop.comparison == Comparison::Different ? loop.is_signed : is_signed(loop.comparison);
  }

  // Conditions.

  /// Leaves out values of variables for which the condition does not hold.
  /// @returns false if it never holds
  bool narrow(const protocol::FootprintCondition& condition) {
    const Comparison comparison = condition.comparison;
    const bool as_signed =
        is_signed(comparison) || comparison == Comparison::Equal || comparison == Comparison::Different;
    Sum a;
    Sum b;
    try {
      a = within(number(condition.a), bits(condition.a), as_signed);
      b = within(number(condition.b), bits(condition.b), as_signed);
      const Sum difference = plus(b, a, -1);
      switch (comparison) {
        case Comparison::Equal:
          return at_least(difference, 0) && at_least(scaled(difference, -1), 0);
        case Comparison::Different:
          return not_zero(difference);
        case Comparison::LessSigned:
        case Comparison::LessUnsigned:
          return at_least(difference, 1);
        case Comparison::LessEqualSigned:
        case Comparison::LessEqualUnsigned:
          return at_least(difference, 0);
      }
    } catch (const TooLarge&) {
    }
    return true;
  }

  /// Uses that the sum is `limit` at least.
  bool at_least(const Sum& sum, Wide limit) {
    const Interval all = interval(sum);
    if (all.most < limit) return false;
    for (const auto& [variable, factor] : sum.terms) {
      Interval& values = variables_[variable];
      const Wide highest = std::max(multiply(factor, values.least), multiply(factor, values.most));
      // factor × variable >= needed
      const Wide needed = subtract(limit, subtract(all.most, highest));
      if (factor > 0) {
        raise(values.least, -divide(-needed, factor), variable);
      } else {
        lower(values.most, divide(-needed, -factor), variable);
      }
      if (values.empty()) return false;
    }
    return follow_ids();
  }

  /// Uses that the sum is not 0: a limit of a single variable that would make it 0 is left out.
  bool not_zero(const Sum& sum) {
    if (sum.is_constant()) return sum.constant != 0;
    if (sum.terms.size() != 1) return true;
    const auto [variable, factor] = sum.terms.front();
    if (sum.constant % factor != 0) return true;
    const Wide zero = -sum.constant / factor;
    Interval& values = variables_[variable];
    if (values.least == zero) raise(values.least, zero + 1, variable);
    if (values.most == zero) lower(values.most, zero - 1, variable);
    return !values.empty() && follow_ids();
  }

  void raise(Wide& least, Wide to, std::size_t variable) {
    if (to <= least) return;
    least = to;
    if (variable < kCounters + footprint_.loops.size()) narrowed_ = true;
  }
  void lower(Wide& most, Wide to, std::size_t variable) {
    if (to >= most) return;
    most = to;
    if (variable < kCounters + footprint_.loops.size()) narrowed_ = true;
  }

  /// Global ids say something of the group ids, and the reverse.
  bool follow_ids() {
    for (unsigned d = 0; d < 3; ++d) {
      Interval& global = variables_[kGlobal + d];
      Interval& group = variables_[kGroup + d];
      const Wide offset = space_.offset[d];
      const Wide local = space_.local[d];
      raise(group.least, divide(global.least - offset, local), kGroup + d);
      lower(group.most, divide(global.most - offset, local), kGroup + d);
      raise(global.least, offset + group.least * local, kGlobal + d);
      lower(global.most, offset + group.most * local + local - 1, kGlobal + d);
      if (global.empty() || group.empty()) return false;
    }
    return true;
  }

  // Bytes.

  /// Where a pixel lies, in bytes. One outside of the image counts as the nearest one at its edge, which is
  /// what samplers read; what a write does there is not defined, and drivers ignore it.
  Sum position(const FootprintAccess& access, const ImageLayout& image) {
    Sum place;
    for (unsigned d = 0; d < image.dimensions; ++d) {
      Sum coordinate = within(number(access.coordinates[d]), 32, true);
      const Interval values = interval(coordinate);
      const Wide last = Wide{image.extent[d]} - 1;
      if (values.least < 0 || values.most > last)
        coordinate = any({std::clamp<Wide>(values.least, 0, last), std::clamp<Wide>(values.most, 0, last)});
      place = plus(std::move(place), coordinate, image.pitch[d]);
    }
    return place;
  }

  /// Adds the ranges of `length` bytes that begin at the values of the sum.
  void add_bytes(const Sum& begin, std::uint64_t length, std::uint64_t size, RangeSet& bytes) const {
    struct Step {
      Wide distance;
      Wide count;
    };
    std::vector<Step> steps;
    const Wide first = interval(begin).least;
    for (const auto& [variable, factor] : begin.terms) {
      const Interval& values = variables_[variable];
      if (values.empty()) return;
      if (values.least != values.most)
        steps.push_back({factor < 0 ? -factor : factor, subtract(values.most, values.least) + 1});
    }
    std::sort(steps.begin(), steps.end(),
              [](const Step& a, const Step& b) { return a.distance < b.distance; });
    // Steps within what is covered already make it longer.
    Wide covered = length;
    std::vector<Step> apart;
    Wide count = 1;
    for (const Step& step : steps) {
      if (apart.empty() && step.distance <= covered) {
        covered = add(covered, multiply(step.distance, step.count - 1));
      } else {
        apart.push_back(step);
        count =
            count > Wide{kMostRanges} ? count : multiply(count, std::min(step.count, Wide{kMostRanges} + 1));
      }
    }
    if (count > Wide{kMostRanges}) {
      for (const Step& step : apart) covered = add(covered, multiply(step.distance, step.count - 1));
      apart.clear();
      count = 1;
    }
    for (Wide i = 0; i < count; ++i) {
      Wide at = first;
      Wide rest = i;
      for (const Step& step : apart) {
        at = add(at, multiply(step.distance, rest % step.count));
        rest /= step.count;
      }
      const Wide from = std::clamp<Wide>(at, 0, size);
      const Wide to = std::clamp<Wide>(add(at, covered), 0, size);
      bytes.add(static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to));
    }
  }

  const Footprint& footprint_;
  ScalarArguments arguments_;
  const LaunchSpace& space_;
  std::vector<Interval> variables_;
  std::unordered_map<std::uint32_t, Sum> numbers_;  ///< those that are known already
  std::vector<bool> bounded_;
  bool narrowed_ = false;
  unsigned depth_ = 0;
};

/// How many of its operands, a and b, are numbers.
unsigned operands_of(Op op) {
  switch (op) {
    case Op::DivideDown:
    case Op::SignExtend:
    case Op::ZeroExtend:
    case Op::Truncate:
    case Op::Within24Signed:
    case Op::Within24Unsigned:
      return 1;
    default:
      return op >= Op::Add ? 2 : 0;
  }
}

bool well_formed(const Footprint& footprint, std::size_t index, std::size_t argument_count) {
  const FootprintNumber& number = footprint.numbers[index];
  if (number.op > Op::ShiftRightSigned || number.bits < 1 || number.bits > 64) return false;
  const unsigned operands = operands_of(number.op);
  if ((operands > 0 && number.a >= index) || (operands > 1 && number.b >= index)) return false;
  const auto width = [&](std::uint32_t operand) { return footprint.numbers[operand].bits; };
  switch (number.op) {
    case Op::Argument:
      return number.a < argument_count;
    case Op::GlobalId:
    case Op::LocalId:
    case Op::GroupId:
    case Op::GlobalSize:
    case Op::LocalSize:
    case Op::EnqueuedLocalSize:
    case Op::GroupCount:
    case Op::GlobalOffset:
      return number.a < 3;
    case Op::Counter: {
      if (number.a >= footprint.loops.size()) return false;
      const FootprintLoop& loop = footprint.loops[number.a];
      return !loop.bounded || (loop.start < index && loop.step < index && loop.bound < index);
    }
    case Op::DivideDown:
      return number.value > 0 && width(number.a) == number.bits;
    case Op::SignExtend:
    case Op::ZeroExtend:
      return width(number.a) <= number.bits;
    case Op::Truncate:
      return width(number.a) >= number.bits;
    default:
      return (operands < 1 || width(number.a) == number.bits) &&
             (operands < 2 || width(number.b) == number.bits);
  }
}

bool has_well_formed_place(const Footprint& footprint, const FootprintAccess& access) {
  const auto has_bits = [&](std::uint32_t number, unsigned bits) {
    return number < footprint.numbers.size() && footprint.numbers[number].bits == bits;
  };
  if (access.coordinates.empty()) return has_bits(access.offset, 64);
  return access.coordinates.size() <= 3 &&
         std::all_of(access.coordinates.begin(), access.coordinates.end(),
                     [&](std::uint32_t coordinate) { return has_bits(coordinate, 32); });
}

bool has_well_formed_change(const FootprintAccess& access) {
  using protocol::AtomicChange;
  if (access.change == AtomicChange::None) return true;
  return access.change <= AtomicChange::GreatestUnsigned && access.writes && access.coordinates.empty() &&
         (access.size == 4 || access.size == 8);
}

}  // namespace

std::string flaw_of(const Footprint& footprint, std::size_t argument_count) {
  const std::size_t numbers = footprint.numbers.size();
  if (numbers > protocol::kMostFootprintNumbers || footprint.loops.size() > protocol::kMostFootprintNumbers ||
      footprint.conditions.size() > protocol::kMostFootprintNumbers ||
      footprint.accesses.size() > protocol::kMostFootprintAccesses)
    return "it is too large";
  for (std::size_t i = 0; i < numbers; ++i)
    if (!well_formed(footprint, i, argument_count)) return "number " + std::to_string(i) + " is malformed";
  for (const FootprintLoop& loop : footprint.loops)
    if (loop.bounded && (loop.start >= numbers || loop.step >= numbers || loop.bound >= numbers ||
                         footprint.numbers[loop.start].bits != footprint.numbers[loop.step].bits ||
                         loop.comparison > Comparison::LessEqualUnsigned))
      return "a loop is malformed";
  for (const protocol::FootprintCondition& condition : footprint.conditions)
    if (condition.comparison > Comparison::LessEqualUnsigned || condition.a >= numbers ||
        condition.b >= numbers || footprint.numbers[condition.a].bits != footprint.numbers[condition.b].bits)
      return "a condition is malformed";
  for (const FootprintAccess& access : footprint.accesses) {
    if (access.argument >= argument_count || !has_well_formed_place(footprint, access) ||
        access.conditions.size() > protocol::kMostFootprintConditions || !has_well_formed_change(access))
      return "an access is malformed";
    for (const std::uint32_t condition : access.conditions)
      if (condition >= footprint.conditions.size()) return "an access has a condition that does not exist";
  }
  return {};
}

bool depends_on_data(const Footprint& footprint, std::uint32_t number) {
  // Operands precede what is computed from them.
  std::vector<bool> wanted(number + std::size_t{1});
  wanted[number] = true;
  for (std::size_t i = wanted.size(); i-- > 0;) {
    if (!wanted[i]) continue;
    const FootprintNumber& each = footprint.numbers[i];
    if (each.op == Op::Unknown && each.a == protocol::kFromData) return true;
    const unsigned operands = operands_of(each.op);
    if (operands > 0) wanted[each.a] = true;
    if (operands > 1) wanted[each.b] = true;
    if (each.op != Op::Counter || !footprint.loops[each.a].bounded) continue;
    const FootprintLoop& loop = footprint.loops[each.a];
    for (const std::uint32_t part : {loop.start, loop.step, loop.bound}) wanted[part] = true;
  }
  return false;
}

RangeSet bytes_of(const Footprint& footprint, const FootprintAccess& access, ScalarArguments arguments,
                  const LaunchSpace& space, const GroupBox& groups, const AccessedObject& object) {
  return Evaluation(footprint, arguments, space, groups).bytes_of(access, object);
}

}  // namespace clique::icd
