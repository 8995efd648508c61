#include "daemon/compiler/tool/footprints/places.hpp"

#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/GlobalVariable.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

#include "daemon/compiler/tool/common/address_spaces.hpp"
#include "daemon/compiler/tool/footprints/obstacle.hpp"
#include "daemon/compiler/tool/footprints/values.hpp"

namespace clique::daemon::compiler::footprints {

const Places& PlaceFinder::places_of(const llvm::Value* pointer, const llvm::Instruction* user) {
  if (const auto found = places_.find(pointer); found != places_.end()) {
    if (!found->second) throw Obstacle("a pointer that changes in a way that is not analysed", user);
    return *found->second;
  }
  places_[pointer] = std::nullopt;  // until it is known: a pointer that depends on itself
  Places places = find_places(pointer, user);
  return places_[pointer].emplace(std::move(places));
}

Places PlaceFinder::find_places(const llvm::Value* pointer, const llvm::Instruction* user) {
  const unsigned space = pointer->getType()->getPointerAddressSpace();
  if (space == kSharedSpace) return {local()};
  if (llvm::isa<llvm::AllocaInst>(pointer)) return {Place{}};
  if (const auto* argument = llvm::dyn_cast<llvm::Argument>(pointer)) {
    if (argument->hasByValAttr()) return {Place{}};
    if (space != kGlobalSpace) throw Obstacle("an argument that is not analysed", user);
    return {{Place::Buffer, argument->getArgNo(), numbers_.constant(0, kPointerBits)}};
  }
  if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(pointer)) {
    if (variable->isConstant()) return {{Place::Constant, 0, numbers_.constant(0, kPointerBits)}};
    throw Obstacle("the program-scope variable " + variable->getName().str(), user);
  }
  if (const auto* element = llvm::dyn_cast<llvm::GEPOperator>(pointer)) {
    Places places = places_of(element->getPointerOperand(), user);
    for (Place& place : places)
      if (place.kind == Place::Buffer)
        place.offset = numbers_.binary(Op::Add, kPointerBits, place.offset, offset_in(*element));
    return places;
  }
  if (const llvm::Value* same = unchanged(pointer)) return places_of(same, user);
  // What a program must not use is nowhere.
  if (llvm::isa<llvm::UndefValue>(pointer) || llvm::isa<llvm::ConstantPointerNull>(pointer)) return {};
  Places places;
  if (const auto* choice = llvm::dyn_cast<llvm::SelectInst>(pointer)) {
    add(places, places_of(choice->getTrueValue(), user));
    add(places, places_of(choice->getFalseValue(), user));
    return places;
  }
  if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(pointer)) {
    if (loops_.isLoopHeader(phi->getParent())) return places_in_loop(*phi, user);
    for (const llvm::Value* value : phi->incoming_values()) add(places, places_of(value, user));
    return places;
  }
  if (llvm::isa<llvm::LoadInst>(pointer)) throw Obstacle("a pointer that is loaded from memory", user);
  throw Obstacle("a pointer whose origin is not analysed", user);
}

const llvm::Value* PlaceFinder::unchanged(const llvm::Value* pointer) {
  if (const auto* freeze = llvm::dyn_cast<llvm::FreezeInst>(pointer)) return freeze->getOperand(0);
  const auto* cast = llvm::dyn_cast<llvm::Operator>(pointer);
  const bool same = cast != nullptr && (cast->getOpcode() == llvm::Instruction::BitCast ||
                                        cast->getOpcode() == llvm::Instruction::AddrSpaceCast);
  return same ? cast->getOperand(0) : nullptr;
}

Place PlaceFinder::local() {
  result_.uses_groups = true;
  return {};
}

void PlaceFinder::add(Places& places, const Places& others) {
  constexpr std::size_t kMostPlaces = 8;
  for (const Place& other : others) {
    const auto in_same = [&](const Place& place) {
      return place.kind == other.kind && place.argument == other.argument;
    };
    const auto is_same = [&](const Place& place) { return in_same(place) && place.offset == other.offset; };
    if (llvm::any_of(places, is_same)) continue;
    const auto same = llvm::find_if(places, in_same);
    if (same == places.end() || (same->kind == Place::Buffer && places.size() < kMostPlaces)) {
      places.push_back(other);
    } else if (same->kind == Place::Buffer) {
      same->offset = numbers_.binary(Op::Either, kPointerBits, same->offset, other.offset);
    }
  }
}

