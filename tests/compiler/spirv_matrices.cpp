// Rewriting modules with cooperative matrices for translators that do not know them.
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <tuple>

#include "daemon/compiler/contract/spirv.hpp"
#include "daemon/compiler/tool/spirv/cooperative_matrices.hpp"
#include "spirv/matrix_module.hpp"

namespace clique::daemon::compiler {
namespace {

using namespace clique::spirv;

using Instructions = std::vector<std::vector<std::uint32_t>>;

/// The instructions of a rewritten module; the first word is the operation alone.
class Rewritten {
 public:
  explicit Rewritten(const MatrixModule& module) {
    const auto bytes = lower_cooperative_matrices(module.bytes(), true);
    if (!bytes || !is_spirv(*bytes)) throw std::logic_error("the result is not a module");
    std::vector<std::uint32_t> words(bytes->size() / sizeof(std::uint32_t));
    std::memcpy(words.data(), bytes->data(), bytes->size());
    bound_ = words.at(3);
    for (std::size_t at = 5; at < words.size(); at += words[at] >> 16U) {
      const auto begin = words.begin() + static_cast<std::ptrdiff_t>(at);
      instructions_.emplace_back(begin, begin + (words[at] >> 16U));
      instructions_.back()[0] &= 0xFFFFU;
    }
  }

  std::uint32_t bound() const { return bound_; }
  const Instructions& all() const { return instructions_; }

  Instructions all_of(std::uint32_t op) const {
    Instructions found;
    for (const auto& instruction : instructions_)
      if (instruction[0] == op) found.push_back(instruction);
    return found;
  }
  /// Where the first of the instructions is that are like this one.
  std::optional<std::size_t> place_of(const std::vector<std::uint32_t>& instruction) const {
    for (std::size_t i = 0; i < instructions_.size(); ++i)
      if (instructions_[i] == instruction) return i;
    return std::nullopt;
  }
  bool has(const std::vector<std::uint32_t>& instruction) const { return place_of(instruction).has_value(); }

  /// The instruction whose second operand is this result.
  const std::vector<std::uint32_t>& value(std::uint32_t id) const {
    for (const auto& instruction : instructions_)
      if (instruction.size() > 2 && instruction[2] == id && instruction[0] >= kOpConstant &&
          instruction[0] != kOpDecorate)
        return instruction;
    throw std::logic_error("no value " + std::to_string(id));
  }
  /// The value of a constant of 32 bits.
  std::uint32_t constant(std::uint32_t id) const {
    const auto& instruction = value(id);
    return instruction[0] == kOpConstant && instruction.size() == 4
               ? instruction[3]
               : throw std::logic_error(std::to_string(id) + " is no constant");
  }
  /// The name under which a function is imported.
  std::string imported(std::uint32_t function) const {
    for (const auto& instruction : all_of(kOpDecorate))
      if (instruction[1] == function && instruction[2] == 41 && instruction.back() == 1)
        return reinterpret_cast<const char*>(&instruction[3]);
    return "";
  }
  /// The names of the functions that the kernel calls, in this order.
  std::vector<std::string> calls() const {
    std::vector<std::string> names;
    for (const auto& call : all_of(kOpFunctionCall)) names.push_back(imported(call[3]));
    return names;
  }

