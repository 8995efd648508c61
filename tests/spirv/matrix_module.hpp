// Modules in SPIR-V with cooperative matrices, put together word by word: some assemblers do not know them.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace clique::spirv {

// Operations, as in SPIR-V 1.6, section 3, and SPV_KHR_cooperative_matrix.
enum SpirvOp : std::uint32_t {
  kOpExtension = 10,
  kOpMemoryModel = 14,
  kOpCapability = 17,
  kOpTypeVoid = 19,
  kOpTypeInt = 21,
  kOpTypeFloat = 22,
  kOpTypeVector = 23,
  kOpTypeStruct = 30,
  kOpTypePointer = 32,
  kOpTypeFunction = 33,
  kOpConstant = 43,
  kOpConstantComposite = 44,
  kOpConstantNull = 46,
  kOpSpecConstant = 50,
  kOpSpecConstantOp = 52,
  kOpFunction = 54,
  kOpFunctionParameter = 55,
  kOpFunctionEnd = 56,
  kOpFunctionCall = 57,
  kOpDecorate = 71,
  kOpCompositeConstruct = 80,
  kOpUConvert = 113,
  kOpBitcast = 124,
  kOpFAdd = 129,
  kOpIMul = 132,
  kOpVectorTimesScalar = 142,
  kOpMatrixTimesScalar = 143,
  kOpLabel = 248,
  kOpReturn = 253,
  kOpTypeCooperativeMatrix = 4456,
  kOpCooperativeMatrixLoad = 4457,
  kOpCooperativeMatrixStore = 4458,
  kOpCooperativeMatrixMulAdd = 4459,
  kOpCooperativeMatrixLength = 4460,
};

/// Ids of the types and constants of MatrixModule::preamble().
enum MatrixModuleId : std::uint32_t {
  kVoid = 1,
  kUint,
  kUlong,
  kHalf,
  kFloat,
  kUchar,
  kUshort,
  kZero,  ///< integers of 32 bits
  kOne,
  kTwo,
  kThree,
  kSixteen,
  kThirtyTwo,
  kWideSixteen,  ///< an integer of 64 bits
  kHalfOne,      ///< floats
  kFloatOne,
  kHalfA,  ///< matrices
  kHalfB,
  kUshortA,
  kUshortB,
  kUcharA,
  kUcharB,
  kHalfSum,
  kFloatSum,
  kUintSum,
  kGlobalHalf,  ///< pointers
  kGlobalFloat,
  kGlobalUint,
  kLocalUint4,
  kUint4,
  kKernelType,
  kKernel,
  kHalves,  ///< parameters of the kernel
  kFloats,
  kUints,
  kUints4,
  kStride,
  kEntry,
  kFree = 60  ///< this and larger ones are unused
};

class MatrixModule {
 public:
  static constexpr std::uint32_t kBound = 200;
  static constexpr std::uint32_t kCapabilityMatrix = 6022;
  static constexpr std::uint32_t kCapabilityBfloat16 = 6437;

  MatrixModule() : words_{0x07230203, 0x00010300, 0, kBound, 0} {}

  MatrixModule& add(std::uint32_t op, std::span<const std::uint32_t> operands) {
    words_.push_back(static_cast<std::uint32_t>(operands.size() + 1) << 16U | op);
    words_.insert(words_.end(), operands.begin(), operands.end());
    return *this;
  }
  MatrixModule& add(std::uint32_t op, std::initializer_list<std::uint32_t> operands) {
    return add(op, std::span(operands.begin(), operands.size()));
  }
  MatrixModule& add_text(std::uint32_t op, const std::string& text) {
    std::vector<std::uint32_t> literal(text.size() / 4 + 1);
    std::memcpy(literal.data(), text.data(), text.size());
    return add(op, literal);
  }

