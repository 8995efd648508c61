#include "daemon/compiler/tool/footprints/find_footprints.hpp"

#include <llvm/ADT/StringSwitch.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>

#include <optional>
#include <tuple>

#include "daemon/compiler/tool/common/address_spaces.hpp"
#include "daemon/compiler/tool/common/is_kernel.hpp"

namespace clique::daemon::compiler {

namespace {

using protocol::AtomicChange;
using protocol::Comparison;
using protocol::Footprint;
using protocol::FootprintAccess;
using protocol::FootprintCondition;
using protocol::FootprintLoop;
using protocol::FootprintNumber;
using Op = protocol::FootprintOp;
using Index = std::uint32_t;

constexpr unsigned kPointerBits = 64;
/// Of a kernel; further ones are not analysed.
constexpr unsigned kMostBitwise = 256;
/// Of a vector.
constexpr unsigned kMostLanes = 16;

/// A reason why launches of the kernel must not be divided.
class Obstacle : public std::runtime_error {
 public:
  Obstacle(const std::string& why, const llvm::Instruction* where) : std::runtime_error(why), where_(where) {}
  const llvm::Instruction* where() const { return where_; }

 private:
  const llvm::Instruction* where_;
};

std::uint32_t line_of(const llvm::Instruction* instruction) {
  if (instruction == nullptr || !instruction->getDebugLoc()) return 0;
  return instruction->getDebugLoc().getLine();
}

/// A builtin function's name in the source, and the rest of its mangled name, its parameter types.
struct Builtin {
  llvm::StringRef name;
  llvm::StringRef parameters;
};

Builtin builtin_of(llvm::StringRef mangled) {
  llvm::StringRef rest = mangled;
  unsigned length = 0;
  if (!rest.consume_front("_Z") || rest.consumeInteger(10, length) || length > rest.size())
    return {mangled, {}};
  return {rest.take_front(length), rest.drop_front(length)};
}

/// Bytes of the scalar type that a mangled name abbreviates so; 0: not known.
unsigned size_of_scalar(llvm::StringRef code) {
  return llvm::StringSwitch<unsigned>(code)
      .Cases("c", "h", "a", 1)
      .Cases("s", "t", "Dh", 2)
      .Cases("i", "j", "f", 4)
      .Cases("l", "m", "d", 8)
      .Default(0);
}

/// What vloadN, vstoreN and their relatives access: `size` bytes at `stride` times their offset.
struct VectorAccess {
  unsigned size = 0;
  unsigned stride = 0;
  bool writes = false;
  unsigned offset_argument = 0;
};

std::optional<VectorAccess> vector_access(const Builtin& builtin) {
  VectorAccess access;
  llvm::StringRef name = builtin.name;
  bool aligned = false;
  if (name.consume_front("vloada_half")) {
    aligned = true;
  } else if (name.consume_front("vstorea_half")) {
    aligned = access.writes = true;
  } else if (name.consume_front("vload")) {
  } else if (name.consume_front("vstore")) {
    access.writes = true;
  } else {
    return std::nullopt;
  }
  const bool half = name.consume_front("_half") || aligned;
  unsigned lanes = 1;
  if (!name.consumeInteger(10, lanes) && lanes != 2 && lanes != 3 && lanes != 4 && lanes != 8 && lanes != 16)
    return std::nullopt;
  if (!name.empty() && !(half && name.size() == 4 && name.starts_with("_rt"))) return std::nullopt;
  unsigned element = 2;
  if (!half) {
    // The element is the last parameter, a pointer: "PU3AS1Kf", "PU8CLglobalf", "Pf".
    llvm::StringRef pointee = builtin.parameters;
    element = size_of_scalar(pointee.ends_with("Dh") ? pointee.take_back(2) : pointee.take_back(1));
    if (element == 0) return std::nullopt;
  }
  access.size = element * lanes;
  access.stride = element * (aligned && lanes == 3 ? 4 : lanes);
  access.offset_argument = access.writes ? 1 : 0;
  return access;
}

AtomicChange change_of(llvm::AtomicRMWInst::BinOp operation) {
  using llvm::AtomicRMWInst;
  switch (operation) {
    case AtomicRMWInst::Add:
    case AtomicRMWInst::Sub:
      return AtomicChange::Add;
    case AtomicRMWInst::And:
      return AtomicChange::And;
    case AtomicRMWInst::Or:
      return AtomicChange::Or;
    case AtomicRMWInst::Xor:
      return AtomicChange::ExclusiveOr;
    case AtomicRMWInst::Min:
      return AtomicChange::LeastSigned;
    case AtomicRMWInst::UMin:
      return AtomicChange::LeastUnsigned;
    case AtomicRMWInst::Max:
      return AtomicChange::GreatestSigned;
    case AtomicRMWInst::UMax:
      return AtomicChange::GreatestUnsigned;
    default:
      return AtomicChange::None;
  }
}

/// The mangled type that a function's first parameter, a pointer, points to, without qualifiers:
/// "PU3AS1VU7_Atomici". Empty: the parameter is no pointer.
llvm::StringRef pointee_of(llvm::StringRef parameters) {
  if (!parameters.consume_front("P")) return {};
  for (unsigned length = 0; !parameters.empty();) {
    if (parameters.consume_front("V") || parameters.consume_front("K")) continue;
    if (!parameters.consume_front("U")) break;
    if (parameters.consumeInteger(10, length) || length > parameters.size()) return {};
    parameters = parameters.drop_front(length);
  }
  return parameters.take_front(1);
}

AtomicChange change_of(const Builtin& builtin) {
  llvm::StringRef name = builtin.name;
  name.consume_back("_explicit");
  if (!name.consume_front("atomic_fetch_") && !name.consume_front("atomic_") && !name.consume_front("atom_"))
    return AtomicChange::None;
  const llvm::StringRef type = pointee_of(builtin.parameters);
  const bool is_signed = type == "i" || type == "l";
  if (!is_signed && type != "j" && type != "m") return AtomicChange::None;
  return llvm::StringSwitch<AtomicChange>(name)
      .Cases("add", "sub", "inc", "dec", AtomicChange::Add)
      .Case("and", AtomicChange::And)
      .Case("or", AtomicChange::Or)
      .Case("xor", AtomicChange::ExclusiveOr)
      .Case("min", is_signed ? AtomicChange::LeastSigned : AtomicChange::LeastUnsigned)
      .Case("max", is_signed ? AtomicChange::GreatestSigned : AtomicChange::GreatestUnsigned)
      .Default(AtomicChange::None);
}

/// How a launch with a global offset and a smaller range answers a query of the index space.
struct Query {
  Op op;
  bool whole;   ///< differently than the undivided launch
  bool groups;  ///< depending on the work-groups
};

std::optional<Query> query_of(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<Query>>(name)
      .Case("get_global_id", Query{Op::GlobalId, false, false})
      .Case("get_local_id", Query{Op::LocalId, false, true})
      .Case("get_group_id", Query{Op::GroupId, false, true})
      .Case("get_global_size", Query{Op::GlobalSize, true, false})
      .Case("get_local_size", Query{Op::LocalSize, false, true})
      .Case("get_enqueued_local_size", Query{Op::EnqueuedLocalSize, false, true})
      .Case("get_num_groups", Query{Op::GroupCount, true, true})
      .Case("get_global_offset", Query{Op::GlobalOffset, true, false})
      .Case("get_work_dim", Query{Op::Dimensions, false, false})
      .Case("get_global_linear_id", Query{Op::Unknown, true, false})
      .Case("get_group_linear_id", Query{Op::Unknown, true, true})
      .Case("get_local_linear_id", Query{Op::Unknown, false, true})
      .Default(std::nullopt);
}

Comparison comparison_of(llvm::CmpInst::Predicate predicate, bool& swapped) {
  using llvm::CmpInst;
  swapped = predicate == CmpInst::ICMP_SGT || predicate == CmpInst::ICMP_SGE ||
            predicate == CmpInst::ICMP_UGT || predicate == CmpInst::ICMP_UGE;
  switch (swapped ? CmpInst::getSwappedPredicate(predicate) : predicate) {
    case CmpInst::ICMP_EQ:
      return Comparison::Equal;
    case CmpInst::ICMP_SLT:
      return Comparison::LessSigned;
    case CmpInst::ICMP_SLE:
      return Comparison::LessEqualSigned;
    case CmpInst::ICMP_ULT:
      return Comparison::LessUnsigned;
    case CmpInst::ICMP_ULE:
      return Comparison::LessEqualUnsigned;
    default:
      return Comparison::Different;
  }
}

/// Without extensions of the number's width.
const llvm::Value* unextended(const llvm::Value* value) {
  const auto* cast = llvm::dyn_cast<llvm::CastInst>(value);
  return cast != nullptr && (llvm::isa<llvm::SExtInst>(cast) || llvm::isa<llvm::ZExtInst>(cast))
             ? cast->getOperand(0)
             : value;
}

/// Whether the value is the same in all iterations of a loop: no pass has moved such values out of loops.
bool is_invariant(const llvm::Value* value, const llvm::Loop& loop, unsigned depth = 0) {
  constexpr unsigned kDeepest = 16;
  if (loop.isLoopInvariant(value)) return true;
  const auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (instruction == nullptr || depth == kDeepest) return false;
  if (const auto* call = llvm::dyn_cast<llvm::CallBase>(instruction)) {
    const llvm::Function* function = call->getCalledFunction();
    if (function == nullptr || !query_of(builtin_of(function->getName()).name)) return false;
  } else if (llvm::isa<llvm::PHINode>(instruction) || llvm::isa<llvm::FreezeInst>(instruction) ||
             instruction->mayReadOrWriteMemory()) {
    return false;
  }
  return llvm::all_of(instruction->operands(), [&](const llvm::Use& operand) {
    return llvm::isa<llvm::Function>(operand.get()) || is_invariant(operand.get(), loop, depth + 1);
  });
}

bool is_number(const llvm::Type* type) {
  return type->isIntegerTy() && type->getIntegerBitWidth() <= 64;
}

/// Finds the footprint of one kernel, in which all functions are inlined and variables are values.
class Finder {
 public:
  Finder(const llvm::Function& kernel, const llvm::DominatorTree& dominators, const llvm::LoopInfo& loops)
      : kernel_(kernel),
        layout_(kernel.getParent()->getDataLayout()),
        dominators_(dominators),
        loops_(loops) {
    result_.kernel = kernel.getName().str();
  }