 private:
  std::uint32_t bound_ = 0;
  Instructions instructions_;
};

Rewritten rewritten(MatrixModule module) {
  return Rewritten(module.end());
}

/// Why a module is refused, or nothing.
std::string refusal(const MatrixModule& module) {
  try {
    lower_cooperative_matrices(module.bytes(), true);
    return "";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

testing::AssertionResult mentions(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no '" << part << "' in: " << text;
}

TEST(SpirvMatrices, GivenModuleWithoutTheCapabilityThenItStays) {
  MatrixModule module;
  module.add(kOpCapability, {6}).add(kOpMemoryModel, {2, 2}).scalars();
  EXPECT_FALSE(lower_cooperative_matrices(module.bytes(), true));
  EXPECT_FALSE(lower_cooperative_matrices(module.bytes(), false));
  EXPECT_FALSE(lower_cooperative_matrices({}, true));
}

TEST(SpirvMatrices, GivenDeviceWithoutMatricesThenTheMessageSaysWhatItNeeds) {
  try {
    lower_cooperative_matrices(MatrixModule::complete().bytes(), false);
    FAIL() << "the module is accepted";
  } catch (const std::runtime_error& error) {
    EXPECT_TRUE(mentions(error.what(), "compute capability 8.0"));
    EXPECT_TRUE(mentions(error.what(), "SPV_KHR_cooperative_matrix"));
  }
}

TEST(SpirvMatrices, GivenEachInstructionThenNoneIsLeft) {
  const Rewritten result(MatrixModule::complete());
  for (const auto& instruction : result.all())
    EXPECT_LT(instruction[0], std::uint32_t{kOpTypeCooperativeMatrix});
  EXPECT_TRUE(result.all_of(kOpExtension).empty());
  std::set<std::uint32_t> capabilities;
  for (const auto& instruction : result.all_of(kOpCapability)) capabilities.insert(instruction[1]);
  // Addresses, Linkage, Kernel, Vector16, Int64
  EXPECT_EQ(capabilities, (std::set<std::uint32_t>{4, 5, 6, 7, 11}));
  EXPECT_EQ(result.calls(),
            (std::vector<std::string>{
                "clique_spirv_load_global_half16x16_a", "clique_spirv_load_global_half16x16_b",
                "clique_spirv_multiply_add_half16x16_a_half16x16_b_float16x16",
                "clique_spirv_store_global_float16x16", "clique_spirv_load_global_char16x32_a",
                "clique_spirv_load_local_char32x16_b",
                "clique_spirv_multiply_add_char16x32_a_uchar32x16_b_int16x16",
                "clique_spirv_store_global_int16x16"}));
}

TEST(SpirvMatrices, GivenResultThenNothingIsLeftToRewrite) {
  const auto once = lower_cooperative_matrices(MatrixModule::complete().bytes(), true);
  ASSERT_TRUE(once);
  EXPECT_FALSE(lower_cooperative_matrices(*once, true));
}

TEST(SpirvMatrices, GivenNewIdsThenTheyAreUniqueAndWithinTheBound) {
  const Rewritten result(MatrixModule::complete());
  std::set<std::uint32_t> results;
  for (const auto& instruction : result.all()) {
    const std::uint32_t op = instruction[0];
    std::uint32_t id = 0;
    if ((op >= kOpTypeVoid && op <= kOpTypeFunction) || op == kOpLabel)
      id = instruction[1];
    else if (op >= kOpConstant && op < kOpReturn && op != kOpDecorate && op != kOpFunctionEnd)
      id = instruction.at(2);
    else
      continue;
    EXPECT_TRUE(results.insert(id).second) << id;
    EXPECT_LT(id, result.bound());
  }
  EXPECT_GT(result.bound(), MatrixModule::kBound);
}

TEST(SpirvMatrices, GivenNewDeclarationsThenTheyAreWhereSpirvWantsThem) {
  const Rewritten result(MatrixModule::complete());
  const auto& all = result.all();
  const auto first = [&](std::uint32_t op) {
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i][0] == op) return i;
    throw std::logic_error("no operation " + std::to_string(op));
  };
  const auto last = [&](std::uint32_t op) {
    for (std::size_t i = all.size(); i-- > 0;)
      if (all[i][0] == op) return i;
    throw std::logic_error("no operation " + std::to_string(op));
  };
  EXPECT_EQ(first(kOpCapability), 0U);
  EXPECT_LT(last(kOpCapability), first(kOpMemoryModel));
  EXPECT_GT(first(kOpDecorate), first(kOpMemoryModel));
  EXPECT_LT(last(kOpDecorate), first(kOpTypeVoid));
  EXPECT_LT(last(kOpTypeFunction), first(kOpFunction));
  EXPECT_LT(last(kOpConstant), first(kOpFunction));
  // Functions without a body come first.
  EXPECT_EQ(all[last(kOpFunction)][2], std::uint32_t{kKernel});
}

TEST(SpirvMatrices, GivenTypesThenTheyAreVectorsOfWhatAWorkItemHolds) {
  const Rewritten result(MatrixModule::complete());
  for (const auto& [id, component, count] : {std::tuple(kHalfA, kHalf, 8U),
                                             {kHalfB, kHalf, 8U},
                                             {kUshortA, kUshort, 8U},
                                             {kUshortB, kUshort, 8U},
                                             {kUcharA, kUchar, 16U},
                                             {kUcharB, kUchar, 16U},
                                             {kHalfSum, kHalf, 8U},
                                             {kFloatSum, kFloat, 8U},
                                             {kUintSum, kUint, 8U}})
    EXPECT_TRUE(result.has({kOpTypeVector, id, component, count})) << id;
}

TEST(SpirvMatrices, GivenOneValueThenItIsThatOfAllComponents) {
  MatrixModule module = MatrixModule().capabilities().scalars();
  module.matrix(kHalfA, kHalf, kSixteen, kSixteen, kZero);
  module.add(kOpConstantComposite, {kHalfA, 60, kHalfOne}).add(kOpConstantNull, {kHalfA, 61});
  const Rewritten result(module);
  EXPECT_TRUE(result.has({kOpConstantComposite, kHalfA, 60, kHalfOne, kHalfOne, kHalfOne, kHalfOne, kHalfOne,
                          kHalfOne, kHalfOne, kHalfOne}));
  EXPECT_TRUE(result.has({kOpConstantNull, kHalfA, 61}));
}

TEST(SpirvMatrices, GivenCompositesOfOtherTypesThenTheyStay) {
  MatrixModule module = MatrixModule::begun();
  module.add(kOpCompositeConstruct, {kUint4, 60, kOne, kOne, kTwo, kThree});
  EXPECT_TRUE(rewritten(module).has({kOpCompositeConstruct, kUint4, 60, kOne, kOne, kTwo, kThree}));
}

TEST(SpirvMatrices, GivenALengthThenItIsAConstant) {
  MatrixModule module = MatrixModule::begun();
  module.add(kOpCooperativeMatrixLength, {kUint, 60, kFloatSum})
      .add(kOpCooperativeMatrixLength, {kUint, 61, kUcharB});
  // Some translators name a matrix instead of its type.
  module.add(kOpConstantNull, {kHalfSum, 62}).add(kOpCooperativeMatrixLength, {kUint, 63, 62});
  const Rewritten result = rewritten(module);
  EXPECT_EQ(result.constant(60), 8U);
  EXPECT_EQ(result.constant(61), 16U);
  EXPECT_EQ(result.constant(63), 8U);
}

TEST(SpirvMatrices, GivenALengthAsSpecializationConstantThenItIsAConstant) {
  MatrixModule module = MatrixModule().capabilities().scalars();
  module.matrix(kUcharA, kUchar, kSixteen, kThirtyTwo, kZero);
  module.add(kOpSpecConstantOp, {kUint, 60, kOpCooperativeMatrixLength, kUcharA});
  EXPECT_EQ(Rewritten(module).constant(60), 16U);
}

TEST(SpirvMatrices, GivenALoadThenTheCallHasPlaceStrideUnitAndLayout) {
  MatrixModule module = MatrixModule::begun();
  module.add(kOpCooperativeMatrixLoad, {kHalfB, 60, kHalves, kOne, kStride});
  const Rewritten result = rewritten(module);
  const auto call = result.value(60);
  ASSERT_EQ(call.size(), 8U);
  EXPECT_EQ(call[0], std::uint32_t{kOpFunctionCall});
  EXPECT_EQ(call[1], std::uint32_t{kHalfB});
  EXPECT_EQ(result.imported(call[3]), "clique_spirv_load_global_half16x16_b");
  EXPECT_EQ(call[4], std::uint32_t{kHalves});
  EXPECT_EQ(result.value(call[5]), (std::vector<std::uint32_t>{kOpUConvert, kUlong, call[5], kStride}));
  EXPECT_EQ(result.constant(call[6]), 2U);
  EXPECT_EQ(result.constant(call[7]), 1U);
}

TEST(SpirvMatrices, GivenAWideStrideThenItStays) {
  MatrixModule module = MatrixModule::begun();
  module.add(kOpCooperativeMatrixLoad, {kHalfB, 60, kHalves, kOne, kWideSixteen});
  const Rewritten result = rewritten(module);
  EXPECT_EQ(result.value(60).at(5), std::uint32_t{kWideSixteen});
  EXPECT_TRUE(result.all_of(kOpUConvert).empty());
}

TEST(SpirvMatrices, GivenPointersToOtherTypesThenTheyAreCastAndCounted) {
  MatrixModule module = MatrixModule::begun();
  module.add(kOpCooperativeMatrixLoad, {kHalfA, 60, kUints4, kZero, kStride});
  const Rewritten result = rewritten(module);
  const auto call = result.value(60);
  EXPECT_EQ(result.imported(call[3]), "clique_spirv_load_local_half16x16_a");
  const auto& cast = result.value(call[4]);
  EXPECT_EQ(cast[0], std::uint32_t{kOpBitcast});
  EXPECT_TRUE(result.has({kOpTypePointer, cast[1], 4, kHalf}));
  EXPECT_EQ(cast[3], std::uint32_t{kUints4});
  EXPECT_EQ(result.constant(call[6]), 16U);
}

TEST(SpirvMatrices, GivenPointersToAStructureOfOneNumberThenItIsTheUnit) {
  MatrixModule module = MatrixModule().capabilities().scalars();
  module.add(kOpTypeStruct, {60, kHalf}).add(kOpTypeStruct, {61, kHalf, kHalf});
  module.add(kOpTypePointer, {62, 5, 60}).add(kOpTypePointer, {63, 5, 61});
  module.kernel();
  MatrixModule of_two = module;
  module.add(kOpConstantNull, {62, 70}).add(kOpCooperativeMatrixLoad, {kHalfA, 71, 70, kZero, kStride});
  const Rewritten result = rewritten(module);
  const auto call = result.value(71);
  EXPECT_EQ(result.value(call[4])[0], std::uint32_t{kOpBitcast});
  EXPECT_EQ(result.constant(call[6]), 2U);
  of_two.add(kOpConstantNull, {63, 70}).add(kOpCooperativeMatrixLoad, {kHalfA, 71, 70, kZero, kStride});
  EXPECT_TRUE(mentions(refusal(of_two), "a structure of one of these"));
}

TEST(SpirvMatrices, GivenSeveralCallsThenAFunctionIsImportedOnce) {
  MatrixModule module = MatrixModule::begun();
  for (const std::uint32_t id : {60U, 61U, 62U})
    module.add(kOpCooperativeMatrixLoad, {kHalfA, id, kHalves, kZero, kStride});
  const Rewritten result = rewritten(module);
  EXPECT_EQ(result.calls().size(), 3U);
  EXPECT_EQ(result.all_of(kOpFunction).size(), 2U);
  EXPECT_EQ(result.all_of(kOpDecorate).size(), 1U);
}

TEST(SpirvMatrices, GivenIntegersThenAScalarMultipliesEachComponent) {
  MatrixModule module = MatrixModule::begun();
  module.add(kOpConstantNull, {kUintSum, 60}).add(kOpMatrixTimesScalar, {kUintSum, 61, 60, kThree});
  const Rewritten result = rewritten(module);
  const auto& product = result.value(61);
  ASSERT_EQ(product[0], std::uint32_t{kOpIMul});
  EXPECT_EQ(product[3], 60U);
  EXPECT_EQ(result.value(product[4]),
            (std::vector<std::uint32_t>{kOpCompositeConstruct, kUintSum, product[4], kThree, kThree, kThree,
                                        kThree, kThree, kThree, kThree, kThree}));
}

TEST(SpirvMatrices, GivenFloatsThenAScalarMultipliesTheVector) {
  MatrixModule module = MatrixModule::begun();
  module.add(kOpConstantNull, {kFloatSum, 60}).add(kOpMatrixTimesScalar, {kFloatSum, 61, 60, kFloatOne});
  EXPECT_TRUE(rewritten(module).has({kOpVectorTimesScalar, kFloatSum, 61, 60, kFloatOne}));
}

TEST(SpirvMatrices, GivenSignsThenTheProductsAreThoseOfThem) {
  const auto product_with = [](std::uint32_t operands) {
    MatrixModule module = MatrixModule::begun();
    module.add(kOpConstantNull, {kUcharA, 60}).add(kOpConstantNull, {kUcharB, 61});
    module.add(kOpConstantNull, {kUintSum, 62});
    module.add(kOpCooperativeMatrixMulAdd, {kUintSum, 63, 60, 61, 62, operands});
    return rewritten(module).calls().at(0);
  };
  EXPECT_EQ(product_with(0), "clique_spirv_multiply_add_uchar16x32_a_uchar32x16_b_int16x16");
  EXPECT_EQ(product_with(1), "clique_spirv_multiply_add_char16x32_a_uchar32x16_b_int16x16");
  EXPECT_EQ(product_with(2), "clique_spirv_multiply_add_uchar16x32_a_char32x16_b_int16x16");
  EXPECT_EQ(product_with(15), "clique_spirv_multiply_add_char16x32_a_char32x16_b_int16x16");
}

TEST(SpirvMatrices, GivenBfloat16ThenTheOperandSaysSo) {
  const auto with = [](std::initializer_list<std::uint32_t> product) {
    MatrixModule module = MatrixModule::begun();
    module.add(kOpConstantNull, {kUshortA, 60}).add(kOpConstantNull, {kUshortB, 61});
    module.add(kOpConstantNull, {kFloatSum, 62});
    return std::move(module.add(kOpCooperativeMatrixMulAdd, product).end());
  };
  EXPECT_EQ(Rewritten(with({kFloatSum, 63, 60, 61, 62, 0x40})).calls().at(0),
            "clique_spirv_multiply_add_bfloat16x16_a_bfloat16x16_b_float16x16");
  EXPECT_TRUE(mentions(refusal(with({kFloatSum, 63, 60, 61, 62})), "MatrixAAndBBFloat16ComponentsINTEL"));
}

TEST(SpirvMatrices, GivenSpecializationConstantsThenTheirValuesCount) {
  const auto with_rows = [](std::uint32_t half_of_rows) {
    MatrixModule module = MatrixModule().capabilities().scalars();
    module.add(kOpSpecConstant, {kUint, 60, half_of_rows});
    module.add(kOpSpecConstantOp, {kUint, 61, kOpIMul, 60, kTwo});
    return std::move(module.matrix(kHalfA, kHalf, 61, kSixteen, kZero));
  };
  EXPECT_TRUE(Rewritten(with_rows(8)).has({kOpTypeVector, kHalfA, kHalf, 8}));
  EXPECT_TRUE(mentions(refusal(with_rows(4)), "8 × 16"));
}

TEST(SpirvMatrices, GivenAModuleCutAnywhereThenNothingIsReadBeyondIt) {
  const auto whole = MatrixModule::complete().bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    // A block of its own, so that sanitizers notice.
    const std::vector<std::uint8_t> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const auto result = lower_cooperative_matrices(cut, true);
    EXPECT_TRUE(!result || is_spirv(*result)) << size;
  }
}

TEST(SpirvMatrices, GivenInstructionsOfAnyLengthThenTheyAreRefusedOrRewritten) {
  const auto whole = MatrixModule::complete().words();
  for (std::size_t at = 5; at < whole.size(); at += whole[at] >> 16U) {
    const std::size_t length = whole[at] >> 16U;
    for (std::size_t shorter = 1; shorter < length; ++shorter) {
      auto words = whole;
      words[at] = static_cast<std::uint32_t>(shorter) << 16U | (words[at] & 0xFFFFU);
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(at + shorter),
                  words.begin() + static_cast<std::ptrdiff_t>(at + length));
      std::vector<std::uint8_t> bytes(words.size() * sizeof words[0]);
      std::memcpy(bytes.data(), words.data(), bytes.size());
      try {
        const auto result = lower_cooperative_matrices(bytes, true);
        EXPECT_TRUE(!result || is_spirv(*result));
      } catch (const std::runtime_error& error) {
        EXPECT_TRUE(mentions(error.what(), "SPV_KHR_cooperative_matrix: "));
      }
    }
  }
}

