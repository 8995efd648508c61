#include <gtest/gtest.h>

#include <cstring>

#include "icd/common/error.hpp"
#include "icd/core/programs/spirv.hpp"

namespace clique::icd {
namespace {

using Words = std::vector<std::uint32_t>;

protocol::Bytes bytes_of(const Words& words) {
  protocol::Bytes bytes(words.size() * sizeof words[0]);
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

Words words_of(const protocol::Bytes& bytes) {
  Words words(bytes.size() / sizeof(std::uint32_t));
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

std::uint32_t op(std::uint32_t code, std::uint32_t words) {
  return words << 16U | code;
}

/// Constants 7 (int), 8 (bool), 9 (signed 8 bits), 10 (64 bits).
protocol::Bytes module() {
  return bytes_of({0x07230203, 0x00010000, 0,  100, 0,  //
                   op(71, 4),  1,          1,  7,       // OpDecorate %1 SpecId 7
                   op(71, 4),  2,          1,  8,       //
                   op(71, 4),  3,          1,  9,       //
                   op(71, 4),  4,          1,  10,      //
                   op(71, 4),  5,          44, 7,       // Alignment 7, another decoration
                   op(21, 4),  20,         32, 0,       // OpTypeInt
                   op(20, 2),  21,                      // OpTypeBool
                   op(21, 4),  22,         8,  1,       //
                   op(21, 4),  23,         64, 0,       //
                   op(50, 4),  20,         1,  111,     // OpSpecConstant
                   op(49, 3),  21,         2,           // OpSpecConstantFalse
                   op(50, 4),  22,         3,  1,       //
                   op(50, 5),  23,         4,  1,   2,  //
                   op(43, 4),  20,         5,  222});   // OpConstant
}

/// The positions of the words that specializing changed, with their values.
template <typename T>
std::vector<std::pair<std::size_t, std::uint32_t>> changes(cl_uint constant, T value) {
  protocol::Bytes changed = module();
  specialize_spirv(changed, constant, std::as_bytes(std::span(&value, 1)));
  const Words before = words_of(module());
  const Words after = words_of(changed);
  std::vector<std::pair<std::size_t, std::uint32_t>> result;
  for (std::size_t i = 0; i < before.size(); ++i)
    if (before[i] != after[i]) result.emplace_back(i, after[i]);
  return result;
}

template <typename T>
cl_int status_of(protocol::Bytes module, cl_uint constant, T value) {
  try {
    specialize_spirv(module, constant, std::as_bytes(std::span(&value, 1)));
    return CL_SUCCESS;
  } catch (const Error& error) {
    return error.status();
  }
}

using Changes = std::vector<std::pair<std::size_t, std::uint32_t>>;

TEST(Spirv, AnIntegerGetsItsNewDefault) {
  EXPECT_EQ((Changes{{42, 99}}), changes(7, std::uint32_t{99}));
}

TEST(Spirv, ABooleanBecomesTrue) {
  EXPECT_EQ((Changes{{43, op(48, 3)}}), changes(8, std::uint8_t{1}));
  EXPECT_TRUE(changes(8, std::uint8_t{0}).empty());
}

TEST(Spirv, ANarrowSignedNumberIsExtendedByItsSign) {
  EXPECT_EQ((Changes{{49, 0xFFFFFFFE}}), changes(9, std::int8_t{-2}));
  EXPECT_EQ((Changes{{49, 2}}), changes(9, std::int8_t{2}));
}

TEST(Spirv, AWideNumberHasItsLowWordFirst) {
  EXPECT_EQ((Changes{{53, 0x9ABCDEF0}, {54, 0x12345678}}), changes(10, std::uint64_t{0x123456789ABCDEF0}));
}

TEST(Spirv, AnUnknownConstantIsInvalidSpecId) {
  EXPECT_EQ(CL_INVALID_SPEC_ID, status_of(module(), 11, std::uint32_t{1}));
}

TEST(Spirv, AWrongSizeIsInvalidValue) {
  EXPECT_EQ(CL_INVALID_VALUE, status_of(module(), 7, std::uint64_t{1}));
  EXPECT_EQ(CL_INVALID_VALUE, status_of(module(), 8, std::uint32_t{1}));
  EXPECT_EQ(CL_INVALID_VALUE, status_of(module(), 10, std::uint32_t{1}));
}

TEST(Spirv, WhatIsNoModuleIsInvalidProgram) {
  EXPECT_EQ(CL_INVALID_PROGRAM, status_of({}, 7, std::uint32_t{1}));
  EXPECT_EQ(CL_INVALID_PROGRAM, status_of({1, 2, 3}, 7, std::uint32_t{1}));
  EXPECT_EQ(CL_INVALID_PROGRAM, status_of(protocol::Bytes(64, 0xA5), 7, std::uint32_t{1}));
  protocol::Bytes cut = module();
  cut.resize(cut.size() - sizeof(std::uint32_t));
  EXPECT_EQ(CL_INVALID_PROGRAM, status_of(cut, 7, std::uint32_t{1}));
  EXPECT_EQ(CL_INVALID_PROGRAM, status_of(bytes_of({0x07230203, 0, 0, 0, 0, 0}), 7, std::uint32_t{1}))
      << "an instruction of no words";
}

}  // namespace
}  // namespace clique::icd
