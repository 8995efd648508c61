#include "daemon/compiler/tool/footprints/footprint_text.hpp"

namespace clique::daemon::compiler {

namespace {

using protocol::AtomicChange;
using protocol::Comparison;
using protocol::Footprint;
using protocol::FootprintNumber;
using Op = protocol::FootprintOp;

const char* name_of(Op op) {
  switch (op) {
    case Op::GlobalId:
      return "global_id";
    case Op::LocalId:
      return "local_id";
    case Op::GroupId:
      return "group_id";
    case Op::GlobalSize:
      return "global_size";
    case Op::LocalSize:
      return "local_size";
    case Op::EnqueuedLocalSize:
      return "enqueued_local_size";
    case Op::GroupCount:
      return "num_groups";
    case Op::GlobalOffset:
      return "global_offset";
    case Op::SignExtend:
      return "sext";
    case Op::ZeroExtend:
      return "zext";
    case Op::Truncate:
      return "trunc";
    case Op::LeastSigned:
      return "smin";
    case Op::LeastUnsigned:
      return "umin";
    case Op::GreatestSigned:
      return "smax";
    case Op::GreatestUnsigned:
      return "umax";
    case Op::Either:
      return "either";
    case Op::Within24Signed:
    case Op::Within24Unsigned:
      return "within24";
    default:
      return "?";
  }
}

const char* sign_of(Op op) {
  switch (op) {
    case Op::Add:
      return " + ";
    case Op::Subtract:
      return " - ";
    case Op::Multiply:
      return " * ";
    case Op::DivideUnsigned:
    case Op::DivideSigned:
    case Op::DivideDown:
      return " / ";
    case Op::RemainderUnsigned:
    case Op::RemainderSigned:
      return " % ";
    case Op::And:
      return " & ";
    case Op::Or:
      return " | ";
    case Op::ExclusiveOr:
      return " ^ ";
    case Op::ShiftLeft:
      return " << ";
    case Op::ShiftRightUnsigned:
    case Op::ShiftRightSigned:
      return " >> ";
    default:
      return nullptr;
  }
}

const char* name_of(AtomicChange change) {
  switch (change) {
    case AtomicChange::None:
      return "";
    case AtomicChange::Add:
      return " (adds)";
    case AtomicChange::And:
      return " (ands)";
    case AtomicChange::Or:
      return " (ors)";
    case AtomicChange::ExclusiveOr:
      return " (exclusively ors)";
    case AtomicChange::LeastSigned:
    case AtomicChange::LeastUnsigned:
      return " (keeps the least)";
    case AtomicChange::GreatestSigned:
    case AtomicChange::GreatestUnsigned:
      return " (keeps the greatest)";
  }
  return "";
}

const char* sign_of(Comparison comparison) {
  switch (comparison) {
    case Comparison::Equal:
      return " == ";
    case Comparison::Different:
      return " != ";
    case Comparison::LessSigned:
    case Comparison::LessUnsigned:
      return " < ";
    case Comparison::LessEqualSigned:
    case Comparison::LessEqualUnsigned:
      return " <= ";
  }
  return " ? ";
}

std::string text_of(const Footprint& footprint, std::uint32_t index) {
  const FootprintNumber& number = footprint.numbers[index];
  const auto call = [&](const std::string& operands) {
    return std::string(name_of(number.op)) + '(' + operands + ')';
  };
  switch (number.op) {
    case Op::Unknown:
      return "?";
    case Op::Constant:
      return std::to_string(number.value);
    case Op::Argument:
      return "arg(" + std::to_string(number.a) +
             (number.value != 0 ? " + " + std::to_string(number.value) + " bytes)" : ")");
    case Op::Dimensions:
      return "work_dim()";
    case Op::Counter:
      return "loop(" + std::to_string(number.a) + ')';
    case Op::DivideDown:
      return '(' + text_of(footprint, number.a) + " / " + std::to_string(number.value) + ')';
    case Op::SignExtend:
    case Op::ZeroExtend:
    case Op::Truncate:
    case Op::Within24Signed:
    case Op::Within24Unsigned:
      return call(text_of(footprint, number.a));
    default:
      break;
  }
  if (const char* sign = sign_of(number.op))
    return '(' + text_of(footprint, number.a) + sign + text_of(footprint, number.b) + ')';
  if (number.op >= Op::GlobalId && number.op <= Op::GlobalOffset) return call(std::to_string(number.a));
  return call(text_of(footprint, number.a) + ", " + text_of(footprint, number.b));
}

}  // namespace

std::string footprint_text(const Footprint& footprint) {
  std::string text = "kernel " + footprint.kernel + ": ";
  if (!footprint.obstacle.empty())
    return text + "undivided: " + footprint.obstacle + ", line " + std::to_string(footprint.line) + '\n';
  text += "dimensions that stay whole with an offset: ";
  for (unsigned d = 0; d < 3; ++d)
    if ((footprint.whole_dimensions >> d & 1U) != 0) text += std::to_string(d) + ' ';
  if (footprint.group_id_dimensions != 0) text += "; uses ids of groups";
  text += footprint.uses_groups ? "; uses groups\n" : "\n";
  for (std::size_t i = 0; i < footprint.loops.size(); ++i) {
    const auto& loop = footprint.loops[i];
    text += "  loop " + std::to_string(i) + ": ";
    if (!loop.bounded) {
      text += "unbounded\n";
      continue;
    }
    text += "from " + text_of(footprint, loop.start) + " step " + text_of(footprint, loop.step) + " while ";
    const std::string bound = text_of(footprint, loop.bound);
    const std::string variable = loop.next ? "next" : "it";
    text += (loop.bound_first ? bound : variable) + sign_of(loop.comparison) +
            (loop.bound_first ? variable : bound) + '\n';
  }
  for (const auto& access : footprint.accesses) {
    text += std::string(access.writes ? "  writes " : "  reads ") + std::to_string(access.size) +
            " bytes of argument " + std::to_string(access.argument) + " at " +
            text_of(footprint, access.offset) + name_of(access.change);
    for (const std::uint32_t index : access.conditions) {
      const auto& condition = footprint.conditions[index];
      text += index == access.conditions.front() ? " if " : " and ";
      text += '(' + text_of(footprint, condition.a) + sign_of(condition.comparison) +
              text_of(footprint, condition.b) + ')';
    }
    text += ", line " + std::to_string(access.line) + '\n';
  }
  return text;
}

}  // namespace clique::daemon::compiler
