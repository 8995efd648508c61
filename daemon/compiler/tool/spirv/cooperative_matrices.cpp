#include "daemon/compiler/tool/spirv/cooperative_matrices.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "daemon/compiler/contract/spirv.hpp"

namespace clique::daemon::compiler {

namespace cooperative_matrices {

namespace {

// SPIR-V 1.6, section 3, SPV_KHR_cooperative_matrix, and SPV_INTEL_joint_matrix for bfloat16.
constexpr std::size_t kHeaderWords = 5;
constexpr std::size_t kBoundWord = 3;
/// Leaves room for new ids. SPIR-V's own limit is 0x3FFFFF.
constexpr std::uint32_t kLargestBound = 1U << 30U;

enum Op : std::uint16_t {
  kExtension = 10,
  kCapability = 17,
  kTypeVoid = 19,
  kTypeInt = 21,
  kTypeFloat = 22,
  kTypeVector = 23,
  kTypeStruct = 30,
  kTypePointer = 32,
  kTypeFunction = 33,
  kTypeForwardPointer = 39,
  kConstant = 43,
  kConstantComposite = 44,
  kConstantNull = 46,
  kSpecConstant = 50,
  kSpecConstantComposite = 51,
  kSpecConstantOp = 52,
  kFunction = 54,
  kFunctionParameter = 55,
  kFunctionEnd = 56,
  kFunctionCall = 57,
  kDecorate = 71,
  kCompositeConstruct = 80,
  kUConvert = 113,
  kBitcast = 124,
  kIAdd = 128,
  kISub = 130,
  kIMul = 132,
  kUDiv = 134,
  kUMod = 137,
  kVectorTimesScalar = 142,
  kMatrixTimesScalar = 143,
  kShiftRightLogical = 194,
  kShiftLeftLogical = 196,
  kBitwiseOr = 197,
  kBitwiseXor = 198,
  kBitwiseAnd = 199,
  kTypeCooperativeMatrix = 4456,
  kCooperativeMatrixLoad = 4457,
  kCooperativeMatrixStore = 4458,
  kCooperativeMatrixMulAdd = 4459,
  kCooperativeMatrixLength = 4460,
};

constexpr std::uint32_t kCapabilityLinkage = 5;
constexpr std::uint32_t kCapabilityVector16 = 7;
constexpr std::uint32_t kCapabilityInt64 = 11;
constexpr std::uint32_t kCapabilityCooperativeMatrix = 6022;
constexpr std::uint32_t kCapabilityBfloat16 = 6437;
/// Capabilities of SPV_INTEL_joint_matrix that the device does not have.
constexpr std::array<std::pair<std::uint32_t, const char*>, 4> kAbsentCapabilities{{
    {6411, "CooperativeMatrixPrefetchINTEL"},
    {6434, "PackedCooperativeMatrixINTEL"},
    {6435, "CooperativeMatrixInvocationInstructionsINTEL"},
    {6436, "CooperativeMatrixTF32ComponentTypeINTEL"},
}};
constexpr std::string_view kMatrixExtension = "SPV_KHR_cooperative_matrix";
constexpr std::string_view kJointMatrixExtension = "SPV_INTEL_joint_matrix";

constexpr std::uint32_t kDecorationLinkage = 41;
constexpr std::uint32_t kLinkageImport = 1;

constexpr std::uint32_t kStorageWorkgroup = 4;
constexpr std::uint32_t kStorageCrossWorkgroup = 5;
constexpr std::uint32_t kStorageGeneric = 8;

constexpr std::uint32_t kMostComponents = 16;  ///< of a vector

constexpr std::uint32_t kScopeSubgroup = 3;
constexpr std::uint32_t kUseA = 0;
constexpr std::uint32_t kUseB = 1;
constexpr std::uint32_t kUseAccumulator = 2;
constexpr std::uint32_t kLargestLayout = 1;  ///< RowMajorKHR is 0, ColumnMajorKHR is 1

/// Memory operands that are promises or hints, which the functions need not know: Aligned, Nontemporal, and
/// Intel's masks of aliases.
constexpr std::uint32_t kHarmlessMemoryOperands = 0x2 | 0x4 | 0x10000 | 0x20000;

// Cooperative matrix operands.
constexpr std::uint32_t kSignedA = 0x1;
constexpr std::uint32_t kSignedB = 0x2;
/// These, and the signs of C and the result, which make no difference to sums modulo 2^32.
constexpr std::uint32_t kSigns = kSignedA | kSignedB | 0x4 | 0x8;
constexpr std::uint32_t kBfloat16Factors = 0x40;

using Id = std::uint32_t;
using Words = std::vector<std::uint32_t>;
using Instruction = std::span<const std::uint32_t>;

struct Component {
  bool is_float = false;
  std::uint32_t width = 0;  ///< in bits
  bool operator==(const Component&) const = default;
};

/// A type of matrix that the device library has functions for.
struct Matrix {
  std::string_view name;
  Component component;
  std::uint32_t rows;
  std::uint32_t columns;
  std::uint32_t use;
  std::uint32_t length;  ///< components that a work-item holds
};

constexpr std::array<Matrix, 9> kLibraryMatrices{{
    {"half16x16_a", {true, 16}, 16, 16, kUseA, 8},
    {"half16x16_b", {true, 16}, 16, 16, kUseB, 8},
    {"bfloat16x16_a", {false, 16}, 16, 16, kUseA, 8},
    {"bfloat16x16_b", {false, 16}, 16, 16, kUseB, 8},
    {"char16x32_a", {false, 8}, 16, 32, kUseA, 16},
    {"char32x16_b", {false, 8}, 32, 16, kUseB, 16},
    {"half16x16", {true, 16}, 16, 16, kUseAccumulator, 8},
    {"float16x16", {true, 32}, 16, 16, kUseAccumulator, 8},
    {"int16x16", {false, 32}, 16, 16, kUseAccumulator, 8},
}};
constexpr const char* kAvailableMatrices =
    "This device has matrices of scope Subgroup: A and B of 16 × 16 16-bit floats, "
    "and of 16-bit integers that are bfloat16; A of 16 × 32 and B of 32 × 16 8-bit integers; "
    "accumulators of 16 × 16 32-bit floats, 16-bit floats and 32-bit integers";

struct Product {
  std::string_view a, b, sum;
};
/// For 8 bits, those with signed factors; the library has one for each combination of signs.
constexpr std::array<Product, 4> kLibraryProducts{{
    {"half16x16_a", "half16x16_b", "float16x16"},
    {"half16x16_a", "half16x16_b", "half16x16"},
    {"bfloat16x16_a", "bfloat16x16_b", "float16x16"},
    {"char16x32_a", "char32x16_b", "int16x16"},
}};
constexpr const char* kAvailableProducts =
    "This device multiplies 16-bit floats for sums of 32-bit or 16-bit floats, bfloat16 "
    "(MatrixAAndBBFloat16ComponentsINTEL) for sums of 32-bit floats, and 8-bit integers for sums of 32-bit "
    "integers without saturation";

[[noreturn]] void fail(const std::string& message) {
  throw std::runtime_error("SPV_KHR_cooperative_matrix: " + message);
}

std::string number(std::uint32_t value) {
  return std::to_string(value);
}

std::string id_text(Id id) {
  return "%" + number(id);
}

std::uint16_t op_of(Instruction instruction) {
  return static_cast<std::uint16_t>(instruction[0] & 0xFFFFU);
}

/// The literal string that begins at the first word, without what follows its end.
std::string_view string_at(Instruction words) {
  const std::string_view bytes(reinterpret_cast<const char*>(words.data()), words.size_bytes());
  return bytes.substr(0, bytes.find('\0'));
}

std::string text_of(const Component& component) {
  return number(component.width) + "-bit " + (component.is_float ? "float" : "integer");
}

std::string use_text(std::uint32_t use) {
  switch (use) {
    case kUseA:
      return "MatrixAKHR";
    case kUseB:
      return "MatrixBKHR";
    case kUseAccumulator:
      return "MatrixAccumulatorKHR";
    default:
      return number(use);
  }
}

/// The result of OpSpecConstantOp for numbers of 32 bits.
std::optional<std::uint32_t> folded(std::uint32_t op, std::uint32_t a, std::uint32_t b) {
  switch (op) {
    case kIAdd:
      return a + b;
    case kISub:
      return a - b;
    case kIMul:
      return a * b;
    case kUDiv:
      return b != 0 ? std::optional(a / b) : std::nullopt;
    case kUMod:
      return b != 0 ? std::optional(a % b) : std::nullopt;
    case kShiftRightLogical:
      return b < 32 ? std::optional(a >> b) : std::nullopt;
    case kShiftLeftLogical:
      return b < 32 ? std::optional(a << b) : std::nullopt;
    case kBitwiseOr:
      return a | b;
    case kBitwiseXor:
      return a ^ b;
    case kBitwiseAnd:
      return a & b;
    default:
      return std::nullopt;
  }
}

/// A part of the new module.
class Section {
 public:
  void add(Op op, std::initializer_list<std::uint32_t> operands) { add(op, operands, {}); }
  void add(Op op, std::initializer_list<std::uint32_t> operands, std::span<const std::uint32_t> rest) {
    // No caller passes more than a few words.
    const auto count = static_cast<std::uint32_t>(1 + operands.size() + rest.size());
    words_.push_back(count << 16U | op);
    words_.insert(words_.end(), operands.begin(), operands.end());
    words_.insert(words_.end(), rest.begin(), rest.end());
  }
  void copy(std::span<const std::uint32_t> words) { words_.insert(words_.end(), words.begin(), words.end()); }
  const Words& words() const { return words_; }

