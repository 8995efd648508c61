#include "daemon/compiler/tool/footprints/numbers.hpp"

#include <llvm/IR/Constants.h>

#include <set>
#include <string>
#include <vector>

#include "daemon/compiler/tool/common/address_spaces.hpp"
#include "daemon/compiler/tool/footprints/builtins.hpp"
#include "daemon/compiler/tool/footprints/obstacle.hpp"

namespace clique::daemon::compiler::footprints {

namespace {

using protocol::Comparison;
using protocol::FootprintLoop;
using protocol::FootprintNumber;

/// Of a kernel; further ones are not analysed.
constexpr unsigned kMostBitwise = 256;
/// Of a vector.
constexpr unsigned kMostLanes = 16;

}  // namespace

Index Numbers::number(const FootprintNumber& number) {
  // Numbers that the operands do not determine are different ones each time.
  const bool determined = number.op != Op::Unknown && number.op != Op::Either;
  const auto key = std::tuple(number.op, number.bits, number.a, number.b, number.value);
  if (determined) {
    const auto found = known_numbers_.find(key);
    if (found != known_numbers_.end()) return found->second;
  }
  if (result_.numbers.size() == protocol::kMostFootprintNumbers)
    throw Obstacle(
        "more than " + std::to_string(protocol::kMostFootprintNumbers) + " numbers that addresses depend on",
        nullptr);
  const auto index = static_cast<Index>(result_.numbers.size());
  result_.numbers.push_back(number);
  if (determined) known_numbers_[key] = index;
  return index;
}

Index Numbers::constant(std::int64_t value, unsigned bits) {
  return number({Op::Constant, static_cast<std::uint8_t>(bits), 0, 0, value});
}

Index Numbers::unknown(unsigned bits) {
  return number({Op::Unknown, static_cast<std::uint8_t>(bits), 0, 0, 0});
}

Index Numbers::binary(Op op, unsigned bits, Index a, Index b) {
  return number({op, static_cast<std::uint8_t>(bits), a, b, 0});
}

Index Numbers::unary(Op op, unsigned bits, Index a, std::int64_t value) {
  return number({op, static_cast<std::uint8_t>(bits), a, 0, value});
}

Index Numbers::resized(const llvm::Value* value, unsigned bits, bool is_signed) {
  if (!is_number(value->getType())) return unknown(bits);
  const unsigned own = value->getType()->getIntegerBitWidth();
  const Index index = number_of(value);
  if (own == bits) return index;
  return unary(own > bits ? Op::Truncate : is_signed ? Op::SignExtend : Op::ZeroExtend, bits, index);
}

Index Numbers::either(unsigned bits, Index a, Index b, std::array<Chosen, 2> ways) {
  const Index index = binary(Op::Either, bits, a, b);
  choices_[index] = ways;
  return index;
}

std::vector<bool> Numbers::used_by(const std::vector<Index>& numbers) const {
  std::vector<bool> used(numbers.empty() ? 0 : *llvm::max_element(numbers) + std::size_t{1});
  for (const Index number : numbers) used[number] = true;
  // Operands precede what is computed from them.
  for (std::size_t i = used.size(); i-- > 0;) {
    const FootprintNumber& each = result_.numbers[i];
    // Operations with one operand have 0 as the other one, which at worst is looked at in vain.
    if (used[i] && each.op >= Op::Add) used[each.a] = used[each.b] = true;
  }
  return used;
}

std::optional<Index> Numbers::choice_in(const std::vector<Index>& numbers) const {
  const std::vector<bool> used = used_by(numbers);
  for (std::size_t i = used.size(); i-- > 0;)
    if (used[i] && result_.numbers[i].op == Op::Either) return static_cast<Index>(i);
  return std::nullopt;
}

Chosen Numbers::chosen(Index choice, bool second) const {
  const auto found = choices_.find(choice);
  return found == choices_.end() ? Chosen{} : found->second[second ? 1 : 0];
}

Index Numbers::with_choice(Index number, Index choice, bool second) {
  if (number < choice) return number;
  const std::vector<bool> used = used_by({number});
  // What the numbers from `choice` on become.
  std::vector<Index> become;
  const auto now = [&](Index index) { return index < choice ? index : become[index - choice]; };
  for (Index i = choice; i <= number; ++i) {
    const FootprintNumber each = result_.numbers[i];
    if (i == choice) {
      become.push_back(second ? each.b : each.a);
    } else if (!used[i] || each.op < Op::Add || (now(each.a) == each.a && now(each.b) == each.b)) {
      become.push_back(i);
    } else {
      become.push_back(this->number({each.op, each.bits, now(each.a), now(each.b), each.value}));
    }
  }
  return become.back();
}

bool Numbers::depends_on_ids(Index number) const {
  const std::vector<bool> used = used_by({number});
  bool ids = false;
  for (std::size_t i = 0; i < used.size(); ++i) {
    const Op op = result_.numbers[i].op;
    if (used[i] && op == Op::Unknown) return false;
    ids |= used[i] && (op == Op::GlobalId || op == Op::GroupId);
  }
  return ids;
}

bool Numbers::depends_on_data(const llvm::Value* value) {
  constexpr std::size_t kMostTraced = 2'000;
  std::set<const llvm::Value*> seen;
  std::vector<const llvm::Value*> open{value};
  while (!open.empty() && seen.size() < kMostTraced) {
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(open.back());
    open.pop_back();
    if (instruction == nullptr || !seen.insert(instruction).second) continue;
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(instruction))
      if (is_shared_data(load->getPointerOperand())) return true;
    if (const auto* call = llvm::dyn_cast<llvm::CallBase>(instruction)) {
      const llvm::Function* function = call->getCalledFunction();
      if (function != nullptr && builtin_of(function->getName()).name.starts_with("read_image")) return true;
      for (const llvm::Use& use : call->args())
        if (use->getType()->isPointerTy() && is_shared_data(use.get())) return true;
    }
    for (const llvm::Use& operand : instruction->operands()) open.push_back(operand.get());
  }
  return false;
}