TEST(SpirvMatrices, GivenABoundThatLeavesNoRoomThenItIsRefused) {
  auto bytes = MatrixModule::complete().bytes();
  const std::uint32_t bound = 0xFFFFFFFF;
  std::memcpy(bytes.data() + 12, &bound, sizeof bound);
  EXPECT_THROW(lower_cooperative_matrices(bytes, true), std::runtime_error);
}

TEST(SpirvMatrices, GivenMatricesThatTheDeviceLacksThenTheMessageNamesThem) {
  const auto refused = [](std::uint32_t component, std::uint32_t scope, std::uint32_t rows,
                          std::uint32_t columns, std::uint32_t use) {
    MatrixModule module = MatrixModule().capabilities().scalars();
    module.add(kOpTypeFloat, {50, 16, 0}).add(kOpTypeFloat, {51, 64});
    module.add(kOpTypeCooperativeMatrix, {60, component, scope, rows, columns, use});
    const std::string message = refusal(module);
    EXPECT_TRUE(mentions(message, "%60"));
    return message;
  };
  const std::string small = refused(kHalf, kThree, kOne, kSixteen, kZero);
  EXPECT_TRUE(mentions(small, "1 × 16 components (16-bit floats), use MatrixAKHR, scope 3"));
  EXPECT_TRUE(mentions(small, "accumulators of 16 × 16"));
  EXPECT_TRUE(
      mentions(refused(kUchar, kThree, kSixteen, kSixteen, kOne), "16 × 16 components (8-bit integers)"));
  EXPECT_TRUE(mentions(refused(kHalf, kTwo, kSixteen, kSixteen, kZero), "scope 2"));
  EXPECT_TRUE(mentions(refused(kHalf, kThree, kSixteen, kSixteen, kThree), "use 3"));
  EXPECT_TRUE(mentions(refused(51, kThree, kSixteen, kSixteen, kTwo), "64-bit floats"));
  // In the encoding of bfloat16.
  EXPECT_TRUE(mentions(refused(50, kThree, kSixteen, kSixteen, kZero), "component type %50"));
  EXPECT_TRUE(mentions(refused(kHalf, kThree, kFloatOne, kSixteen, kZero), "number of rows %16"));
  EXPECT_TRUE(mentions(refused(kHalf, 99, kSixteen, kSixteen, kZero), "scope %99"));
}