 private:
  Words words_;
};

/// Literals end with at least one byte of 0.
Words literal(const std::string& text) {
  Words words(text.size() / sizeof(std::uint32_t) + 1);
  std::memcpy(words.data(), text.data(), text.size());
  return words;
}

class Lowering {
 public:
  explicit Lowering(const Words& module) : module_(module), next_id_(module[kBoundWord]) {
    if (next_id_ > kLargestBound)
      fail("the module's bound of ids is " + number(next_id_) + "; at most " + number(kLargestBound) +
           " is allowed");
  }

  Words run() {
    for (std::size_t at = kHeaderWords; at < module_.size(); at += module_[at] >> 16U) {
      const Instruction instruction = Instruction(module_).subspan(at, module_[at] >> 16U);
      const std::uint16_t op = op_of(instruction);
      if (op == kFunction) in_functions_ = true;
      if (op >= kTypeVoid && op <= kTypeForwardPointer) in_types_ = true;
      note(instruction);
      rewrite(instruction);
    }
    Section capabilities;
    for (const std::uint32_t each : {kCapabilityLinkage, kCapabilityVector16, kCapabilityInt64})
      capabilities.add(kCapability, {each});
    Words result(module_.begin(), module_.begin() + kHeaderWords);
    result[kBoundWord] = next_id_;
    for (const Section* section :
         {&capabilities, &before_types_, &decorations_, &types_, &declarations_, &imported_, &functions_})
      result.insert(result.end(), section->words().begin(), section->words().end());
    return result;
  }