bool Numbers::is_shared_data(const llvm::Value* pointer) {
  const unsigned space = pointer->getType()->getPointerAddressSpace();
  return (space == kGlobalSpace || space == kConstantSpace) &&
         !llvm::isa<llvm::GlobalVariable>(pointer->stripPointerCasts());
}

Index Numbers::number_of(const llvm::Value* value) {
  if (const auto found = numbers_of_.find(value); found != numbers_of_.end()) {
    // A number that depends on itself.
    if (!found->second) return unknown(value->getType()->getIntegerBitWidth());
    return *found->second;
  }
  numbers_of_[value] = std::nullopt;
  const Index index = find_number(value);
  numbers_of_[value] = index;
  if (FootprintNumber& found = result_.numbers[index]; found.op == Op::Unknown && depends_on_data(value))
    found.a = protocol::kFromData;
  return index;
}

Index Numbers::find_number(const llvm::Value* value) {
  const unsigned bits = value->getType()->getIntegerBitWidth();
  if (const auto* fixed = llvm::dyn_cast<llvm::ConstantInt>(value))
    return constant(fixed->getSExtValue(), bits);
  if (const auto* argument = llvm::dyn_cast<llvm::Argument>(value))
    return number({Op::Argument, static_cast<std::uint8_t>(bits), argument->getArgNo(), 0, 0});
  if (const auto* element = llvm::dyn_cast<llvm::ExtractElementInst>(value)) {
    const auto* lane = llvm::dyn_cast<llvm::ConstantInt>(element->getIndexOperand());
    if (lane == nullptr || lane->getValue().uge(kMostLanes)) return unknown(bits);
    return number_of_lane(element->getVectorOperand(), static_cast<unsigned>(lane->getZExtValue()));
  }
  if (const auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(value)) return result_of(*operation, bits);
  if (const auto* cast = llvm::dyn_cast<llvm::CastInst>(value)) {
    if (!is_number(cast->getOperand(0)->getType())) return unknown(bits);
    switch (cast->getOpcode()) {
      case llvm::Instruction::SExt:
        return unary(Op::SignExtend, bits, number_of(cast->getOperand(0)));
      case llvm::Instruction::ZExt:
        return unary(Op::ZeroExtend, bits, number_of(cast->getOperand(0)));
      case llvm::Instruction::Trunc:
        return unary(Op::Truncate, bits, number_of(cast->getOperand(0)));
      default:
        return unknown(bits);
    }
  }
  if (const auto* freeze = llvm::dyn_cast<llvm::FreezeInst>(value)) return number_of(freeze->getOperand(0));
  if (const auto* choice = llvm::dyn_cast<llvm::SelectInst>(value))
    return either(bits, number_of(choice->getTrueValue()), number_of(choice->getFalseValue()),
                  {Chosen{.truth = choice->getCondition(), .holds = true},
                   Chosen{.truth = choice->getCondition(), .holds = false}});
  if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(value)) return number_of_phi(*phi, bits);
  if (const auto* call = llvm::dyn_cast<llvm::CallBase>(value)) return answer_of(*call, bits);
  return unknown(bits);
}

