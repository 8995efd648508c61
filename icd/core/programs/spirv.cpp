#include "icd/core/programs/spirv.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <vector>

#include "icd/common/error.hpp"

namespace clique::icd {

namespace {

// SPIR-V 1.6, sections 2.3 and 3.
constexpr std::uint32_t kMagic = 0x07230203;
constexpr std::size_t kHeaderWords = 5;
constexpr std::uint32_t kOpTypeBool = 20;
constexpr std::uint32_t kOpTypeInt = 21;
constexpr std::uint32_t kOpTypeFloat = 22;
constexpr std::uint32_t kOpSpecConstantTrue = 48;
constexpr std::uint32_t kOpSpecConstantFalse = 49;
constexpr std::uint32_t kOpSpecConstant = 50;
constexpr std::uint32_t kOpDecorate = 71;
constexpr std::uint32_t kDecorationSpecId = 1;

using Words = std::vector<std::uint32_t>;

struct Instruction {
  std::uint32_t op = 0;
  std::span<std::uint32_t> words;  ///< including the first word
};

std::vector<Instruction> instructions(Words& module) {
  require(module.size() >= kHeaderWords && module[0] == kMagic, CL_INVALID_PROGRAM,
          "the intermediate language is not a SPIR-V module of this byte order");
  std::vector<Instruction> list;
  for (std::size_t at = kHeaderWords; at < module.size();) {
    const std::size_t count = module[at] >> 16U;
    require(count != 0 && count <= module.size() - at, CL_INVALID_PROGRAM,
            "an instruction of the SPIR-V module leaves the module: word ", at, " of ", module.size());
    list.push_back({module[at] & 0xFFFFU, std::span(module).subspan(at, count)});
    at += count;
  }
  return list;
}

struct Type {
  std::size_t size = 0;  ///< bytes; 1 for a boolean
  bool is_signed = false;
};

/// Stores a value that is narrower than its words, as SPIR-V requires: extended by its sign, or by zeros.
void store(std::span<std::uint32_t> literal, std::span<const std::byte> value, const Type& type) {
  const bool negative = type.is_signed && (value.back() & std::byte{0x80}) != std::byte{0};
  std::fill(literal.begin(), literal.end(), negative ? ~0U : 0U);
  std::memcpy(literal.data(), value.data(), value.size());
}

}  // namespace

void specialize_spirv(protocol::Bytes& module, cl_uint constant, std::span<const std::byte> value) {
  Words words(module.size() / sizeof(std::uint32_t));
  if (!words.empty()) std::memcpy(words.data(), module.data(), words.size() * sizeof(std::uint32_t));
  std::set<std::uint32_t> targets;
  std::map<std::uint32_t, Type> types;
  bool found = false;
  for (const Instruction& instruction : instructions(words)) {
    const auto& word = instruction.words;
    switch (instruction.op) {
      case kOpDecorate:
        if (word.size() == 4 && word[2] == kDecorationSpecId && word[3] == constant) targets.insert(word[1]);
        break;
      case kOpTypeBool:
        if (word.size() == 2) types[word[1]] = {1, false};
        break;
      case kOpTypeInt:
        if (word.size() == 4) types[word[1]] = {word[2] / 8, word[3] != 0};
        break;
      case kOpTypeFloat:
        if (word.size() >= 3) types[word[1]] = {word[2] / 8, false};
        break;
      case kOpSpecConstantTrue:
      case kOpSpecConstantFalse:
        if (word.size() != 3 || !targets.contains(word[2])) break;
        require(value.size() == 1, CL_INVALID_VALUE, "spec_size is ", value.size(),
                "; a boolean constant has 1 byte");
        word[0] =
            (word[0] & 0xFFFF0000U) | (value[0] != std::byte{0} ? kOpSpecConstantTrue : kOpSpecConstantFalse);
        found = true;
        break;
      case kOpSpecConstant: {
        if (word.size() < 4 || !targets.contains(word[2])) break;
        const Type type = types[word[1]];
        require(
            !value.empty() && value.size() == type.size && value.size() <= (word.size() - 3) * sizeof word[0],
            CL_INVALID_VALUE, "spec_size is ", value.size(), "; constant ", constant, " has ", type.size,
            " bytes");
        store(word.subspan(3), value, type);
        found = true;
        break;
      }
      default:
        break;
    }
  }
  require(found, CL_INVALID_SPEC_ID, "the module has no specialization constant ", constant);
  std::memcpy(module.data(), words.data(), words.size() * sizeof(std::uint32_t));
}

}  // namespace clique::icd