 private:
  struct Pointer {
    std::uint32_t storage = 0;
    Id pointee = 0;
  };
  struct MatrixType {
    const Matrix* shape = nullptr;
    Id component = 0;
  };
  /// A matrix that an instruction uses.
  struct Operand {
    Id type = 0;
    MatrixType matrix;
  };

  Id new_id() { return next_id_++; }

  /// Where the instruction that is being rewritten goes.
  Section& here() { return in_functions_ ? functions_ : in_types_ ? types_ : before_types_; }

  // ---- What the module declares.

  /// Remembers types, constants, and the types of values.
  void note(Instruction instruction) {
    switch (op_of(instruction)) {
      case kTypeVoid:
        if (instruction.size() == 2 && void_ == 0) void_ = instruction[1];
        return;
      case kTypeInt:
        if (instruction.size() != 4) return;
        scalars_[instruction[1]] = {false, instruction[2]};
        sizes_[instruction[1]] = instruction[2] / 8;
        integer_types_.try_emplace(instruction[2], instruction[1]);
        return;
      case kTypeFloat:
        if (instruction.size() < 3) return;
        sizes_[instruction[1]] = instruction[2] / 8;
        // Those with another word are in an encoding of their own.
        if (instruction.size() == 3) scalars_[instruction[1]] = {true, instruction[2]};
        return;
      case kTypeVector:
        // A vector of three has the size of one of four.
        if (instruction.size() == 4 && instruction[3] <= kMostComponents)
          sizes_[instruction[1]] = size_of(instruction[2]) * (instruction[3] == 3 ? 4 : instruction[3]);
        return;
      case kTypeStruct:
        // Classes of SYCL that stand for a number, such as half.
        if (instruction.size() == 3) sizes_[instruction[1]] = size_of(instruction[2]);
        return;
      case kTypePointer:
        if (instruction.size() == 4) pointers_[instruction[1]] = {instruction[2], instruction[3]};
        return;
      default:
        break;
    }
    if (instruction.size() < 3 || !is_noted_type(instruction[1])) return;
    // An instruction whose first operand is a type has its result as the second.
    type_of_[instruction[2]] = instruction[1];
    if (const auto scalar = scalars_.find(instruction[1]);
        scalar == scalars_.end() || scalar->second != Component{false, 32})
      return;
    if (const auto value = value_of(instruction)) constants_[instruction[2]] = *value;
  }