Index Numbers::number_of_lane(const llvm::Value* vector, unsigned lane) {
  const auto key = std::pair(vector, lane);
  if (const auto found = lanes_.find(key); found != lanes_.end()) return found->second;
  const Index index = find_lane(vector, lane);
  lanes_[key] = index;
  if (FootprintNumber& found = result_.numbers[index]; found.op == Op::Unknown && depends_on_data(vector))
    found.a = protocol::kFromData;
  return index;
}

Index Numbers::find_lane(const llvm::Value* vector, unsigned lane) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(vector->getType());
  const unsigned bits = vector->getType()->getScalarSizeInBits();
  if (type == nullptr || lane >= type->getNumElements()) return unknown(bits);
  if (const auto* argument = llvm::dyn_cast<llvm::Argument>(vector))
    return number({Op::Argument, static_cast<std::uint8_t>(bits), argument->getArgNo(), 0,
                   static_cast<std::int64_t>(lane * (bits / 8))});
  if (const auto* fixed = llvm::dyn_cast<llvm::Constant>(vector)) {
    const auto* element = llvm::dyn_cast_or_null<llvm::ConstantInt>(fixed->getAggregateElement(lane));
    return element == nullptr ? unknown(bits) : constant(element->getSExtValue(), bits);
  }
  if (const auto* insert = llvm::dyn_cast<llvm::InsertElementInst>(vector)) {
    const auto* place = llvm::dyn_cast<llvm::ConstantInt>(insert->getOperand(2));
    if (place == nullptr) return unknown(bits);
    return place->getValue() == lane ? number_of(insert->getOperand(1))
                                     : number_of_lane(insert->getOperand(0), lane);
  }
  if (const auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(vector)) {
    const auto* first = llvm::dyn_cast<llvm::FixedVectorType>(shuffle->getOperand(0)->getType());
    const int from = shuffle->getMaskValue(lane);
    if (first == nullptr || from < 0) return unknown(bits);
    const auto place = static_cast<unsigned>(from);
    return place < first->getNumElements()
               ? number_of_lane(shuffle->getOperand(0), place)
               : number_of_lane(shuffle->getOperand(1), place - first->getNumElements());
  }
  if (const auto* choice = llvm::dyn_cast<llvm::SelectInst>(vector))
    return binary(Op::Either, bits, number_of_lane(choice->getTrueValue(), lane),
                  number_of_lane(choice->getFalseValue(), lane));
  if (const auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(vector)) {
    const auto both = [&](Op op) {
      return binary(op, bits, number_of_lane(operation->getOperand(0), lane),
                    number_of_lane(operation->getOperand(1), lane));
    };
    if (operation->getOpcode() == llvm::Instruction::Add) return both(Op::Add);
    if (operation->getOpcode() == llvm::Instruction::Sub) return both(Op::Subtract);
    if (operation->getOpcode() == llvm::Instruction::Mul) return both(Op::Multiply);
  }
  return unknown(bits);
}

Index Numbers::result_of(const llvm::BinaryOperator& operation, unsigned bits) {
  const llvm::Value* const right = operation.getOperand(1);
  const auto both = [&](Op op) {
    return binary(op, bits, number_of(operation.getOperand(0)), number_of(right));
  };
  // Addresses need few of them; hashes and random numbers have thousands.
  const auto bitwise = [&](Op op) { return bitwise_++ < kMostBitwise ? both(op) : unknown(bits); };
  const auto* fixed = llvm::dyn_cast<llvm::ConstantInt>(right);
  const std::uint64_t shift = fixed != nullptr ? fixed->getLimitedValue() : 64;
  switch (operation.getOpcode()) {
    case llvm::Instruction::Add:
      return both(Op::Add);
    case llvm::Instruction::Sub:
      return both(Op::Subtract);
    case llvm::Instruction::Mul:
      return both(Op::Multiply);
    case llvm::Instruction::UDiv:
      return both(Op::DivideUnsigned);
    case llvm::Instruction::SDiv:
      return both(Op::DivideSigned);
    case llvm::Instruction::URem:
      return both(Op::RemainderUnsigned);
    case llvm::Instruction::SRem:
      return both(Op::RemainderSigned);
    case llvm::Instruction::And:
      return both(Op::And);
    case llvm::Instruction::Or:
      // What sets bits that are 0 otherwise is an addition.
      if (llvm::cast<llvm::PossiblyDisjointInst>(operation).isDisjoint()) return both(Op::Add);
      return bitwise(Op::Or);
    case llvm::Instruction::Xor:
      return bitwise(Op::ExclusiveOr);
    case llvm::Instruction::Shl:
      if (fixed == nullptr) return bitwise(Op::ShiftLeft);
      if (shift >= bits || shift > 62) return unknown(bits);
      return binary(Op::Multiply, bits, number_of(operation.getOperand(0)),
                    constant(std::int64_t{1} << shift, bits));
    case llvm::Instruction::LShr:
      if (fixed == nullptr) return bitwise(Op::ShiftRightUnsigned);
      if (shift >= bits || shift > 62) return unknown(bits);
      return binary(Op::DivideUnsigned, bits, number_of(operation.getOperand(0)),
                    constant(std::int64_t{1} << shift, bits));
    case llvm::Instruction::AShr:
      if (fixed == nullptr) return bitwise(Op::ShiftRightSigned);
      if (shift >= bits || shift > 62) return unknown(bits);
      return unary(Op::DivideDown, bits, number_of(operation.getOperand(0)), std::int64_t{1} << shift);
    default:
      return unknown(bits);
  }
}

