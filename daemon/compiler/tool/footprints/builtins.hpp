// What is known of OpenCL C's builtin functions from their mangled names.
#pragma once

#include <llvm/ADT/StringRef.h>
#include <llvm/IR/InstrTypes.h>

#include <cstdint>
#include <optional>

#include "protocol/footprint.hpp"

namespace clique::daemon::compiler::footprints {

/// A builtin function's name in the source, and the rest of its mangled name, its parameter types.
struct Builtin {
  llvm::StringRef name;
  llvm::StringRef parameters;
};

/// @param mangled a function's name in a module; if it is not mangled, it has no parameters
Builtin builtin_of(llvm::StringRef mangled);

/// Bytes of the scalar type that a mangled name abbreviates so; 0: not known.
unsigned size_of_scalar(llvm::StringRef code);

/// What vloadN, vstoreN and their relatives access: `size` bytes at `stride` times their offset.
struct VectorAccess {
  unsigned size = 0;
  unsigned stride = 0;
  bool writes = false;
  unsigned offset_argument = 0;
};

/// @returns nothing if the function is none of these
std::optional<VectorAccess> vector_access(const Builtin& builtin);

/// What the asynchronous copies of a work-group access: as many elements of `size` bytes as an operand says.
struct GroupCopy {
  unsigned size = 0;
  bool strided = false;  ///< whether the operand after the number of elements is a distance in elements
};
/// Operands of these functions.
inline constexpr unsigned kCopyDestination = 0;
inline constexpr unsigned kCopySource = 1;
inline constexpr unsigned kCopyCount = 2;
inline constexpr unsigned kCopyStride = 3;

/// @returns nothing if the function is none of these, or one whose elements are not known
std::optional<GroupCopy> group_copy(const Builtin& builtin);

/// How an atomic function changes an integer; AtomicChange::None: the function is no such one.
protocol::AtomicChange change_of(const Builtin& builtin);

/// How a launch with a global offset and a smaller range answers a query of the index space.
struct Query {
  protocol::FootprintOp op;
  bool whole = false;   ///< differently than the undivided launch
  bool groups = false;  ///< depending on the work-groups
};

/// @param name as in the source. @returns nothing if the function queries something else
std::optional<Query> query_of(llvm::StringRef name);

/// The dimension that a query of the index space asks for; nothing: it is not constant, or there is none.
std::optional<std::uint64_t> dimension_of(const llvm::CallBase& call);

}  // namespace clique::daemon::compiler::footprints
