// What a kernel reads and writes, as far as its code tells: how clique-compiler describes it and the client
// evaluates it (icd/core/division).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "protocol/aggregate.hpp"

namespace clique::protocol {

/// Kernels with larger footprints are not divided: to evaluate them would cost more than division saves.
inline constexpr std::size_t kMostFootprintNumbers = 20'000;
inline constexpr std::size_t kMostFootprintAccesses = 1'000;
/// Of one access; further ones are left out, as if nothing was known of them.
inline constexpr std::size_t kMostFootprintConditions = 64;

/// `a` of an Unknown number that depends on what the kernel reads of buffers or images.
inline constexpr std::uint32_t kFromData = 1;

/// How a number is computed from others. Numbers are integers of `bits` bits, as in the kernel's code.
enum class FootprintOp : std::uint8_t {
  Unknown = 0,              ///< any number; `a`: kFromData if it is computed from data, for people
  Constant = 1,             ///< `value`
  Argument = 2,             ///< the bytes at offset `value` of the kernel's argument `a`, a scalar or vector
  GlobalId = 3,             ///< get_global_id(`a`)
  LocalId = 4,              ///< get_local_id(`a`)
  GroupId = 5,              ///< get_group_id(`a`)
  GlobalSize = 6,           ///< get_global_size(`a`)
  LocalSize = 7,            ///< get_local_size(`a`): of the work-group, which may be a smaller one
  EnqueuedLocalSize = 8,    ///< get_enqueued_local_size(`a`)
  GroupCount = 9,           ///< get_num_groups(`a`)
  GlobalOffset = 10,        ///< get_global_offset(`a`)
  Dimensions = 11,          ///< get_work_dim()
  Counter = 12,             ///< how often loop `a` has gone back to its beginning
  Add = 13,                 ///< `a` + `b`, modulo 2^bits as in the kernel
  Subtract = 14,            ///< `a` - `b`, likewise
  Multiply = 15,            ///< `a` * `b`, likewise
  DivideUnsigned = 16,      ///< `a` / `b`
  DivideSigned = 17,        ///< `a` / `b`, rounded towards 0
  DivideDown = 18,          ///< `a` / `value`, signed and rounded down
  RemainderUnsigned = 19,   ///< `a` % `b`
  RemainderSigned = 20,     ///< `a` % `b`, with the sign of `a`
  And = 21,                 ///< `a` & `b`
  SignExtend = 22,          ///< `a` with more bits
  ZeroExtend = 23,          ///< `a` with more bits
  Truncate = 24,            ///< the lowest bits of `a`
  LeastSigned = 25,         ///< of `a` and `b`
  LeastUnsigned = 26,       ///< of `a` and `b`
  GreatestSigned = 27,      ///< of `a` and `b`
  GreatestUnsigned = 28,    ///< of `a` and `b`
  Either = 29,              ///< `a` or `b`
  Within24Signed = 30,      ///< `a`, if it has 24 bits; otherwise any number
  Within24Unsigned = 31,    ///< the same for unsigned numbers
  Or = 32,                  ///< `a` | `b`
  ExclusiveOr = 33,         ///< `a` ^ `b`
  ShiftLeft = 34,           ///< `a` << `b`, modulo 2^bits; any number if `b` is `bits` or more
  ShiftRightUnsigned = 35,  ///< `a` >> `b`, likewise
  ShiftRightSigned = 36,    ///< `a` >> `b`, rounded down, likewise
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

/// What an atomic operation on an integer does to it, if its result is not used. Changes of one kind are
/// associative and commutative: several may be combined before they are applied, in any order.
enum class AtomicChange : std::uint8_t {
  None = 0,  ///< the access is another one
  Add = 1,   ///< modulo 2^bits; also what subtracts
  And = 2,
  Or = 3,
  ExclusiveOr = 4,
  LeastSigned = 5,
  LeastUnsigned = 6,
  GreatestSigned = 7,
  GreatestUnsigned = 8,
};

/// Bytes of a buffer, or a pixel of an image, that work-items read or may write.
struct FootprintAccess {
  std::uint32_t argument = 0;  ///< the kernel's argument that is the buffer or image
  bool writes = false;
  std::uint64_t size = 0;                 ///< bytes; of an image, 0
  std::uint32_t offset = 0;               ///< the number of the first byte, relative to the argument
  std::vector<std::uint32_t> conditions;  ///< which hold whenever the access happens
  std::uint32_t line = 0;                 ///< of the source; 0: unknown
  /// Of an image instead of `offset`: the pixel's coordinates, numbers of 32 bits. Fewer or more than the
  /// image has mean any pixel. Empty: the access is one to a buffer.
  std::vector<std::uint32_t> coordinates;
  /// The access is such an operation on an integer of 4 or 8 bytes; it writes.
  AtomicChange change = AtomicChange::None;
  CLIQUE_FIELDS(FootprintAccess, argument, writes, size, offset, conditions, line, coordinates, change)
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
  /// Bit d: the kernel asks for what differs if a part of the range runs in dimension d: on devices that run
  /// a part as a launch with a global offset and a smaller range, for example get_num_groups(d).
  std::uint8_t whole_dimensions = 0;
  std::uint32_t whole_line = 0;  ///< of the source, where it asks; 0: unknown
  /// Bit d: the kernel asks for get_group_id(d), which is right in a part only if the launch has no global
  /// offset in dimension d.
  std::uint8_t group_id_dimensions = 0;
  /// Whether the kernel depends on the work-groups: their size, local ids, barriers, local memory.
  bool uses_groups = false;
  CLIQUE_FIELDS(Footprint, kernel, obstacle, line, numbers, loops, conditions, accesses, whole_dimensions,
                whole_line, group_id_dimensions, uses_groups)
};

}  // namespace clique::protocol