Index Numbers::answer_of(const llvm::CallBase& call, unsigned bits) {
  const llvm::Function* function = call.getCalledFunction();
  if (function == nullptr) return unknown(bits);
  const auto operand = [&](unsigned i) { return number_of(call.getArgOperand(i)); };
  switch (function->getIntrinsicID()) {
    case llvm::Intrinsic::smin:
      return binary(Op::LeastSigned, bits, operand(0), operand(1));
    case llvm::Intrinsic::smax:
      return binary(Op::GreatestSigned, bits, operand(0), operand(1));
    case llvm::Intrinsic::umin:
      return binary(Op::LeastUnsigned, bits, operand(0), operand(1));
    case llvm::Intrinsic::umax:
      return binary(Op::GreatestUnsigned, bits, operand(0), operand(1));
    case llvm::Intrinsic::not_intrinsic:
      break;
    default:
      return unknown(bits);
  }
  const Builtin builtin = builtin_of(function->getName());
  if (const auto query = query_of(builtin.name)) {
    const auto wide = bits == 64 || query->op == Op::Dimensions;
    if (query->op == Op::Unknown || !wide) return unknown(bits);
    if (query->op == Op::Dimensions) return number({query->op, static_cast<std::uint8_t>(bits), 0, 0, 0});
    const auto dimension = dimension_of(call);
    if (!dimension || *dimension > 2) return unknown(bits);
    return number({query->op, static_cast<std::uint8_t>(bits), static_cast<Index>(*dimension), 0, 0});
  }
  // Of integers: "ii", "jjj" and so on.
  const llvm::StringRef types = builtin.parameters;
  if (types.size() < 2 || types.size() != call.arg_size() ||
      types.find_first_not_of(types[0]) != llvm::StringRef::npos ||
      size_of_scalar(types.take_front(1)) * 8 != bits)
    return unknown(bits);
  const bool is_signed = llvm::StringRef("casil").contains(types[0]);
  if (!is_signed && !llvm::StringRef("htjm").contains(types[0])) return unknown(bits);
  const Op least = is_signed ? Op::LeastSigned : Op::LeastUnsigned;
  const Op greatest = is_signed ? Op::GreatestSigned : Op::GreatestUnsigned;
  if (builtin.name == "min" && types.size() == 2) return binary(least, bits, operand(0), operand(1));
  if (builtin.name == "max" && types.size() == 2) return binary(greatest, bits, operand(0), operand(1));
  if (builtin.name == "clamp" && types.size() == 3)
    return binary(least, bits, binary(greatest, bits, operand(0), operand(1)), operand(2));
  if (bits == 32 &&
      ((builtin.name == "mul24" && types.size() == 2) || (builtin.name == "mad24" && types.size() == 3))) {
    const Op within = is_signed ? Op::Within24Signed : Op::Within24Unsigned;
    const Index product =
        binary(Op::Multiply, bits, unary(within, bits, operand(0)), unary(within, bits, operand(1)));
    return types.size() == 2 ? product : binary(Op::Add, bits, product, operand(2));
  }
  return unknown(bits);
}

