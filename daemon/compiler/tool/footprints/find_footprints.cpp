#include "daemon/compiler/tool/footprints/find_footprints.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "daemon/compiler/tool/common/analyses.hpp"
#include "daemon/compiler/tool/common/is_kernel.hpp"
#include "daemon/compiler/tool/footprints/builtins.hpp"
#include "daemon/compiler/tool/footprints/conditions.hpp"
#include "daemon/compiler/tool/footprints/numbers.hpp"
#include "daemon/compiler/tool/footprints/obstacle.hpp"
#include "daemon/compiler/tool/footprints/places.hpp"
#include "protocol/footprint.hpp"

namespace clique::daemon::compiler {

namespace footprints {

namespace {

using protocol::AtomicChange;
using protocol::Footprint;
using protocol::FootprintAccess;

std::uint32_t line_of(const llvm::Instruction* instruction) {
  if (instruction == nullptr || !instruction->getDebugLoc()) return 0;
  return instruction->getDebugLoc().getLine();
}

/// How an instruction changes an integer.
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

/// Finds the footprint of one kernel, in which all functions are inlined and variables are values.
class Finder {
 public:
  Finder(const llvm::Function& kernel, const llvm::DominatorTree& dominators, const llvm::LoopInfo& loops)
      : kernel_(kernel),
        layout_(kernel.getParent()->getDataLayout()),
        dominators_(dominators),
        numbers_(dominators, loops, result_),
        places_(layout_, loops, numbers_, result_),
        conditions_(dominators, numbers_, result_) {
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
  void visit(const llvm::Instruction& instruction) {
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      access(load->getPointerOperand(), size_of(load->getType()), false, instruction);
    } else if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
      access(store->getPointerOperand(), size_of(store->getValueOperand()->getType()), true, instruction);
    } else if (const auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
      const std::uint64_t size = size_of(update->getType());
      for (const Place& place : places_.places_of(update->getPointerOperand(), update))
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
    for (const Place& place : places_.places_of(pointer, &where))
      if (place.kind != Place::Own) throw Obstacle(why, &where);
  }

  /// Volatile and atomic accesses are like others: if a launch is divided, no part can see what another one
  /// writes, so only the order within a part matters, which is the driver's affair.
  void access(const llvm::Value* pointer, std::uint64_t size, bool writes, const llvm::Instruction& where) {
    for (const Place& place : places_.places_of(pointer, &where)) {
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
            conditions_.conditions_at(*where.getParent()),
            line_of(&where),
            {},
            change},
           where);
  }

  /// A function that reads or writes a pixel.
  void add_pixel(const llvm::CallBase& call, bool writes) {
    const auto* image = llvm::dyn_cast<llvm::Argument>(call.getArgOperand(0)->stripPointerCasts());
    if (image == nullptr) throw Obstacle("an image that is not an argument", &call);
    record({image->getArgNo(), writes, 0, 0, conditions_.conditions_at(*call.getParent()), line_of(&call),
            coordinates_of(call)},
           call);
  }

  /// Adds the access, as several if its place is one of several: either of two numbers stands for all between
  /// them, and says nothing of when it is which. Large kernels do without.
  void record(const FootprintAccess& access, const llvm::Instruction& where) {
    constexpr std::size_t kMostWays = 8;
    constexpr std::size_t kMostAccesses = protocol::kMostFootprintAccesses / 4;
    constexpr std::size_t kMostNumbers = protocol::kMostFootprintNumbers / 4;
    std::vector<FootprintAccess> open{access};
    for (std::size_t ways = 1; !open.empty();) {
      FootprintAccess each = std::move(open.back());
      open.pop_back();
      std::optional<Index> choice;
      if (ways < kMostWays && result_.accesses.size() < kMostAccesses &&
          result_.numbers.size() < kMostNumbers)
        choice = each.coordinates.empty() ? numbers_.choice_in({each.offset})
                                          : numbers_.choice_in(each.coordinates);
      if (!choice) {
        record_one(std::move(each), where);
        continue;
      }
      ++ways;
      for (const bool second : {true, false}) open.push_back(with_choice(each, *choice, second));
    }
  }

  /// The access if that number of a choice is chosen.
  FootprintAccess with_choice(FootprintAccess access, Index choice, bool second) {
    if (access.coordinates.empty()) access.offset = numbers_.with_choice(access.offset, choice, second);
    for (Index& coordinate : access.coordinates)
      coordinate = numbers_.with_choice(coordinate, choice, second);
    const std::vector<Index> more = conditions_.conditions_of(numbers_.chosen(choice, second));
    std::vector<Index> all;
    std::set_union(access.conditions.begin(), access.conditions.end(), more.begin(), more.end(),
                   std::back_inserter(all));
    all.resize(std::min(all.size(), protocol::kMostFootprintConditions));
    access.conditions = std::move(all);
    return access;
  }