  bool is_noted_type(Id id) const {
    return sizes_.contains(id) || pointers_.contains(id) || matrices_.contains(id);
  }

  /// The value of an instruction that makes a constant of 32 bits.
  std::optional<std::uint32_t> value_of(Instruction instruction) const {
    switch (op_of(instruction)) {
      case kConstant:
      case kSpecConstant:
        return instruction.size() == 4 ? std::optional(instruction[3]) : std::nullopt;
      case kConstantNull:
        return 0;
      case kSpecConstantOp: {
        if (instruction.size() != 6) return std::nullopt;
        const auto a = constants_.find(instruction[4]), b = constants_.find(instruction[5]);
        if (a == constants_.end() || b == constants_.end()) return std::nullopt;
        return folded(instruction[3], a->second, b->second);
      }
      default:
        return std::nullopt;
    }
  }

  std::uint32_t constant(Id id, const char* what, const std::string& whose) const {
    const auto found = constants_.find(id);
    if (found == constants_.end())
      fail(std::string(what) + ' ' + id_text(id) + " of " + whose +
           " is not a constant of a 32-bit integer type that the compiler can evaluate");
    return found->second;
  }

  const MatrixType& matrix_type(Id id, const std::string& whose) const {
    const auto found = matrices_.find(id);
    if (found == matrices_.end())
      fail("the type " + id_text(id) + " of " + whose + " is not a cooperative matrix");
    return found->second;
  }

  Id type_of(Id value, const std::string& user) const {
    const auto found = type_of_.find(value);
    if (found == type_of_.end())
      fail("operand " + id_text(value) + " of " + user + " is not a number, vector, pointer or matrix");
    return found->second;
  }

  Operand matrix_of(Id value, const std::string& user) const {
    const Id type = type_of(value, user);
    return {type, matrix_type(type, "operand " + id_text(value) + " of " + user)};
  }

  /// The size of a scalar, a vector, or a structure with one of these alone, in bytes. 0 if it is neither.
  std::uint32_t size_of(Id type) const {
    const auto found = sizes_.find(type);
    return found != sizes_.end() ? found->second : 0;
  }

  // ---- What is new in the module.

  /// A type that the module has, or a new one.
  Id void_type() {
    if (void_ == 0) {
      void_ = new_id();
      declarations_.add(kTypeVoid, {void_});
    }
    return void_;
  }

