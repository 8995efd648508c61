// What random kernels consist of.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "division/random_kernel.hpp"

namespace clique::test::division {

enum class Op : std::uint8_t {
  // Expressions.
  Number,
  Scalar,
  Query,
  Variable,
  Cast,
  Narrow,
  Add,
  Subtract,
  Multiply,
  Divide,
  Remainder,
  ShiftLeft,
  ShiftRight,
  And,
  Or,
  ExclusiveOr,
  Least,
  Greatest,
  Clamp,
  Choice,
  Load,
  Multiply24,
  // Conditions.
  Less,
  LessEqual,
  Equal,
  Different,
  Both,
  Any,
  // Statements.
  Declare,
  Assign,
  If,
  For,
  DoWhile,
  StoreTo,
  LoadFrom,
  Walk,
  Change,
  StorePixel,
  LoadPixel,
  Return,
  Break,
  Continue,
  Barrier,
};

/// Type in OpenCL C.
inline constexpr const char* kTypes[] = {"int", "uint", "long", "ulong"};
/// Op::Query, by Node::value.
inline constexpr const char* kQueries[] = {"get_global_id",     "get_local_id",           "get_group_id",
                                           "get_global_size",   "get_local_size",         "get_num_groups",
                                           "get_global_offset", "get_enqueued_local_size"};
/// Op::Narrow, by Node::value.
inline constexpr const char* kNarrow[] = {"char", "uchar", "short", "ushort"};
/// Elements of accesses, and their sizes.
inline constexpr std::pair<const char*, unsigned> kElements[] = {
    {"uchar", 1}, {"ushort", 2}, {"int", 4}, {"long", 8}, {"int4", 16}};

/// Op::Change, by Node::value.
inline constexpr const char* kChanges[] = {"add", "sub", "inc", "dec", "min", "max", "and", "or", "xor"};

inline bool is_signed(Type type) {
  return type == Type::Int || type == Type::Long;
}

/// Whether the operation has an operand; the others are only in OpenCL C 1.x.
inline bool has_operand(std::int64_t change) {
  return change != 2 && change != 3;
}
inline unsigned bits_of(Type type) {
  return type == Type::Int || type == Type::UInt ? 32 : 64;
}
/// An expression, a condition or a statement.
struct Node {
  Op op;
  Type type = Type::Int;
  std::int64_t value = 0;  ///< a number, an index of a table, or a comparison's sense
  unsigned index = 0;      ///< of a variable, buffer or image
  unsigned second = 0;     ///< the other buffer of a pointer to one of two; of a change, its form
  bool used = false;       ///< whether a change's result is used
  enum Order : std::uint8_t { Plain, Volatile, Atomic } order = Plain;  ///< of a write
  std::vector<NodePtr> coordinates;                                     ///< of a pixel
  std::vector<NodePtr> operands;
  std::vector<NodePtr> body;
  std::vector<NodePtr> other;
};
}  // namespace clique::test::division
