#include "daemon/compiler/contract/program_binary.hpp"

#include <CL/cl.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include <array>
#include <cstring>

namespace clique::daemon::compiler {
namespace {

ProgramBinary example() {
  ProgramBinary binary;
  binary.type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
  binary.architecture = "sm_90";
  binary.options = "-DA";
  Kernel kernel;
  kernel.name = "k";
  kernel.attributes = "reqd_work_group_size(8,1,1)";
  kernel.args.push_back({ArgKind::Global, 0, 8, 1, {1, 2, "int*", 3, "a", 0}});
  kernel.args.push_back({ArgKind::Local, 8, 4, 16, {}});
  kernel.hidden.push_back({static_cast<std::uint8_t>(Hidden::WorkDim), 12});
  kernel.params_size = 16;
  kernel.required_group = {8, 1, 1};
  binary.kernels.push_back(kernel);
  binary.formats = {"%d\n"};
  binary.code = {1, 2, 3};
  return binary;
}

bool is_valid(const protocol::Bytes& bytes) {
  try {
    parse_program_binary(bytes);
  } catch (const InvalidBinary&) {
    return false;
  }
  return true;
}

/// Whether the binary is still valid after `change`. Its bytes are intact, so that only the rules for its
/// content decide.
template <typename Change>
bool is_valid_with(Change change) {
  ProgramBinary binary = example();
  change(binary);
  return is_valid(serialize(binary));
}

TEST(ProgramBinaryTest, GivenBinaryWhenSerializedAndParsedThenItIsTheSame) {
  const protocol::Bytes bytes = serialize(example());
  const ProgramBinary parsed = parse_program_binary(bytes);
  EXPECT_EQ(serialize(parsed), bytes);
  EXPECT_EQ(parsed.kernels.at(0).args.at(0).description.type, "int*");
  EXPECT_EQ(parsed.kernels.at(0).required_group[0], 8U);
  EXPECT_EQ(parsed.code, (protocol::Bytes{1, 2, 3}));
}

TEST(ProgramBinaryTest, GivenAnyByteChangedWhenParsedThenItIsInvalid) {
  const protocol::Bytes bytes = serialize(example());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    protocol::Bytes changed = bytes;
    changed[i] ^= 0x40;
    EXPECT_FALSE(is_valid(changed)) << i;
  }
}

TEST(ProgramBinaryTest, GivenCutOrLongerBytesWhenParsedThenTheyAreInvalid) {
  protocol::Bytes bytes = serialize(example());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(is_valid({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)})) << size;
  bytes.push_back(0);
  EXPECT_FALSE(is_valid(bytes));
}

TEST(ProgramBinaryTest, GivenContentThatIsNoRecordWhenParsedThenItIsInvalid) {
  protocol::Bytes bytes = serialize(example());
  bytes.resize(32 + 5);
  const std::array<std::uint8_t, 5> content{0xdd, 0xff, 0xff, 0xff, 0xff};  // an array of 4 Gi elements
  std::memcpy(bytes.data() + 32, content.data(), content.size());
  const std::uint64_t size = content.size();
  const std::uint64_t checksum = XXH3_64bits(content.data(), content.size());
  std::memcpy(bytes.data() + 16, &size, sizeof size);
  std::memcpy(bytes.data() + 24, &checksum, sizeof checksum);
  EXPECT_FALSE(is_valid(bytes));
}

TEST(ProgramBinaryTest, GivenValuesThatBreakRulesWhenParsedThenTheyAreInvalid) {
  EXPECT_TRUE(is_valid_with([](ProgramBinary& binary) { binary.code.clear(); }));
  EXPECT_FALSE(is_valid_with([](ProgramBinary& binary) { binary.type = 3; }));
  EXPECT_FALSE(is_valid_with([](ProgramBinary& binary) { binary.kernels[0].args[0].offset = 9; }));
  EXPECT_FALSE(is_valid_with([](ProgramBinary& binary) { binary.kernels[0].args[0].offset = ~0U; }));
  EXPECT_FALSE(is_valid_with([](ProgramBinary& binary) { binary.kernels[0].args[0].size = 4; }));
  EXPECT_FALSE(is_valid_with([](ProgramBinary& binary) { binary.kernels[0].args[1].alignment = 3; }));
  EXPECT_FALSE(is_valid_with([](ProgramBinary& binary) { binary.kernels[0].args[0].kind = ArgKind{9}; }));
  EXPECT_FALSE(is_valid_with([](ProgramBinary& binary) { binary.kernels[0].args[1].kind = ArgKind::Any; }));
  EXPECT_FALSE(
      is_valid_with([](ProgramBinary& binary) { binary.kernels[0].args[1].kind = ArgKind::Dynamic; }));
  EXPECT_FALSE(is_valid_with([](ProgramBinary& binary) { binary.kernels[0].hidden[0].what = 20; }));
  EXPECT_FALSE(is_valid_with([](ProgramBinary& binary) { binary.kernels[0].hidden[0].offset = 13; }));
  EXPECT_FALSE(is_valid_with([](ProgramBinary& binary) { binary.kernels[0].params_size = 1U << 20U; }));
  EXPECT_FALSE(is_valid_with([](ProgramBinary& binary) { binary.kernels[0].required_group = {8, 0, 1}; }));
  EXPECT_FALSE(is_valid_with([](ProgramBinary& binary) { binary.kernels.push_back(binary.kernels[0]); }));
}

}  // namespace
}  // namespace clique::daemon::compiler
