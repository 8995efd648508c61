#include "icd/core/division/check_footprint.hpp"

#include <algorithm>
#include <vector>

namespace clique::icd {

namespace {

using protocol::Comparison;
using protocol::Footprint;
using protocol::FootprintAccess;
using protocol::FootprintLoop;
using protocol::FootprintNumber;
using Op = protocol::FootprintOp;

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

}  // namespace clique::icd
