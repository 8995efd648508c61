// What a kernel reads and writes, as far as its code tells: how clique-compiler describes it and the client
// evaluates it (icd/core/division).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/aggregate.hpp"

namespace clique::protocol {

/// How a number is computed from others. Numbers are integers of `bits` bits, as in the kernel's code.
enum class FootprintOp : std::uint8_t {
  Unknown = 0,             ///< any number
  Constant = 1,            ///< `value`
  Argument = 2,            ///< the bytes at offset `value` of the kernel's argument `a`, a scalar or vector
  GlobalId = 3,            ///< in dimension `a`, as the following ones
  LocalId = 4,             ///<
  GroupId = 5,             ///<
  GlobalSize = 6,          ///<
  LocalSize = 7,           ///< of the work-group, or as it was enqueued
  GroupCount = 8,          ///<
  GlobalOffset = 9,        ///<
  Dimensions = 10,         ///< get_work_dim
  Counter = 11,            ///< how often loop `a` has gone back to its beginning
  Add = 12,                ///< `a` + `b`, modulo 2^bits as in the kernel
  Subtract = 13,           ///<
  Multiply = 14,           ///<
  DivideUnsigned = 15,     ///< `a` / `b`
  DivideSigned = 16,       ///< towards 0
  DivideDown = 17,         ///< `a` / `value`, signed and rounded down
  RemainderUnsigned = 18,  ///< `a` % `b`
  RemainderSigned = 19,    ///<
  And = 20,                ///<
  SignExtend = 21,         ///< of `a`
  ZeroExtend = 22,         ///<
  Truncate = 23,           ///<
  LeastSigned = 24,        ///< of `a` and `b`
  LeastUnsigned = 25,      ///<
  GreatestSigned = 26,     ///<
  GreatestUnsigned = 27,   ///<
  Either = 28,             ///< `a` or `b`
  Within24Signed = 29,     ///< `a`, if it has 24 bits; otherwise any number
  Within24Unsigned = 30,   ///<
};

/// Operands are indices of earlier numbers.
struct FootprintNumber {
  FootprintOp op = FootprintOp::Unknown;
  std::uint8_t bits = 64;  ///< 1 to 64
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::int64_t value = 0;
  CLIQUE_FIELDS(FootprintNumber, op, bits, a, b, value)
};

enum class Comparison : std::uint8_t {
  Equal = 0,
  Different = 1,
  LessSigned = 2,
  LessEqualSigned = 3,
  LessUnsigned = 4,
  LessEqualUnsigned = 5,
};

/// `a` comparison `b`, both numbers of the same width.
struct FootprintCondition {
  Comparison comparison = Comparison::Equal;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  CLIQUE_FIELDS(FootprintCondition, comparison, a, b)
};

/// A loop with a variable that is `start` in the first iteration and grows by `step` in each. The loop goes
/// back to its beginning only while `VARIABLE comparison bound` holds. The numbers do not change in the loop.
struct FootprintLoop {
  bool bounded = false;  ///< otherwise nothing is known of the number of iterations
  std::uint32_t start = 0;
  std::uint32_t step = 0;
  std::uint32_t bound = 0;
  Comparison comparison = Comparison::Different;
  bool bound_first = false;  ///< `bound comparison VARIABLE`
  bool next = false;         ///< the variable is compared after it has grown
  /// Whether the variable is a signed number of its width, which `start` has, when it is compared.
  bool is_signed = true;
  CLIQUE_FIELDS(FootprintLoop, bounded, start, step, bound, comparison, bound_first, next, is_signed)
};

/// Bytes of a buffer that work-items read or may write.
struct FootprintAccess {
  std::uint32_t argument = 0;  ///< the kernel's argument that is the buffer
  bool writes = false;
  std::uint64_t size = 0;                 ///< bytes
  std::uint32_t offset = 0;               ///< the number of the first byte, relative to the argument
  std::vector<std::uint32_t> conditions;  ///< which hold whenever the access happens
  std::uint32_t line = 0;                 ///< of the source; 0: unknown
  CLIQUE_FIELDS(FootprintAccess, argument, writes, size, offset, conditions, line)
};

/// What a kernel reads and writes.
struct Footprint {
  std::string kernel;
  std::string obstacle;    ///< why launches must not be divided, for people; empty: they may be
  std::uint32_t line = 0;  ///< of the source, where that is; 0: unknown
  std::vector<FootprintNumber> numbers;
  std::vector<FootprintLoop> loops;
  std::vector<FootprintCondition> conditions;
  std::vector<FootprintAccess> accesses;
  /// Bit d: the kernel asks for what differs in a launch with a global offset and a smaller range in
  /// dimension d, such as get_group_id(d).
  std::uint8_t whole_dimensions = 0;
  std::uint32_t whole_line = 0;  ///< of the source, where it asks; 0: unknown
  /// Whether the kernel depends on the work-groups: their size, local ids, barriers, local memory.
  bool uses_groups = false;
  CLIQUE_FIELDS(Footprint, kernel, obstacle, line, numbers, loops, conditions, accesses, whole_dimensions,
                whole_line, uses_groups)
};

}  // namespace clique::protocol