  Id integer_type(std::uint32_t width) {
    Id& id = integer_types_[width];
    if (id == 0) {
      id = new_id();
      declarations_.add(kTypeInt, {id, width, 0});
    }
    return id;
  }

  Id integer(std::uint32_t value) {
    Id& id = integers_[value];
    if (id == 0) {
      const Id type = integer_type(32);
      id = new_id();
      declarations_.add(kConstant, {type, id, value});
    }
    return id;
  }

  Id pointer_type(std::uint32_t storage, Id pointee) {
    Id& id = new_pointers_[{storage, pointee}];
    if (id == 0) {
      id = new_id();
      declarations_.add(kTypePointer, {id, storage, pointee});
    }
    return id;
  }

  /// A function of the device library. The translator's types are those of the first call.
  Id import(const std::string& name, Id result, const std::vector<Id>& parameters) {
    Id& function = imports_[name];
    if (function != 0) return function;
    const Id type = new_id();
    function = new_id();
    Words linkage = literal(name);
    linkage.push_back(kLinkageImport);
    decorations_.add(kDecorate, {function, kDecorationLinkage}, linkage);
    declarations_.add(kTypeFunction, {type, result}, parameters);
    imported_.add(kFunction, {result, function, 0, type});
    for (const Id parameter : parameters) imported_.add(kFunctionParameter, {parameter, new_id()});
    imported_.add(kFunctionEnd, {});
    return function;
  }

  // ---- Instructions.

  void rewrite(Instruction instruction) {
    switch (op_of(instruction)) {
      case kCapability:
        if (instruction.size() == 2 &&
            (instruction[1] == kCapabilityCooperativeMatrix || instruction[1] == kCapabilityBfloat16))
          return;
        for (const auto& [capability, name] : kAbsentCapabilities)
          if (instruction.size() == 2 && instruction[1] == capability)
            fail(std::string("the module declares the capability ") + name + " (" + number(capability) +
                 "), which this device does not have; of SPV_INTEL_joint_matrix it has "
                 "CooperativeMatrixBFloat16ComponentTypeINTEL (" +
                 number(kCapabilityBfloat16) + ")");
        break;
      case kExtension:
        if (const auto name = string_at(instruction.subspan(1));
            name == kMatrixExtension || name == kJointMatrixExtension)
          return;
        break;
      case kTypeCooperativeMatrix:
        return rewrite_type(instruction);
      case kConstantComposite:
      case kSpecConstantComposite:
      case kCompositeConstruct:
        if (instruction.size() >= 3 && matrices_.contains(instruction[1])) return rewrite_fill(instruction);
        break;
      case kSpecConstantOp:
        if (instruction.size() >= 4 && instruction[3] == kCooperativeMatrixLength) {
          if (instruction.size() != 5) fail_at(instruction, "OpSpecConstantOp");
          return rewrite_length(instruction[1], instruction[2], instruction[4], here());
        }
        break;
      case kMatrixTimesScalar:
        if (instruction.size() >= 3 && matrices_.contains(instruction[1]))
          return rewrite_scaling(instruction);
        break;
      case kCooperativeMatrixLength:
        if (instruction.size() != 4) fail_at(instruction, "OpCooperativeMatrixLengthKHR");
        // A constant has the same meaning as the instruction, and need not be in a function.
        return rewrite_length(instruction[1], instruction[2], instruction[3], declarations_);
      case kCooperativeMatrixLoad:
        return rewrite_load(instruction);
      case kCooperativeMatrixStore:
        return rewrite_store(instruction);
      case kCooperativeMatrixMulAdd:
        return rewrite_product(instruction);
      default:
        break;
    }
    here().copy(instruction);
  }

  [[noreturn]] static void fail_at(Instruction instruction, const std::string& name) {
    fail(name + " has " + std::to_string(instruction.size()) + " words, which SPIR-V does not allow");
  }