  void record_one(FootprintAccess access, const llvm::Instruction& where) {
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
    if (!is_plain || !is_coordinate(operand)) return {numbers_.unknown(kCoordinateBits)};
    const llvm::Value* const value = call.getArgOperand(operand);
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
    if (vector == nullptr) return {numbers_.number_of(value)};
    // Of four, the last one means nothing.
    std::vector<Index> coordinates;
    for (unsigned lane = 0; lane < std::min(vector->getNumElements(), 3U); ++lane)
      coordinates.push_back(numbers_.number_of_lane(value, lane));
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
    if (const auto copy = group_copy(builtin)) return add_group_copy(call, *copy);
    const auto vector = vector_access(builtin);
    for (const llvm::Use& use : call.args()) {
      if (!use->getType()->isPointerTy()) {
        if (use->getType()->isTargetExtTy() || use->getType()->isAggregateType())
          throw Obstacle("a call of " + builtin.name.str(), &call);
        continue;
      }
      for (const Place& place : places_.places_of(use, &call)) {
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
    if (place.kind != Place::Buffer || size == 0 || (!merges && !numbers_.depends_on_ids(place.offset)))
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

  void add_vector_access(const llvm::CallBase& call, const VectorAccess& vector, Place place) {
    const llvm::Value* offset = call.getArgOperand(vector.offset_argument);
    const Index bytes =
        numbers_.binary(Op::Multiply, kPointerBits, numbers_.resized(offset, kPointerBits, false),
                        numbers_.constant(vector.stride, kPointerBits));
    place.offset = numbers_.binary(Op::Add, kPointerBits, place.offset, bytes);
    add_access(place, vector.size, vector.writes, call);
  }

  /// All work-items of a work-group call the function with the same operands, and together copy what any of
  /// them names.
  void add_group_copy(const llvm::CallBase& call, const GroupCopy& copy) {
    result_.uses_groups = true;
    std::optional<Index> distance;
    for (const unsigned operand : {kCopyDestination, kCopySource}) {
      const bool writes = operand == kCopyDestination;
      for (Place place : places_.places_of(call.getArgOperand(operand), &call)) {
        if (place.kind == Place::Own) continue;
        if (place.kind == Place::Constant) throw Obstacle("a copy of a constant by a work-group", &call);
        if (!distance) distance = distance_in(call, copy);
        place.offset = numbers_.binary(Op::Add, kPointerBits, place.offset, *distance);
        add_access(place, copy.size, writes, call);
      }
    }
  }

  /// Bytes between an element that a work-group copies and the first one, in global memory.
  Index distance_in(const llvm::CallBase& call, const GroupCopy& copy) {
    Index bytes =
        numbers_.binary(Op::Multiply, kPointerBits, numbers_.counted(call.getArgOperand(kCopyCount)),
                        numbers_.constant(copy.size, kPointerBits));
    if (copy.strided)
      bytes = numbers_.binary(Op::Multiply, kPointerBits, bytes,
                              numbers_.resized(call.getArgOperand(kCopyStride), kPointerBits, false));
    return bytes;
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

  const llvm::Function& kernel_;
  const llvm::DataLayout& layout_;
  const llvm::DominatorTree& dominators_;
  Footprint result_;
  Numbers numbers_;
  PlaceFinder places_;
  ConditionFinder conditions_;
  std::set<
      std::tuple<Index, bool, std::uint64_t, Index, std::vector<Index>, std::vector<Index>, AtomicChange>>
      known_accesses_;
};

/// Appends the loads and stores of a variable. @returns whether there are no other uses of it
bool append_accesses(llvm::Value& place, std::vector<llvm::Instruction*>& accesses) {
  for (llvm::User* user : place.users()) {
    auto* const instruction = llvm::cast<llvm::Instruction>(user);
    const auto* const store = llvm::dyn_cast<llvm::StoreInst>(user);
    const bool stores_elsewhere = store != nullptr && store->getValueOperand() != &place;
    if (llvm::isa<llvm::LoadInst>(user) || stores_elsewhere) {
      accesses.push_back(instruction);
    } else if (llvm::isa<llvm::GetElementPtrInst, llvm::BitCastInst, llvm::AddrSpaceCastInst>(user)) {
      if (!append_accesses(*instruction, accesses)) return false;
    } else if (!instruction->isLifetimeStartOrEnd()) {
      return false;
    }
  }
  return true;
}

/// Makes volatile variables of a function ordinary ones. Nobody but the work-item can change them, so that
/// they have the values that it stored, although compilers keep their loads and stores.
void forget_volatile(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    std::vector<llvm::Instruction*> accesses;
    if (!llvm::isa<llvm::AllocaInst>(instruction) || !append_accesses(instruction, accesses)) continue;
    for (llvm::Instruction* access : accesses) {
      if (auto* const load = llvm::dyn_cast<llvm::LoadInst>(access)) load->setVolatile(false);
      if (auto* const store = llvm::dyn_cast<llvm::StoreInst>(access)) store->setVolatile(false);
    }
  }
}

/// Makes kernels single functions, and variables values. Nothing else is optimised: what a driver's compiler
/// may keep has to be seen.
void inline_all(llvm::Module& module, llvm::ModuleAnalysisManager& analyses) {
  for (llvm::Function& function : module) {
    for (const auto attribute : {llvm::Attribute::NoInline, llvm::Attribute::OptimizeNone})
      function.removeFnAttr(attribute);
    if (!function.isDeclaration() && !is_kernel(function)) function.addFnAttr(llvm::Attribute::AlwaysInline);
  }
  for (llvm::Function& function : module) forget_volatile(function);
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

}  // namespace footprints

std::vector<protocol::Footprint> find_footprints(llvm::Module& module) {
  llvm::PassBuilder builder;
  Analyses analyses(builder);
  footprints::inline_all(module, analyses.modules);
  std::vector<protocol::Footprint> found;
  for (llvm::Function& function : module)
    if (is_kernel(function) && !function.isDeclaration())
      found.push_back(footprints::Finder(function,
                                         analyses.functions.getResult<llvm::DominatorTreeAnalysis>(function),
                                         analyses.functions.getResult<llvm::LoopAnalysis>(function))
                          .run());
  return found;
}

}  // namespace clique::daemon::compiler