Places PlaceFinder::places_in_loop(const llvm::PHINode& phi, const llvm::Instruction* user) {
  const llvm::Loop& loop = *loops_.getLoopFor(phi.getParent());
  if (loop.getLoopLatch() == nullptr || phi.getNumIncomingValues() != 2) return anywhere(phi, user);
  const unsigned first = phi.getIncomingBlock(0) == loop.getLoopLatch() ? 1 : 0;
  // The steps that lead from one iteration to the next.
  std::vector<const llvm::GEPOperator*> steps;
  const llvm::Value* at = phi.getIncomingValueForBlock(loop.getLoopLatch());
  while (at != &phi) {
    const auto* step = llvm::dyn_cast<llvm::GEPOperator>(at);
    if (step == nullptr || !invariant(*step, loop)) return anywhere(phi, user);
    steps.push_back(step);
    at = step->getPointerOperand();
  }
  Places places = places_of(phi.getIncomingValue(first), user);
  if (steps.empty() || llvm::none_of(places, [](const Place& place) { return place.kind == Place::Buffer; }))
    return places;
  Index sum = offset_in(*steps.front());
  for (std::size_t i = 1; i < steps.size(); ++i)
    sum = numbers_.binary(Op::Add, kPointerBits, sum, offset_in(*steps[i]));
  for (Place& place : places)
    if (place.kind == Place::Buffer) place.offset = numbers_.induction(loop, place.offset, sum, kPointerBits);
  return places;
}

Places PlaceFinder::anywhere(const llvm::PHINode& phi, const llvm::Instruction* user) {
  Places places;
  std::set<const llvm::Value*> seen;
  std::vector<const llvm::Value*> open{&phi};
  while (!open.empty()) {
    const llvm::Value* const pointer = open.back();
    open.pop_back();
    if (!seen.insert(pointer).second) continue;
    if (const auto* element = llvm::dyn_cast<llvm::GEPOperator>(pointer)) {
      open.push_back(element->getPointerOperand());
    } else if (const llvm::Value* same = unchanged(pointer)) {
      open.push_back(same);
    } else if (const auto* choice = llvm::dyn_cast<llvm::SelectInst>(pointer)) {
      open.push_back(choice->getTrueValue());
      open.push_back(choice->getFalseValue());
    } else if (const auto* from = llvm::dyn_cast<llvm::PHINode>(pointer)) {
      open.insert(open.end(), from->op_begin(), from->op_end());
    } else {
      Places origins = places_of(pointer, user);
      for (Place& origin : origins) origin.offset = 0;
      add(places, origins);
    }
  }
  for (Place& place : places) place.offset = numbers_.unknown(kPointerBits);
  return places;
}

bool PlaceFinder::invariant(const llvm::GEPOperator& element, const llvm::Loop& loop) {
  return llvm::all_of(element.indices(),
                      [&](const llvm::Use& index) { return is_invariant(index.get(), loop); });
}

Index PlaceFinder::offset_in(const llvm::GEPOperator& element) {
  Index sum = numbers_.constant(0, kPointerBits);
  for (auto at = llvm::gep_type_begin(element); at != llvm::gep_type_end(element); ++at) {
    if (llvm::StructType* type = at.getStructTypeOrNull()) {
      const auto field = llvm::cast<llvm::ConstantInt>(at.getOperand())->getZExtValue();
      const std::uint64_t offset =
          layout_.getStructLayout(type)->getElementOffset(static_cast<unsigned>(field)).getFixedValue();
      sum = numbers_.binary(Op::Add, kPointerBits, sum,
                            numbers_.constant(static_cast<std::int64_t>(offset), kPointerBits));
      continue;
    }
    const auto stride = static_cast<std::int64_t>(at.getSequentialElementStride(layout_).getFixedValue());
    const Index bytes =
        numbers_.binary(Op::Multiply, kPointerBits, numbers_.resized(at.getOperand(), kPointerBits, true),
                        numbers_.constant(stride, kPointerBits));
    sum = numbers_.binary(Op::Add, kPointerBits, sum, bytes);
  }
  return sum;
}

}  // namespace clique::daemon::compiler::footprints