  void rewrite_type(Instruction instruction) {
    if (instruction.size() != 7) fail_at(instruction, "OpTypeCooperativeMatrixKHR");
    const Id id = instruction[1], component = instruction[2];
    const std::string whose = "the type " + id_text(id);
    const std::uint32_t scope = constant(instruction[3], "scope", whose);
    const std::uint32_t rows = constant(instruction[4], "number of rows", whose);
    const std::uint32_t columns = constant(instruction[5], "number of columns", whose);
    const std::uint32_t use = constant(instruction[6], "use", whose);
    const auto scalar = scalars_.find(component);
    const auto found =
        std::find_if(kLibraryMatrices.begin(), kLibraryMatrices.end(), [&](const Matrix& matrix) {
          return scalar != scalars_.end() && scope == kScopeSubgroup && matrix.component == scalar->second &&
                 matrix.rows == rows && matrix.columns == columns && matrix.use == use;
        });
    if (found == kLibraryMatrices.end()) {
      const std::string of = scalar != scalars_.end() ? text_of(scalar->second) + "s"
                                                      : "the component type " + id_text(component) +
                                                            ", which is no integer and no IEEE 754 float";
      fail(whose + " is a matrix of " + number(rows) + " × " + number(columns) + " components (" + of +
           "), use " + use_text(use) + ", scope " + number(scope) + ", which this device does not have. " +
           kAvailableMatrices);
    }
    matrices_[id] = {&*found, component};
    here().add(kTypeVector, {id, component, found->length});
  }

  /// All components get one value.
  void rewrite_fill(Instruction instruction) {
    const Matrix& matrix = *matrices_.at(instruction[1]).shape;
    if (instruction.size() != 4)
      fail("the composite " + id_text(instruction[2]) + " has " + std::to_string(instruction.size() - 3) +
           " constituents; a matrix has exactly one, the value of all components");
    const Words components(matrix.length, instruction[3]);
    here().add(static_cast<Op>(op_of(instruction)), {instruction[1], instruction[2]}, components);
  }

  void rewrite_length(Id type, Id result, Id matrix, Section& section) {
    const std::string whose = "OpCooperativeMatrixLengthKHR " + id_text(result);
    // Translators of 2023 and before name a matrix instead of its type.
    const auto value = type_of_.find(matrix);
    const std::uint32_t length =
        matrix_type(value != type_of_.end() ? value->second : matrix, whose).shape->length;
    if (const auto scalar = scalars_.find(type);
        scalar == scalars_.end() || scalar->second != Component{false, 32})
      fail("the result type " + id_text(type) + " of " + whose + " is not a 32-bit integer");
    constants_[result] = length;
    section.add(kConstant, {type, result, length});
  }

  void rewrite_scaling(Instruction instruction) {
    if (instruction.size() != 5) fail_at(instruction, "OpMatrixTimesScalar");
    const Id type = instruction[1], result = instruction[2], matrix = instruction[3], scalar = instruction[4];
    const Matrix& shape = *matrices_.at(type).shape;
    if (shape.component.is_float) return here().add(kVectorTimesScalar, {type, result, matrix, scalar});
    // There is no such instruction for vectors of integers.
    const Id factors = new_id();
    here().add(kCompositeConstruct, {type, factors}, Words(shape.length, scalar));
    here().add(kIMul, {type, result, matrix, factors});
  }

  /// The arguments of a load or store that follow the matrix: the pointer, the stride, the size in bytes of
  /// what the stride counts, and the layout.
  struct Place {
    std::vector<Id> types;
    std::vector<Id> arguments;
    std::string_view space;
  };

