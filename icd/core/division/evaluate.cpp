#include "icd/core/division/evaluate.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "icd/core/division/sums.hpp"

namespace clique::icd {

namespace linear {

namespace {

using protocol::Comparison;
using protocol::Footprint;
using protocol::FootprintAccess;
using protocol::FootprintLoop;
using protocol::FootprintNumber;
using Op = protocol::FootprintOp;

/// Accesses of more separate ranges are taken for all between the first and the last.
constexpr std::uint64_t kMostRanges = 256;
/// Deeper expressions are not known.
constexpr unsigned kDeepest = 500;

bool is_signed(Comparison comparison) {
  return comparison == Comparison::LessSigned || comparison == Comparison::LessEqualSigned;
}

/// Evaluates the numbers of a footprint for one access in a part of a launch.
///
/// A number of the kernel's code has N bits. Here it is a sum whose value is the same modulo 2^N for the
/// current values of the variables. That holds for sums, differences and products whatever overflows. Where
/// the number itself matters, in comparisons, extensions and divisions, Sums::within() finds the sum that is
/// equal to it.
class Evaluation {
 public:
  Evaluation(const Footprint& footprint, ScalarArguments arguments, const LaunchSpace& space,
             const GroupBox& groups)
      : footprint_(footprint),
        arguments_(arguments),
        space_(space),
        sums_(space, groups, footprint.loops.size()) {}

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
        add_bytes(sums_.within(number(access.offset), 64, true), access.size, object.size, bytes);
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
    sums_.forget();
  }

  // Numbers.

  Sum number(std::uint32_t index) {
    if (const auto known = numbers_.find(index); known != numbers_.end()) return known->second;
    if (depth_ == kDeepest) return sums_.any(footprint_.numbers[index].bits);
    ++depth_;
    Sum sum;
    try {
      sum = find(footprint_.numbers[index]);
    } catch (const TooLarge&) {
      sum = sums_.any(footprint_.numbers[index].bits);
    }
    --depth_;
    numbers_.insert_or_assign(index, sum);
    return sum;
  }

  unsigned bits(std::uint32_t index) const { return footprint_.numbers[index].bits; }
  Sum signed_number(std::uint32_t index) { return sums_.within(number(index), bits(index), true); }
  Sum unsigned_number(std::uint32_t index) { return sums_.within(number(index), bits(index), false); }
  static Sum constant(Wide value) { return {value}; }
  static Sum variable(std::size_t index) {
    Sum sum;
    sum.add_term(index, 1);
    return sum;
  }

  Sum find(const FootprintNumber& number) {
    switch (number.op) {
      case Op::Unknown:
        return sums_.any(number.bits);
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
        return sums_.any({1, Wide{space_.local[number.a]}});
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
      default:
        return result_of(number);
    }
  }

  /// The result of an operation.
  Sum result_of(const FootprintNumber& number) {
    switch (number.op) {
      case Op::Add:
        return sums_.plus(this->number(number.a), this->number(number.b));
      case Op::Subtract:
        return sums_.plus(this->number(number.a), this->number(number.b), -1);
      case Op::Multiply:
        return sums_.product(this->number(number.a), this->number(number.b));
      case Op::DivideUnsigned:
        return sums_.quotient(unsigned_number(number.a), unsigned_number(number.b), number.bits);
      case Op::DivideSigned:
        return sums_.quotient(signed_number(number.a), signed_number(number.b), number.bits);
      case Op::DivideDown:
        return sums_.divided(signed_number(number.a), number.value).quotient;
      case Op::RemainderUnsigned:
        return sums_.remainder(unsigned_number(number.a), unsigned_number(number.b), number.bits);
      case Op::RemainderSigned:
        return sums_.remainder(signed_number(number.a), signed_number(number.b), number.bits);
      case Op::And:
        return sums_.common_bits(unsigned_number(number.a), unsigned_number(number.b), number.bits);
      case Op::SignExtend:
        return signed_number(number.a);
      case Op::ZeroExtend:
        return unsigned_number(number.a);
      case Op::Truncate:
        return this->number(number.a);
      case Op::LeastSigned:
        return sums_.least(signed_number(number.a), signed_number(number.b));
      case Op::LeastUnsigned:
        return sums_.least(unsigned_number(number.a), unsigned_number(number.b));
      case Op::GreatestSigned:
        return sums_.greatest(signed_number(number.a), signed_number(number.b));
      case Op::GreatestUnsigned:
        return sums_.greatest(unsigned_number(number.a), unsigned_number(number.b));
      case Op::Either: {
        const Interval a = sums_.interval(signed_number(number.a));
        const Interval b = sums_.interval(signed_number(number.b));
        return sums_.any({std::min(a.least, b.least), std::max(a.most, b.most)});
      }
      case Op::Within24Signed:
        return sums_.checked(signed_number(number.a), {-power(23), power(23) - 1}, number.bits);
      case Op::Within24Unsigned:
        return sums_.checked(unsigned_number(number.a), {0, power(24) - 1}, number.bits);
      case Op::Or:
        return sums_.all_bits(unsigned_number(number.a), unsigned_number(number.b));
      case Op::ExclusiveOr:
        return sums_.different_bits(unsigned_number(number.a), unsigned_number(number.b), number.bits);
      case Op::ShiftLeft:
        if (const auto by = shift_of(number)) return scaled(this->number(number.a), power(*by));
        break;
      case Op::ShiftRightUnsigned:
        if (const auto by = shift_of(number))
          return sums_.divided(unsigned_number(number.a), power(*by)).quotient;
        break;
      case Op::ShiftRightSigned:
        if (const auto by = shift_of(number))
          return sums_.divided(signed_number(number.a), power(*by)).quotient;
        break;
      default:
        break;
    }
    return sums_.any(number.bits);
  }