  Footprint run() {
    try {
      for (const llvm::BasicBlock& block : kernel_)
        if (dominators_.isReachableFromEntry(&block))
          for (const llvm::Instruction& instruction : block) visit(instruction);
    } catch (const Obstacle& obstacle) {
      Footprint whole;
      whole.kernel = result_.kernel;
      whole.obstacle = obstacle.what();
      whole.line = line_of(obstacle.where());
      return whole;
    }
    return std::move(result_);
  }

 private:
  /// What a pointer points to.
  struct Place {
    enum Kind { Own, Constant, Buffer } kind = Own;  ///< Own: private or local memory
    Index argument = 0;
    Index offset = 0;  ///< a number of kPointerBits
  };
  using Places = std::vector<Place>;

  // Instructions.

  void visit(const llvm::Instruction& instruction) {
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      access(load->getPointerOperand(), size_of(load->getType()), false, instruction);
    } else if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
      access(store->getPointerOperand(), size_of(store->getValueOperand()->getType()), true, instruction);
    } else if (const auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
      const std::uint64_t size = size_of(update->getType());
      for (const Place& place : places_of(update->getPointerOperand(), update))
        if (place.kind != Place::Own) add_atomic(*update, change_of(update->getOperation()), place, size);
    } else if (const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
      require_own(exchange->getPointerOperand(), "an atomic operation on global memory", instruction);
    } else if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
      visit_call(*call);
    } else if (instruction.mayReadOrWriteMemory() && !llvm::isa<llvm::FenceInst>(instruction)) {
      throw Obstacle(std::string("an instruction that is not analysed, ") + instruction.getOpcodeName(),
                     &instruction);
    }
  }

  std::uint64_t size_of(llvm::Type* type) const { return layout_.getTypeStoreSize(type).getFixedValue(); }

  void require_own(const llvm::Value* pointer, const std::string& why, const llvm::Instruction& where) {
    for (const Place& place : places_of(pointer, &where))
      if (place.kind != Place::Own) throw Obstacle(why, &where);
  }

  /// Volatile and atomic accesses are like others: if a launch is divided, no part can see what another one
  /// writes, so only the order within a part matters, which is the driver's affair.
  void access(const llvm::Value* pointer, std::uint64_t size, bool writes, const llvm::Instruction& where) {
    for (const Place& place : places_of(pointer, &where)) {
      if (place.kind == Place::Own || (place.kind == Place::Constant && !writes)) continue;
      if (place.kind == Place::Constant) throw Obstacle("a write to a constant", &where);
      add_access(place, size, writes, where);
    }
  }

  void add_access(const Place& place, std::uint64_t size, bool writes, const llvm::Instruction& where,
                  AtomicChange change = AtomicChange::None) {
    record({place.argument,
            writes,
            size,
            place.offset,
            conditions_at(*where.getParent()),
            line_of(&where),
            {},
            change},
           where);
  }

  /// A function that reads or writes a pixel.
  void add_pixel(const llvm::CallBase& call, bool writes) {
    const auto* image = llvm::dyn_cast<llvm::Argument>(call.getArgOperand(0)->stripPointerCasts());
    if (image == nullptr) throw Obstacle("an image that is not an argument", &call);
    record({image->getArgNo(), writes, 0, 0, conditions_at(*call.getParent()), line_of(&call),
            coordinates_of(call)},
           call);
  }

  void record(FootprintAccess access, const llvm::Instruction& where) {
    const auto key = std::tuple(access.argument, access.writes, access.size, access.offset, access.conditions,
                                access.coordinates, access.change);
    if (!known_accesses_.insert(key).second) return;
    if (result_.accesses.size() == protocol::kMostFootprintAccesses)
      throw Obstacle("more than " + std::to_string(protocol::kMostFootprintAccesses) +
                         " different accesses to buffers and images",
                     &where);
    result_.accesses.push_back(std::move(access));
  }

  /// The coordinates with which a function reads or writes a pixel. What has no integers, or further operands
  /// than a sampler and a colour, such as a level of detail, is not known.
  std::vector<Index> coordinates_of(const llvm::CallBase& call) {
    constexpr unsigned kCoordinateBits = 32;
    const auto is_coordinate = [&](unsigned operand) {
      return call.getArgOperand(operand)->getType()->isIntOrIntVectorTy(kCoordinateBits);
    };
    const bool writes = call.getType()->isVoidTy();
    const bool has_sampler = !writes && call.arg_size() == 3 && !is_coordinate(1);
    const unsigned operand = has_sampler ? 2 : 1;
    const bool is_plain = call.arg_size() == (writes || has_sampler ? 3U : 2U);
    if (!is_plain || !is_coordinate(operand)) return {unknown(kCoordinateBits)};
    const llvm::Value* const value = call.getArgOperand(operand);
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
    if (vector == nullptr) return {number_of(value)};
    // Of four, the last one means nothing.
    std::vector<Index> coordinates;
    for (unsigned lane = 0; lane < std::min(vector->getNumElements(), 3U); ++lane)
      coordinates.push_back(number_of_lane(value, lane));
    return coordinates;
  }

  void visit_call(const llvm::CallBase& call) {
    const llvm::Function* function = call.getCalledFunction();
    if (function == nullptr)
      throw Obstacle(call.isInlineAsm() ? "assembly" : "a call through a pointer", &call);
    if (function->isIntrinsic()) return visit_intrinsic(call);
    const Builtin builtin = builtin_of(function->getName());
    if (const auto query = query_of(builtin.name)) {
      note_query(call, *query);
      return;
    }
    if (builtin.name == "printf") throw Obstacle("printf", &call);
    if (builtin.name.starts_with("get_image")) return;
    const bool writes_pixel = builtin.name.starts_with("write_image");
    if (writes_pixel || builtin.name.starts_with("read_image")) return add_pixel(call, writes_pixel);
    if (builtin.name.contains("barrier") || builtin.name.starts_with("work_group") ||
        builtin.name.starts_with("sub_group") || builtin.name.contains("_sub_group"))
      result_.uses_groups = true;
    if (builtin.name == "prefetch") return;
    const auto vector = vector_access(builtin);
    for (const llvm::Use& use : call.args()) {
      if (!use->getType()->isPointerTy()) {
        if (use->getType()->isTargetExtTy() || use->getType()->isAggregateType())
          throw Obstacle("a call of " + builtin.name.str(), &call);
        continue;
      }
      for (const Place& place : places_of(use, &call)) {
        if (place.kind == Place::Own || (place.kind == Place::Constant && vector)) continue;
        if (vector) {
          add_vector_access(call, *vector, place);
        } else if (const std::uint64_t size = second_result(call, builtin); size > 0) {
          access(use, size, true, call);
        } else if (builtin.name.starts_with("atom")) {
          add_atomic(call, change_of(builtin), place, size_of_atomic(call, builtin));
        } else {
          throw Obstacle("a call of " + builtin.name.str() + " with global memory", &call);
        }
      }
    }
    if (!function->isDeclaration())
      throw Obstacle("a call of " + function->getName().str() + ", which is not inlined", &call);
  }

  /// How many bytes, at most, a mathematical function writes through its only pointer; 0: it is none of those
  /// that only do that.
  std::uint64_t second_result(const llvm::CallBase& call, const Builtin& builtin) const {
    const bool same = builtin.name == "fract" || builtin.name == "modf" || builtin.name == "sincos";
    const bool integer = builtin.name == "frexp" || builtin.name == "remquo" || builtin.name == "lgamma_r";
    llvm::Type* const type = call.getType();
    if ((!same && !integer) || !type->isFPOrFPVectorTy()) return 0;
    if (same) return layout_.getTypeAllocSize(type).getFixedValue();
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    const unsigned lanes = vector == nullptr ? 1 : vector->getNumElements();
    return std::uint64_t{4} * (lanes == 3 ? 4 : lanes);
  }

  /// An atomic operation reads and writes. What several work-items of different parts may do to the same
  /// place is an obstacle, unless the client can merge their changes; here, to say so, what is the same place
  /// for all of them, or not known.
  /// @param size 0: not known
  void add_atomic(const llvm::Instruction& operation, AtomicChange change, const Place& place,
                  std::uint64_t size) {
    const bool merges = change != AtomicChange::None && operation.use_empty() && (size == 4 || size == 8);
    if (place.kind != Place::Buffer || size == 0 || (!merges && !depends_on_ids(place.offset)))
      throw Obstacle("an atomic operation on global memory", &operation);
    if (!merges) add_access(place, size, false, operation);
    add_access(place, size, true, operation, merges ? change : AtomicChange::None);
  }

  /// Bytes of the number that a builtin function changes; 0: not known.
  std::uint64_t size_of_atomic(const llvm::CallBase& call, const Builtin& builtin) const {
    if (builtin.name.starts_with("atomic_flag")) return 4;
    llvm::Type* type = call.getType();
    // What has no result, or only whether it has succeeded, has an operand of that type.
    if (type->isVoidTy() || type->isIntegerTy(1)) {
      const auto* operand =
          llvm::find_if(call.args(), [](const llvm::Use& use) { return !use->getType()->isPointerTy(); });
      if (operand == call.arg_end()) return 0;
      type = operand->get()->getType();
    }
    return type->isIntegerTy() || type->isFloatingPointTy() ? size_of(type) : 0;
  }

  /// Whether a number depends on global or group ids, and on nothing that is not known.
  bool depends_on_ids(Index number) const {
    bool ids = false;
    // Operands precede what is computed from them.
    std::vector<bool> wanted(number + std::size_t{1});
    wanted[number] = true;
    for (std::size_t i = wanted.size(); i-- > 0;) {
      if (!wanted[i]) continue;
      const FootprintNumber& each = result_.numbers[i];
      if (each.op == Op::Unknown) return false;
      ids |= each.op == Op::GlobalId || each.op == Op::GroupId;
      if (each.op < Op::Add) continue;
      // Operations with one operand have 0 as the other one, which at worst is looked at in vain.
      wanted[each.a] = wanted[each.b] = true;
    }
    return ids;
  }

  void add_vector_access(const llvm::CallBase& call, const VectorAccess& vector, Place place) {
    const llvm::Value* offset = call.getArgOperand(vector.offset_argument);
    const Index bytes = binary(Op::Multiply, kPointerBits, resized(offset, kPointerBits, false),
                               constant(vector.stride, kPointerBits));
    place.offset = binary(Op::Add, kPointerBits, place.offset, bytes);
    add_access(place, vector.size, vector.writes, call);
  }

  void visit_intrinsic(const llvm::CallBase& call) {
    if (const auto* memory = llvm::dyn_cast<llvm::MemIntrinsic>(&call)) {
      const auto* length = llvm::dyn_cast<llvm::ConstantInt>(memory->getLength());
      const std::uint64_t size = length != nullptr ? length->getZExtValue() : 0;
      const auto part = [&](const llvm::Value* pointer, bool writes) {
        if (length == nullptr) require_own(pointer, "a copy whose size is not constant", call);
        if (size > 0) access(pointer, size, writes, call);
      };
      part(memory->getRawDest(), true);
      if (const auto* transfer = llvm::dyn_cast<llvm::MemTransferInst>(memory))
        part(transfer->getRawSource(), false);
      return;
    }
    if (!call.mayReadOrWriteMemory() || llvm::isa<llvm::DbgInfoIntrinsic>(call) ||
        llvm::isa<llvm::LifetimeIntrinsic>(call) || llvm::isa<llvm::AssumeInst>(call) ||
        call.getIntrinsicID() == llvm::Intrinsic::experimental_noalias_scope_decl ||
        call.getIntrinsicID() == llvm::Intrinsic::trap ||
        call.getIntrinsicID() == llvm::Intrinsic::stacksave ||
        call.getIntrinsicID() == llvm::Intrinsic::stackrestore)
      return;
    throw Obstacle("a call of " + call.getCalledFunction()->getName().str(), &call);
  }

  void note_query(const llvm::CallBase& call, const Query& query) {
    if (query.groups) result_.uses_groups = true;
    const bool group_id = query.op == Op::GroupId;
    if (!query.whole && !group_id) return;
    const auto dimension = dimension_of(call);
    if (!group_id && result_.whole_dimensions == 0) result_.whole_line = line_of(&call);
    if (dimension && *dimension > 2) return;
    (group_id ? result_.group_id_dimensions : result_.whole_dimensions) |= dimension ? 1U << *dimension : 7U;
  }

  static std::optional<std::uint64_t> dimension_of(const llvm::CallBase& call) {
    if (call.arg_size() != 1) return std::nullopt;
    const auto* dimension = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(0));
    if (dimension == nullptr) return std::nullopt;
    return dimension->getZExtValue();
  }

  // Pointers.

  /// All places that the pointer may point to. More than one only if it is one of several pointers.
  /// @param user for the message
  const Places& places_of(const llvm::Value* pointer, const llvm::Instruction* user) {
    if (const auto found = places_.find(pointer); found != places_.end()) {
      if (!found->second) throw Obstacle("a pointer that changes in a way that is not analysed", user);
      return *found->second;
    }
    places_[pointer] = std::nullopt;  // until it is known: a pointer that depends on itself
    Places places = find_places(pointer, user);
    return places_[pointer].emplace(std::move(places));
  }

  Places find_places(const llvm::Value* pointer, const llvm::Instruction* user) {
    const unsigned space = pointer->getType()->getPointerAddressSpace();
    if (space == kSharedSpace) return {local()};
    if (llvm::isa<llvm::AllocaInst>(pointer)) return {Place{}};
    if (const auto* argument = llvm::dyn_cast<llvm::Argument>(pointer)) {
      if (argument->hasByValAttr()) return {Place{}};
      if (space != kGlobalSpace) throw Obstacle("an argument that is not analysed", user);
      return {{Place::Buffer, argument->getArgNo(), constant(0, kPointerBits)}};
    }
    if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(pointer)) {
      if (variable->isConstant()) return {{Place::Constant, 0, constant(0, kPointerBits)}};
      throw Obstacle("the program-scope variable " + variable->getName().str(), user);
    }
    if (const auto* element = llvm::dyn_cast<llvm::GEPOperator>(pointer)) {
      Places places = places_of(element->getPointerOperand(), user);
      for (Place& place : places)
        if (place.kind == Place::Buffer)
          place.offset = binary(Op::Add, kPointerBits, place.offset, offset_in(*element));
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

  /// The pointer that this one is only another form of; null if there is none.
  static const llvm::Value* unchanged(const llvm::Value* pointer) {
    if (const auto* freeze = llvm::dyn_cast<llvm::FreezeInst>(pointer)) return freeze->getOperand(0);
    const auto* cast = llvm::dyn_cast<llvm::Operator>(pointer);
    const bool same = cast != nullptr && (cast->getOpcode() == llvm::Instruction::BitCast ||
                                          cast->getOpcode() == llvm::Instruction::AddrSpaceCast);
    return same ? cast->getOperand(0) : nullptr;
  }

  Place local() {
    result_.uses_groups = true;
    return {};
  }

  /// Adds places to others. There are few: further ones in the same buffer become one, in any of its bytes
  /// between theirs.
  void add(Places& places, const Places& others) {
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
        same->offset = binary(Op::Either, kPointerBits, same->offset, other.offset);
      }
    }
  }

  Places places_in_loop(const llvm::PHINode& phi, const llvm::Instruction* user) {
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
    if (steps.empty() ||
        llvm::none_of(places, [](const Place& place) { return place.kind == Place::Buffer; }))
      return places;
    Index sum = offset_in(*steps.front());
    for (std::size_t i = 1; i < steps.size(); ++i)
      sum = binary(Op::Add, kPointerBits, sum, offset_in(*steps[i]));
    for (Place& place : places)
      if (place.kind == Place::Buffer) place.offset = induction(loop, place.offset, sum, kPointerBits);
    return places;
  }

  /// Any bytes of the buffers that the pointer may point into: those of the pointers that it is computed
  /// from, because programs must not leave a buffer by computing with pointers.
  Places anywhere(const llvm::PHINode& phi, const llvm::Instruction* user) {
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
    for (Place& place : places) place.offset = unknown(kPointerBits);
    return places;
  }

  static bool invariant(const llvm::GEPOperator& element, const llvm::Loop& loop) {
    return llvm::all_of(element.indices(),
                        [&](const llvm::Use& index) { return is_invariant(index.get(), loop); });
  }

  /// The distance in bytes between an element and the pointer that it is computed from.
  Index offset_in(const llvm::GEPOperator& element) {
    Index sum = constant(0, kPointerBits);
    for (auto at = llvm::gep_type_begin(element); at != llvm::gep_type_end(element); ++at) {
      if (llvm::StructType* type = at.getStructTypeOrNull()) {
        const auto field = llvm::cast<llvm::ConstantInt>(at.getOperand())->getZExtValue();
        const std::uint64_t offset =
            layout_.getStructLayout(type)->getElementOffset(static_cast<unsigned>(field)).getFixedValue();
        sum = binary(Op::Add, kPointerBits, sum, constant(static_cast<std::int64_t>(offset), kPointerBits));
        continue;
      }
      const auto stride = static_cast<std::int64_t>(at.getSequentialElementStride(layout_).getFixedValue());
      const Index bytes = binary(Op::Multiply, kPointerBits, resized(at.getOperand(), kPointerBits, true),
                                 constant(stride, kPointerBits));
      sum = binary(Op::Add, kPointerBits, sum, bytes);
    }
    return sum;
  }

  // Numbers.

  Index number(const FootprintNumber& number) {
    // Numbers that the operands do not determine are different ones each time.
    const bool determined = number.op != Op::Unknown && number.op != Op::Either;
    const auto key = std::tuple(number.op, number.bits, number.a, number.b, number.value);
    if (determined) {
      const auto found = known_numbers_.find(key);
      if (found != known_numbers_.end()) return found->second;
    }
    if (result_.numbers.size() == protocol::kMostFootprintNumbers)
      throw Obstacle("more than " + std::to_string(protocol::kMostFootprintNumbers) +
                         " numbers that addresses depend on",
                     nullptr);
    const auto index = static_cast<Index>(result_.numbers.size());
    result_.numbers.push_back(number);
    if (determined) known_numbers_[key] = index;
    return index;
  }

  Index constant(std::int64_t value, unsigned bits) {
    return number({Op::Constant, static_cast<std::uint8_t>(bits), 0, 0, value});
  }
  Index unknown(unsigned bits) { return number({Op::Unknown, static_cast<std::uint8_t>(bits), 0, 0, 0}); }

  /// Whether the value is computed from what the kernel reads of buffers or images. For people: nothing is
  /// decided by it. Large computations are not followed to their ends.
  static bool depends_on_data(const llvm::Value* value) {
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
        if (function != nullptr && builtin_of(function->getName()).name.starts_with("read_image"))
          return true;
        for (const llvm::Use& use : call->args())
          if (use->getType()->isPointerTy() && is_shared_data(use.get())) return true;
      }
      for (const llvm::Use& operand : instruction->operands()) open.push_back(operand.get());
    }
    return false;
  }

  /// Whether a pointer is one to a buffer.
  static bool is_shared_data(const llvm::Value* pointer) {
    const unsigned space = pointer->getType()->getPointerAddressSpace();
    return (space == kGlobalSpace || space == kConstantSpace) &&
           !llvm::isa<llvm::GlobalVariable>(pointer->stripPointerCasts());
  }

  Index binary(Op op, unsigned bits, Index a, Index b) {
    return number({op, static_cast<std::uint8_t>(bits), a, b, 0});
  }
  Index unary(Op op, unsigned bits, Index a, std::int64_t value = 0) {
    return number({op, static_cast<std::uint8_t>(bits), a, 0, value});
  }

  /// The number with another width.
  Index resized(const llvm::Value* value, unsigned bits, bool is_signed) {
    if (!is_number(value->getType())) return unknown(bits);
    const unsigned own = value->getType()->getIntegerBitWidth();
    const Index index = number_of(value);
    if (own == bits) return index;
    return unary(own > bits ? Op::Truncate : is_signed ? Op::SignExtend : Op::ZeroExtend, bits, index);
  }

  /// The number that stands for a value of a type for which is_number() holds.
  Index number_of(const llvm::Value* value) {
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

  Index find_number(const llvm::Value* value) {
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
    if (const auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(value))
      return result_of(*operation, bits);
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
      return binary(Op::Either, bits, number_of(choice->getTrueValue()), number_of(choice->getFalseValue()));
    if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(value)) return number_of_phi(*phi, bits);
    if (const auto* call = llvm::dyn_cast<llvm::CallBase>(value)) return answer_of(*call, bits);
    return unknown(bits);
  }

  /// The number that stands for an element of a vector whose elements are numbers.
  Index number_of_lane(const llvm::Value* vector, unsigned lane) {
    const auto key = std::pair(vector, lane);
    if (const auto found = lanes_.find(key); found != lanes_.end()) return found->second;
    const Index index = find_lane(vector, lane);
    lanes_[key] = index;
    if (FootprintNumber& found = result_.numbers[index]; found.op == Op::Unknown && depends_on_data(vector))
      found.a = protocol::kFromData;
    return index;
  }

  Index find_lane(const llvm::Value* vector, unsigned lane) {
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

  Index result_of(const llvm::BinaryOperator& operation, unsigned bits) {
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

  Index answer_of(const llvm::CallBase& call, unsigned bits) {
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

  Index number_of_phi(const llvm::PHINode& phi, unsigned bits) {
    if (!loops_.isLoopHeader(phi.getParent())) {
      Index index = number_of(phi.getIncomingValue(0));
      for (unsigned i = 1; i < phi.getNumIncomingValues(); ++i) {
        const Index other = number_of(phi.getIncomingValue(i));
        if (other != index) index = binary(Op::Either, bits, index, other);
      }
      return index;
    }
    const llvm::Loop& loop = *loops_.getLoopFor(phi.getParent());
    const auto variable = variable_of(phi, loop);
    if (!variable) return unknown(bits);
    return induction(loop, number_of(variable->start), step_of(*variable, bits), bits);
  }

  // Loops.

  /// A number that changes by the same step in each iteration of a loop.
  struct Variable {
    const llvm::Value* start;
    const llvm::Value* next;  ///< its value in the next iteration
    const llvm::Value* step;
    bool subtracted;
  };

  static std::optional<Variable> variable_of(const llvm::PHINode& phi, const llvm::Loop& loop) {
    const llvm::BasicBlock* const latch = loop.getLoopLatch();
    if (latch == nullptr || phi.getNumIncomingValues() != 2 || !is_number(phi.getType())) return std::nullopt;
    const unsigned last = phi.getIncomingBlock(0) == latch ? 0 : 1;
    Variable variable{phi.getIncomingValue(1 - last), phi.getIncomingValue(last), nullptr, false};
    const llvm::Value* sum = variable.next;
    // The sum may be computed with more bits.
    const bool truncated = llvm::isa<llvm::TruncInst>(sum);
    if (truncated) sum = llvm::cast<llvm::TruncInst>(sum)->getOperand(0);
    const auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(sum);
    if (operation == nullptr || !is_number(operation->getType())) return std::nullopt;
    const auto is_phi = [&](const llvm::Value* operand) {
      return operand == &phi || (truncated && unextended(operand) == &phi);
    };
    const llvm::Value* const left = operation->getOperand(0);
    const llvm::Value* const right = operation->getOperand(1);
    if (operation->getOpcode() == llvm::Instruction::Add && is_phi(left)) {
      variable.step = right;
    } else if (operation->getOpcode() == llvm::Instruction::Add && is_phi(right)) {
      variable.step = left;
    } else if (operation->getOpcode() == llvm::Instruction::Sub && is_phi(left)) {
      variable.step = right;
      variable.subtracted = true;
    } else {
      return std::nullopt;
    }
    if (!is_invariant(variable.step, loop)) return std::nullopt;
    return variable;
  }

  Index step_of(const Variable& variable, unsigned bits) {
    const Index step = resized(variable.step, bits, true);
    return variable.subtracted ? binary(Op::Subtract, bits, constant(0, bits), step) : step;
  }

  /// start + counter × step
  Index induction(const llvm::Loop& loop, Index start, Index step, unsigned bits) {
    const Index counter = number({Op::Counter, static_cast<std::uint8_t>(bits), number_of_loop(loop), 0, 0});
    return binary(Op::Add, bits, start, binary(Op::Multiply, bits, step, counter));
  }

  Index number_of_loop(const llvm::Loop& loop) {
    if (const auto found = known_loops_.find(&loop); found != known_loops_.end()) return found->second;
    const FootprintLoop description = describe(loop);
    const auto index = static_cast<Index>(result_.loops.size());
    result_.loops.push_back(description);
    known_loops_[&loop] = index;
    return index;
  }

  FootprintLoop describe(const llvm::Loop& loop) {
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

  /// @param first whether the first operand is taken for the variable
  std::optional<FootprintLoop> bounded_by(const llvm::Loop& loop, const llvm::ICmpInst& test, bool stays,
                                          bool first) {
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
      bool swapped = false;
      found.bounded = true;
      found.comparison = comparison_of(stays ? test.getPredicate() : test.getInversePredicate(), swapped);
      found.bound_first = first == swapped;
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

  // Conditions.

  /// The conditions that hold whenever the block runs: those of the branches that lead to it.
  std::vector<Index> conditions_at(const llvm::BasicBlock& block) {
    if (const auto found = conditions_of_.find(&block); found != conditions_of_.end()) return found->second;
    std::vector<Index> conditions;
    for (const auto* node = dominators_.getNode(&block); node != nullptr; node = node->getIDom()) {
      const llvm::BasicBlock* const before = node->getBlock();
      const auto* branch = llvm::dyn_cast<llvm::BranchInst>(before->getTerminator());
      if (before == &block || branch == nullptr || !branch->isConditional()) continue;
      if (branch->getSuccessor(0) == branch->getSuccessor(1)) continue;
      for (const unsigned side : {0U, 1U})
        if (dominators_.dominates(llvm::BasicBlockEdge(before, branch->getSuccessor(side)), &block))
          add_conditions(branch->getCondition(), side == 0, conditions);
    }
    llvm::sort(conditions);
    conditions.erase(std::unique(conditions.begin(), conditions.end()), conditions.end());
    conditions.resize(std::min(conditions.size(), protocol::kMostFootprintConditions));
    conditions_of_[&block] = conditions;
    return conditions;
  }

  void add_conditions(const llvm::Value* value, bool holds, std::vector<Index>& conditions) {
    using namespace llvm::PatternMatch;
    const llvm::Value* one = nullptr;
    const llvm::Value* other = nullptr;
    if (match(value, m_Not(m_Value(one)))) return add_conditions(one, !holds, conditions);
    if (holds ? match(value, m_LogicalAnd(m_Value(one), m_Value(other)))
              : match(value, m_LogicalOr(m_Value(one), m_Value(other)))) {
      add_conditions(one, holds, conditions);
      add_conditions(other, holds, conditions);
      return;
    }
    const auto* test = llvm::dyn_cast<llvm::ICmpInst>(value);
    if (test == nullptr || !is_number(test->getOperand(0)->getType())) return;
    // A truth value that was made a number.
    if (test->isEquality() && match(test->getOperand(1), m_Zero()) &&
        unextended(test->getOperand(0))->getType()->isIntegerTy(1))
      return add_conditions(unextended(test->getOperand(0)),
                            holds == (test->getPredicate() == llvm::CmpInst::ICMP_NE), conditions);
    bool swapped = false;
    const Comparison comparison =
        comparison_of(holds ? test->getPredicate() : test->getInversePredicate(), swapped);
    const Index a = number_of(test->getOperand(swapped ? 1 : 0));
    const Index b = number_of(test->getOperand(swapped ? 0 : 1));
    const auto [found, added] = known_conditions_.try_emplace(std::tuple(comparison, a, b),
                                                              static_cast<Index>(result_.conditions.size()));
    if (added) result_.conditions.push_back({comparison, a, b});
    conditions.push_back(found->second);
  }

  const llvm::Function& kernel_;
  const llvm::DataLayout& layout_;
  const llvm::DominatorTree& dominators_;
  const llvm::LoopInfo& loops_;
  Footprint result_;
  unsigned bitwise_ = 0;  ///< how many operations on single bits have been analysed
  std::map<const llvm::Value*, std::optional<Places>> places_;
  std::map<const llvm::Value*, std::optional<Index>> numbers_of_;
  std::map<std::pair<const llvm::Value*, unsigned>, Index> lanes_;
  std::map<std::tuple<Op, std::uint8_t, Index, Index, std::int64_t>, Index> known_numbers_;
  std::map<const llvm::Loop*, Index> known_loops_;
  std::map<std::tuple<Comparison, Index, Index>, Index> known_conditions_;
  std::map<const llvm::BasicBlock*, std::vector<Index>> conditions_of_;
  std::set<
      std::tuple<Index, bool, std::uint64_t, Index, std::vector<Index>, std::vector<Index>, AtomicChange>>
      known_accesses_;
};

/// Makes kernels single functions, and variables values. Nothing else is optimised: what a driver's compiler
/// may keep has to be seen.
void inline_all(llvm::Module& module, llvm::ModuleAnalysisManager& analyses) {
  for (llvm::Function& function : module) {
    for (const auto attribute : {llvm::Attribute::NoInline, llvm::Attribute::OptimizeNone})
      function.removeFnAttr(attribute);
    if (!function.isDeclaration() && !is_kernel(function)) function.addFnAttr(llvm::Attribute::AlwaysInline);
  }
  llvm::FunctionPassManager functions;
  functions.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  functions.addPass(llvm::LoopSimplifyPass());
  llvm::ModulePassManager passes;
  // Before functions are inlined, too: large kernels in which many variables are left take long.
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(llvm::SROAPass(llvm::SROAOptions::PreserveCFG)));
  passes.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(functions)));
  passes.run(module, analyses);
}

}  // namespace

std::vector<protocol::Footprint> find_footprints(llvm::Module& module) {
  llvm::PassBuilder builder;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  inline_all(module, modules);
  std::vector<protocol::Footprint> footprints;
  for (llvm::Function& function : module)
    if (is_kernel(function) && !function.isDeclaration())
      footprints.push_back(Finder(function, functions.getResult<llvm::DominatorTreeAnalysis>(function),
                                  functions.getResult<llvm::LoopAnalysis>(function))
                               .run());
  return footprints;
}

}  // namespace clique::daemon::compiler