Index Numbers::number_of_phi(const llvm::PHINode& phi, unsigned bits) {
  if (!loops_.isLoopHeader(phi.getParent())) {
    const auto way = [&](unsigned i) {
      return Chosen{.from = phi.getIncomingBlock(i), .to = phi.getParent()};
    };
    Index index = number_of(phi.getIncomingValue(0));
    Chosen first = way(0);
    for (unsigned i = 1; i < phi.getNumIncomingValues(); ++i) {
      const Index other = number_of(phi.getIncomingValue(i));
      if (other != index) index = either(bits, index, other, {first, way(i)});
      first = {};
    }
    return index;
  }
  const llvm::Loop& loop = *loops_.getLoopFor(phi.getParent());
  const auto variable = variable_of(phi, loop);
  if (!variable) return unknown(bits);
  return induction(loop, number_of(variable->start), step_of(*variable, bits), bits);
}

Index Numbers::step_of(const LoopVariable& variable, unsigned bits) {
  const Index step = resized(variable.step, bits, true);
  return variable.subtracted ? binary(Op::Subtract, bits, constant(0, bits), step) : step;
}

Index Numbers::induction(const llvm::Loop& loop, Index start, Index step, unsigned bits) {
  const Index counter = number({Op::Counter, static_cast<std::uint8_t>(bits), number_of_loop(loop), 0, 0});
  return binary(Op::Add, bits, start, binary(Op::Multiply, bits, step, counter));
}

Index Numbers::counted(const llvm::Value* count) {
  FootprintLoop loop;
  loop.bounded = true;
  loop.start = constant(0, kPointerBits);
  loop.step = constant(1, kPointerBits);
  loop.bound = resized(count, kPointerBits, false);
  loop.comparison = Comparison::LessUnsigned;
  loop.next = true;
  loop.is_signed = false;
  const auto index = static_cast<Index>(result_.loops.size());
  result_.loops.push_back(loop);
  return number({Op::Counter, kPointerBits, index, 0, 0});
}

Index Numbers::number_of_loop(const llvm::Loop& loop) {
  if (const auto found = known_loops_.find(&loop); found != known_loops_.end()) return found->second;
  const FootprintLoop description = describe(loop);
  const auto index = static_cast<Index>(result_.loops.size());
  result_.loops.push_back(description);
  known_loops_[&loop] = index;
  return index;
}

FootprintLoop Numbers::describe(const llvm::Loop& loop) {
  llvm::SmallVector<llvm::BasicBlock*, 4> exiting;
  loop.getExitingBlocks(exiting);
  if (loop.getLoopLatch() == nullptr) return {};
  for (const llvm::BasicBlock* block : exiting) {
    // A test that is made in every iteration.
    if (!dominators_.dominates(block, loop.getLoopLatch()) || loops_.getLoopFor(block) != &loop) continue;
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
    if (branch == nullptr || !branch->isConditional()) continue;
    const auto* test = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition());
    if (test == nullptr || !is_number(test->getOperand(0)->getType())) continue;
    const bool stays = loop.contains(branch->getSuccessor(0));
    if (stays == loop.contains(branch->getSuccessor(1))) continue;
    for (const bool first : {true, false})
      if (const auto found = bounded_by(loop, *test, stays, first)) return *found;
  }
  return {};
}

std::optional<FootprintLoop> Numbers::bounded_by(const llvm::Loop& loop, const llvm::ICmpInst& test,
                                                 bool stays, bool first) {
  const llvm::Value* const compared = test.getOperand(first ? 0 : 1);
  const llvm::Value* const bound = test.getOperand(first ? 1 : 0);
  if (!is_invariant(bound, loop)) return std::nullopt;
  for (const llvm::PHINode& phi : loop.getHeader()->phis()) {
    const auto variable = variable_of(phi, loop);
    if (!variable) continue;
    const llvm::Value* const plain = unextended(compared);
    const bool next = plain == variable->next;
    if (!next && plain != &phi) continue;
    FootprintLoop found;
    found.bounded = true;
    const Compared held = comparison_of(stays ? test.getPredicate() : test.getInversePredicate());
    found.comparison = held.comparison;
    found.bound_first = first == held.swapped;
    found.next = next;
    const bool signed_test = found.comparison == Comparison::LessSigned ||
                             found.comparison == Comparison::LessEqualSigned ||
                             found.comparison == Comparison::Different;
    found.is_signed = compared == plain ? signed_test : llvm::isa<llvm::SExtInst>(compared);
    const unsigned bits = phi.getType()->getIntegerBitWidth();
    found.start = number_of(variable->start);
    found.step = step_of(*variable, bits);
    found.bound = number_of(bound);
    return found;
  }
  return std::nullopt;
}

}  // namespace clique::daemon::compiler::footprints