  /// @param component the type of the matrix's components
  /// @param rest the operands from the memory layout on
  Place place_of(Id pointer, Id component, Instruction rest, const std::string& whose) {
    const auto type = pointers_.find(type_of(pointer, whose));
    if (type == pointers_.end()) fail("operand " + id_text(pointer) + " of " + whose + " is not a pointer");
    const auto [storage, pointee] = type->second;
    const std::string_view space = space_name(storage, whose);
    const std::uint32_t unit = size_of(pointee);
    if (unit == 0)
      fail("the pointer " + id_text(pointer) + " of " + whose +
           " points to neither a scalar of whole bytes, nor a vector of these, nor a structure of one of "
           "these");
    const std::uint32_t layout = constant(rest[0], "memory layout", whose);
    if (layout > kLargestLayout)
      fail("the memory layout of " + whose + " is " + number(layout) +
           "; this device has RowMajorKHR (0) and ColumnMajorKHR (1)");
    if (rest.size() < 2) fail(whose + " has no stride, which its memory layout needs");
    if (rest.size() > 2 && (rest[2] & ~kHarmlessMemoryOperands) != 0)
      fail(whose + " has the memory operands " + number(rest[2]) +
           "; this device has only Aligned (2) and Nontemporal (4)");
    const Id to_component = pointer_type(storage, component);
    Id address = pointer;
    if (pointee != component) {
      address = new_id();
      here().add(kBitcast, {to_component, address, pointer});
    }
    const Id wide = integer_type(64), narrow = integer_type(32);
    return {{to_component, wide, narrow, narrow},
            {address, widened(rest[1], wide, whose), integer(unit), integer(layout)},
            space};
  }

  static std::string_view space_name(std::uint32_t storage, const std::string& whose) {
    switch (storage) {
      case kStorageCrossWorkgroup:
        return "global";
      case kStorageWorkgroup:
        return "local";
      case kStorageGeneric:
        return "generic";
      default:
        fail("the pointer of " + whose + " has the storage class " + number(storage) +
             "; matrices are in CrossWorkgroup (5) or Workgroup (4) memory, or behind a Generic (8) pointer "
             "to it");
    }
  }

  /// A stride as an integer of 64 bits. It is never negative.
  Id widened(Id stride, Id wide, const std::string& whose) {
    const auto scalar = scalars_.find(type_of(stride, whose));
    if (scalar == scalars_.end() || scalar->second.is_float)
      fail("the stride " + id_text(stride) + " of " + whose + " is not an integer");
    if (scalar->second.width == 64) return stride;
    const Id result = new_id();
    here().add(kUConvert, {wide, result, stride});
    return result;
  }

  void rewrite_load(Instruction instruction) {
    if (instruction.size() < 5) fail_at(instruction, "OpCooperativeMatrixLoadKHR");
    const Id type = instruction[1], result = instruction[2];
    const std::string whose = "OpCooperativeMatrixLoadKHR " + id_text(result);
    const auto [shape, component] = matrix_type(type, whose);
    const Place place = place_of(instruction[3], component, instruction.subspan(4), whose);
    const Id function = import(name_of("load", {place.space, shape->name}), type, place.types);
    here().add(kFunctionCall, {type, result, function}, place.arguments);
  }

  void rewrite_store(Instruction instruction) {
    if (instruction.size() < 4) fail_at(instruction, "OpCooperativeMatrixStoreKHR");
    const Id object = instruction[2];
    const std::string whose = "OpCooperativeMatrixStoreKHR of " + id_text(object);
    const auto [type, matrix] = matrix_of(object, whose);
    Place place = place_of(instruction[1], matrix.component, instruction.subspan(3), whose);
    place.types.insert(place.types.begin(), type);
    place.arguments.insert(place.arguments.begin(), object);
    const Id nothing = void_type();
    const Id function = import(name_of("store", {place.space, matrix.shape->name}), nothing, place.types);
    here().add(kFunctionCall, {nothing, new_id(), function}, place.arguments);
  }