TEST(SpirvMatrices, GivenInstructionsThatTheDeviceLacksThenTheMessageNamesThem) {
  struct Case {
    std::vector<std::uint32_t> instruction;
    const char* message;
  };
  const Case cases[] = {
      {{kOpCooperativeMatrixLoad, kHalfA, 70, kHalves, kTwo, kStride},
       "memory layout of OpCooperativeMatrixLoadKHR"},
      {{kOpCooperativeMatrixLoad, kHalfA, 70, kHalves, kStride, kStride}, "memory layout %37"},
      {{kOpCooperativeMatrixLoad, kHalfA, 70, kHalves, kZero}, "no stride"},
      {{kOpCooperativeMatrixLoad, kHalfA, 70, kHalves, kZero, kFloatOne}, "the stride %16"},
      {{kOpCooperativeMatrixLoad, kHalfA, 70, kHalves, kZero, kStride, 1}, "memory operands 1"},
      {{kOpCooperativeMatrixLoad, kUint4, 70, kHalves, kZero, kStride}, "is not a cooperative matrix"},
      {{kOpCooperativeMatrixLoad, kHalfA, 70, kStride, kZero, kStride},
       "%37 of OpCooperativeMatrixLoadKHR %70 is not a pointer"},
      {{kOpCooperativeMatrixLoad, kHalfA, 70, 99, kZero, kStride}, "%99"},
      {{kOpCooperativeMatrixLoad, kHalfA, 70, 63, kZero, kStride}, "storage class 7"},
      {{kOpCooperativeMatrixLoad, kHalfA, 70, 65, kZero, kStride}, "neither a scalar"},
      {{kOpCooperativeMatrixStore, kHalves, kStride, kZero, kStride}, "is not a cooperative matrix"},
      {{kOpCooperativeMatrixStore, kHalves, 60, kThree, kStride},
       "memory layout of OpCooperativeMatrixStoreKHR of %60 is 3"},
      {{kOpCooperativeMatrixMulAdd, kFloatSum, 70, 61, 60, 66}, "B"},
      {{kOpCooperativeMatrixMulAdd, kFloatSum, 70, 60, 61, 67}, "adds 16 × 16 16-bit floats"},
      {{kOpCooperativeMatrixMulAdd, kUintSum, 70, 60, 61, 68}, "result of 16 × 16 32-bit integers"},
      {{kOpCooperativeMatrixMulAdd, kFloatSum, 70, 60, 61, 66, 0x40}, "operands 64"},
      {{kOpCooperativeMatrixMulAdd, kFloatSum, 70, 60, 61, 66, 0x10}, "operands 16"},
      {{kOpCooperativeMatrixMulAdd, kFloatSum, 70, 60, 61}, "5 words"},
      {{kOpCompositeConstruct, kHalfA, 70, kHalfOne, kHalfOne}, "2 constituents"},
      {{kOpCooperativeMatrixLength, kFloat, 70, kHalfA}, "not a 32-bit integer"},
      {{kOpCooperativeMatrixLength, kUint, 70, kUint4}, "is not a cooperative matrix"},
      {{kOpCapability, 6435}, "CooperativeMatrixInvocationInstructionsINTEL"},
  };
  for (const Case& each : cases) {
    MatrixModule module = MatrixModule::begun();
    module.add(kOpConstantNull, {kHalfA, 60}).add(kOpConstantNull, {kHalfB, 61});
    // Pointers to the stack, and to pointers.
    module.add(kOpTypePointer, {62, 7, kHalf}).add(kOpConstantNull, {62, 63});
    module.add(kOpTypePointer, {64, 5, kGlobalHalf}).add(kOpConstantNull, {64, 65});
    module.add(kOpConstantNull, {kFloatSum, 66}).add(kOpConstantNull, {kHalfSum, 67});
    module.add(kOpConstantNull, {kUintSum, 68});
    EXPECT_EQ(refusal(module), "");
    module.add(each.instruction[0], std::span(each.instruction).subspan(1));
    EXPECT_TRUE(mentions(refusal(module), each.message));
  }
}

}  // namespace
}  // namespace clique::daemon::compiler