  Sum argument(const FootprintNumber& number) {
    const std::span<const std::byte> bytes = arguments_[number.a];
    const auto at = static_cast<std::uint64_t>(number.value);
    const std::size_t size = number.bits / 8U;
    if (number.bits % 8 != 0 || number.value < 0 || at > bytes.size() || size > bytes.size() - at)
      return sums_.any(number.bits);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value |= std::to_integer<std::uint64_t>(bytes[at + i]) << (8 * i);
    const Wide wide = value;
    return constant(wide >= power(number.bits - 1) ? wide - power(number.bits) : wide);
  }

  /// By how many bits a number is shifted, if that is the same for all work-items, and defined.
  std::optional<unsigned> shift_of(const FootprintNumber& number) {
    const Sum by = unsigned_number(number.b);
    if (!by.is_constant() || by.constant >= number.bits) return std::nullopt;
    return static_cast<unsigned>(by.constant);
  }

  // Loops.

  void bound_counter(std::uint32_t index) {
    if (bounded_[index]) return;
    bounded_[index] = true;
    try {
      const Wide most = most_iterations(footprint_.loops[index]);
      Interval& counter = sums_.values(kCounters + index);
      counter.most = std::min(counter.most, most);
    } catch (const TooLarge&) {
      // The counter keeps its bound.
    }
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
    Interval start = sums_.interval(sums_.within(number(loop.start), width, loop.is_signed));
    const bool compares_signed = is_signed_comparison(loop);
    Interval bound = sums_.interval(sums_.within(number(loop.bound), bits(loop.bound), compares_signed));
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
      a = sums_.within(number(condition.a), bits(condition.a), as_signed);
      b = sums_.within(number(condition.b), bits(condition.b), as_signed);
      const Sum difference = sums_.plus(b, a, -1);
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
    const Interval all = sums_.interval(sum);
    if (all.most < limit) return false;
    for (const auto& [variable, factor] : sum.terms) {
      Interval& values = sums_.values(variable);
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
    Interval& values = sums_.values(variable);
    if (values.least == zero) raise(values.least, zero + 1, variable);
    if (values.most == zero) lower(values.most, zero - 1, variable);
    return !values.empty() && follow_ids();
  }

  void raise(Wide& least, Wide to, std::size_t variable) {
    if (to <= least) return;
    least = to;
    if (sums_.is_named(variable)) narrowed_ = true;
  }
  void lower(Wide& most, Wide to, std::size_t variable) {
    if (to >= most) return;
    most = to;
    if (sums_.is_named(variable)) narrowed_ = true;
  }

  /// Global ids say something of the group ids, and the reverse.
  bool follow_ids() {
    for (unsigned d = 0; d < 3; ++d) {
      Interval& global = sums_.values(kGlobal + d);
      Interval& group = sums_.values(kGroup + d);
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
      Sum coordinate = sums_.within(number(access.coordinates[d]), 32, true);
      const Interval values = sums_.interval(coordinate);
      const Wide last = Wide{image.extent[d]} - 1;
      if (values.least < 0 || values.most > last)
        coordinate =
            sums_.any({std::clamp<Wide>(values.least, 0, last), std::clamp<Wide>(values.most, 0, last)});
      place = sums_.plus(std::move(place), coordinate, image.pitch[d]);
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
    const Wide first = sums_.interval(begin).least;
    for (const auto& [variable, factor] : begin.terms) {
      const Interval& values = sums_.values(variable);
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
  Sums sums_;
  std::unordered_map<std::uint32_t, Sum> numbers_;  ///< those that are known already
  std::vector<bool> bounded_;
  bool narrowed_ = false;
  unsigned depth_ = 0;
};

}  // namespace

}  // namespace linear

RangeSet bytes_of(const protocol::Footprint& footprint, const protocol::FootprintAccess& access,
                  ScalarArguments arguments, const LaunchSpace& space, const GroupBox& groups,
                  const AccessedObject& object) {
  return linear::Evaluation(footprint, arguments, space, groups).bytes_of(access, object);
}

}  // namespace clique::icd