  /// What a module begins with, up to and without its types.
  MatrixModule& capabilities() {
    for (const std::uint32_t each : {4U, 6U, 11U, kCapabilityMatrix, kCapabilityBfloat16})
      add(kOpCapability, {each});
    add_text(kOpExtension, "SPV_KHR_cooperative_matrix");
    add_text(kOpExtension, "SPV_INTEL_joint_matrix");
    return add(kOpMemoryModel, {2, 2});
  }
  /// The types but those of matrices, and constants.
  MatrixModule& scalars() {
    add(kOpTypeVoid, {kVoid});
    for (const auto& [id, width] : {std::pair(kUint, 32U), {kUlong, 64U}, {kUchar, 8U}, {kUshort, 16U}})
      add(kOpTypeInt, {id, width, 0});
    add(kOpTypeFloat, {kHalf, 16}).add(kOpTypeFloat, {kFloat, 32});
    for (const auto& [id, value] :
         {std::pair(kZero, 0U), {kOne, 1U}, {kTwo, 2U}, {kThree, 3U}, {kSixteen, 16U}})
      add(kOpConstant, {kUint, id, value});
    add(kOpSpecConstant, {kUint, kThirtyTwo, 32}).add(kOpConstant, {kUlong, kWideSixteen, 16, 0});
    return add(kOpConstant, {kHalf, kHalfOne, 0x3C00}).add(kOpConstant, {kFloat, kFloatOne, 0x3F800000});
  }
  MatrixModule& matrix(std::uint32_t id, std::uint32_t component, std::uint32_t rows, std::uint32_t columns,
                       std::uint32_t use) {
    return add(kOpTypeCooperativeMatrix, {id, component, kThree, rows, columns, use});
  }
  /// All types of matrices, pointers to their components, and the beginning of a kernel.
  MatrixModule& kernel() {
    matrix(kHalfA, kHalf, kSixteen, kSixteen, kZero).matrix(kHalfB, kHalf, kSixteen, kSixteen, kOne);
    matrix(kUshortA, kUshort, kSixteen, kSixteen, kZero).matrix(kUshortB, kUshort, kSixteen, kSixteen, kOne);
    matrix(kUcharA, kUchar, kSixteen, kThirtyTwo, kZero).matrix(kUcharB, kUchar, kThirtyTwo, kSixteen, kOne);
    matrix(kHalfSum, kHalf, kSixteen, kSixteen, kTwo).matrix(kFloatSum, kFloat, kSixteen, kSixteen, kTwo);
    matrix(kUintSum, kUint, kSixteen, kSixteen, kTwo);
    add(kOpTypeVector, {kUint4, kUint, 4});
    add(kOpTypePointer, {kGlobalHalf, 5, kHalf}).add(kOpTypePointer, {kGlobalFloat, 5, kFloat});
    add(kOpTypePointer, {kGlobalUint, 5, kUint}).add(kOpTypePointer, {kLocalUint4, 4, kUint4});
    add(kOpTypeFunction, {kKernelType, kVoid, kGlobalHalf, kGlobalFloat, kGlobalUint, kLocalUint4, kUint});
    add(kOpFunction, {kVoid, kKernel, 0, kKernelType});
    add(kOpFunctionParameter, {kGlobalHalf, kHalves}).add(kOpFunctionParameter, {kGlobalFloat, kFloats});
    add(kOpFunctionParameter, {kGlobalUint, kUints}).add(kOpFunctionParameter, {kLocalUint4, kUints4});
    return add(kOpFunctionParameter, {kUint, kStride}).add(kOpLabel, {kEntry});
  }
  MatrixModule& end() { return add(kOpReturn, {}).add(kOpFunctionEnd, {}); }

  /// All of the above: what a kernel's instructions follow.
  static MatrixModule begun() { return std::move(MatrixModule().capabilities().scalars().kernel()); }

  /// A kernel that uses each of the instructions.
  static MatrixModule complete() {
    MatrixModule module = begun();
    module.add(kOpCooperativeMatrixLoad, {kHalfA, 60, kHalves, kZero, kStride, 2, 16})
        .add(kOpCooperativeMatrixLoad, {kHalfB, 61, kHalves, kOne, kWideSixteen})
        .add(kOpCompositeConstruct, {kFloatSum, 62, kFloatOne})
        .add(kOpCooperativeMatrixMulAdd, {kFloatSum, 63, 60, 61, 62})
        .add(kOpMatrixTimesScalar, {kFloatSum, 64, 63, kFloatOne})
        .add(kOpFAdd, {kFloatSum, 65, 64, 62})
        .add(kOpCooperativeMatrixStore, {kFloats, 65, kZero, kStride})
        .add(kOpCooperativeMatrixLoad, {kUcharA, 66, kUints, kZero, kSixteen})
        .add(kOpCooperativeMatrixLoad, {kUcharB, 67, kUints4, kOne, kTwo})
        .add(kOpCompositeConstruct, {kUintSum, 68, kThree})
        .add(kOpCooperativeMatrixMulAdd, {kUintSum, 69, 66, 67, 68, 1})
        .add(kOpMatrixTimesScalar, {kUintSum, 70, 69, kThree})
        .add(kOpCooperativeMatrixStore, {kUints, 70, kOne, kSixteen})
        .add(kOpCooperativeMatrixLength, {kUint, 71, kFloatSum});
    return std::move(module.end());
  }

  const std::vector<std::uint32_t>& words() const { return words_; }
  std::vector<std::uint8_t> bytes() const {
    std::vector<std::uint8_t> result(words_.size() * sizeof words_[0]);
    std::memcpy(result.data(), words_.data(), result.size());
    return result;
  }

 private:
  std::vector<std::uint32_t> words_;
};

}  // namespace clique::spirv
