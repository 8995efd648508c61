#include "daemon/compiler/tool/footprints/builtins.hpp"

#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/Constants.h>

namespace clique::daemon::compiler::footprints {

namespace {

using protocol::AtomicChange;
using Op = protocol::FootprintOp;

/// The mangled type that a function's first parameter, a pointer, points to, without qualifiers, and what
/// follows it: "PU3AS1VU7_Atomici". Empty: the parameter is no pointer.
llvm::StringRef pointee_of(llvm::StringRef parameters) {
  if (!parameters.consume_front("P")) return {};
  for (unsigned length = 0; !parameters.empty();) {
    if (parameters.consume_front("V") || parameters.consume_front("K")) continue;
    if (!parameters.consume_front("U")) break;
    if (parameters.consumeInteger(10, length) || length > parameters.size()) return {};
    parameters = parameters.drop_front(length);
  }
  return parameters;
}

}  // namespace

Builtin builtin_of(llvm::StringRef mangled) {
  llvm::StringRef rest = mangled;
  unsigned length = 0;
  if (!rest.consume_front("_Z") || rest.consumeInteger(10, length) || length > rest.size())
    return {mangled, {}};
  return {rest.take_front(length), rest.drop_front(length)};
}

unsigned size_of_scalar(llvm::StringRef code) {
  return llvm::StringSwitch<unsigned>(code)
      .Cases("c", "h", "a", 1)
      .Cases("s", "t", "Dh", 2)
      .Cases("i", "j", "f", 4)
      .Cases("l", "m", "d", 8)
      .Default(0);
}

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

std::optional<GroupCopy> group_copy(const Builtin& builtin) {
  GroupCopy copy;
  if (builtin.name == "async_work_group_strided_copy") {
    copy.strided = true;
  } else if (builtin.name != "async_work_group_copy") {
    return std::nullopt;
  }
  llvm::StringRef type = pointee_of(builtin.parameters);
  unsigned lanes = 1;
  if (type.consume_front("Dv") && (type.consumeInteger(10, lanes) || !type.consume_front("_")))
    return std::nullopt;
  // An element of three numbers takes as much memory as one of four.
  copy.size = size_of_scalar(type.take_front(type.starts_with("Dh") ? 2 : 1)) * (lanes == 3 ? 4 : lanes);
  if (copy.size == 0) return std::nullopt;
  return copy;
}

AtomicChange change_of(const Builtin& builtin) {
  llvm::StringRef name = builtin.name;
  name.consume_back("_explicit");
  if (!name.consume_front("atomic_fetch_") && !name.consume_front("atomic_") && !name.consume_front("atom_"))
    return AtomicChange::None;
  const llvm::StringRef type = pointee_of(builtin.parameters).take_front(1);
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

std::optional<Query> query_of(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<Query>>(name)
      .Case("get_global_id", Query{.op = Op::GlobalId})
      .Case("get_local_id", Query{.op = Op::LocalId, .groups = true})
      .Case("get_group_id", Query{.op = Op::GroupId, .groups = true})
      .Case("get_global_size", Query{.op = Op::GlobalSize, .whole = true})
      .Case("get_local_size", Query{.op = Op::LocalSize, .groups = true})
      .Case("get_enqueued_local_size", Query{.op = Op::EnqueuedLocalSize, .groups = true})
      .Case("get_num_groups", Query{.op = Op::GroupCount, .whole = true, .groups = true})
      .Case("get_global_offset", Query{.op = Op::GlobalOffset, .whole = true})
      .Case("get_work_dim", Query{.op = Op::Dimensions})
      .Case("get_global_linear_id", Query{.op = Op::Unknown, .whole = true})
      .Case("get_group_linear_id", Query{.op = Op::Unknown, .whole = true, .groups = true})
      .Case("get_local_linear_id", Query{.op = Op::Unknown, .groups = true})
      .Default(std::nullopt);
}

std::optional<std::uint64_t> dimension_of(const llvm::CallBase& call) {
  if (call.arg_size() != 1) return std::nullopt;
  const auto* dimension = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(0));
  if (dimension == nullptr) return std::nullopt;
  return dimension->getZExtValue();
}

}  // namespace clique::daemon::compiler::footprints