  void rewrite_product(Instruction instruction) {
    if (instruction.size() != 6 && instruction.size() != 7)
      fail_at(instruction, "OpCooperativeMatrixMulAddKHR");
    const Id type = instruction[1], result = instruction[2];
    const std::uint32_t operands = instruction.size() == 7 ? instruction[6] : 0;
    const std::string whose = "OpCooperativeMatrixMulAddKHR " + id_text(result);
    const Operand of_a = matrix_of(instruction[3], whose), of_b = matrix_of(instruction[4], whose),
                  of_c = matrix_of(instruction[5], whose);
    const Matrix &a = *of_a.matrix.shape, &b = *of_b.matrix.shape, &c = *of_c.matrix.shape,
                 &sum = *matrix_type(type, whose).shape;
    const bool exists =
        std::any_of(kLibraryProducts.begin(), kLibraryProducts.end(), [&](const Product& product) {
          return product.a == a.name && product.b == b.name && product.sum == sum.name && sum.name == c.name;
        });
    // Which components are signed matters for integers only, and has no meaning for bfloat16.
    const bool bfloat = !a.component.is_float && a.component.width == 16;
    if (!exists || (bfloat ? operands != kBfloat16Factors : (operands & ~kSigns) != 0))
      fail(whose + " multiplies " + described(a) + " by " + described(b) + " and adds " + described(c) +
           " for a result of " + described(sum) + ", with cooperative matrix operands " + number(operands) +
           ". " + kAvailableProducts);
    const auto factor = [&](const Matrix& matrix, std::uint32_t sign) {
      return (matrix.component.width == 8 && (operands & sign) == 0 ? "u" : "") + std::string(matrix.name);
    };
    const Id function = import(name_of("multiply_add", {factor(a, kSignedA), factor(b, kSignedB), sum.name}),
                               type, {of_a.type, of_b.type, of_c.type});
    here().add(kFunctionCall, {type, result, function}, instruction.subspan(3, 3));
  }

  static std::string name_of(std::string_view operation, std::initializer_list<std::string_view> parts) {
    std::string name = "clique_spirv_" + std::string(operation);
    for (const std::string_view part : parts) name.append("_").append(part);
    return name;
  }

  static std::string described(const Matrix& matrix) {
    return number(matrix.rows) + " × " + number(matrix.columns) + " " + text_of(matrix.component) + "s (" +
           use_text(matrix.use) + ")";
  }

  const Words& module_;  ///< whose instructions end where it ends
  Id next_id_;
  bool in_types_ = false;
  bool in_functions_ = false;

  // The new module in the order that SPIR-V asks for.
  Section before_types_, decorations_, types_, declarations_, imported_, functions_;

  Id void_ = 0;
  std::unordered_map<Id, Component> scalars_;
  std::unordered_map<Id, std::uint32_t> sizes_;  ///< of types, in bytes
  std::unordered_map<Id, Pointer> pointers_;
  std::unordered_map<Id, MatrixType> matrices_;
  std::map<std::uint32_t, Id> integer_types_;  ///< by width
  std::unordered_map<Id, Id> type_of_;
  std::unordered_map<Id, std::uint32_t> constants_;

  std::map<std::uint32_t, Id> integers_;
  std::map<std::pair<std::uint32_t, Id>, Id> new_pointers_;
  std::map<std::string, Id> imports_;
};

/// The module's words. Empty if it does not declare the capability, or is malformed, which is left to others.
Words words_with_matrices(std::span<const std::uint8_t> module) {
  if (!is_spirv(module)) return {};
  Words words(module.size() / sizeof(std::uint32_t));
  std::memcpy(words.data(), module.data(), module.size());
  for (std::size_t at = kHeaderWords; at < words.size(); at += words[at] >> 16U)
    if (words[at] == (2U << 16U | kCapability) && words[at + 1] == kCapabilityCooperativeMatrix) return words;
  return {};
}

}  // namespace

}  // namespace cooperative_matrices

std::optional<protocol::Bytes> lower_cooperative_matrices(std::span<const std::uint8_t> module,
                                                          bool available) {
  namespace in = cooperative_matrices;
  const in::Words words = in::words_with_matrices(module);
  if (words.empty()) return std::nullopt;
  if (!available)
    in::fail(
        "this device does not have it; it needs an NVIDIA GPU of compute capability 8.0 or later "
        "(cl_clique_cooperative_matrix)");
  const in::Words lowered = in::Lowering(words).run();
  protocol::Bytes bytes(lowered.size() * sizeof(std::uint32_t));
  std::memcpy(bytes.data(), lowered.data(), bytes.size());
  return bytes;
}

}  // namespace clique::daemon::compiler
