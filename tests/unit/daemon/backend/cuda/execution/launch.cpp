// The parameter block and the local memory of a launch.
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>

#include "daemon/backend/cuda/execution/module.hpp"

namespace clique::daemon::cuda {
namespace {

using compiler::ArgKind;
using compiler::Hidden;

compiler::Kernel kernel_with_locals() {
  compiler::Kernel kernel;
  kernel.local_size = 20;
  kernel.args.resize(4);
  kernel.args[0].kind = ArgKind::Local;
  kernel.args[0].alignment = 16;
  kernel.args[1].kind = ArgKind::Global;
  kernel.args[2].kind = ArgKind::Local;
  kernel.args[2].alignment = 4;
  kernel.args[3].kind = ArgKind::Local;
  kernel.args[3].alignment = 128;
  return kernel;
}

TEST(LocalLayout, GivenLocalArgumentsThenEachLiesAligned) {
  const LocalLayout layout = lay_out_local(kernel_with_locals(), 0, {3, 8, 1});
  EXPECT_EQ(layout.offsets, (std::vector<std::uint32_t>{32, 36, 128}));
  EXPECT_EQ(layout.size, 129U);
}

TEST(LocalLayout, GivenLocalMemoryOfTheCodeThenAddressesAreAligned) {
  constexpr std::uint32_t kBegin = 1024 + 272;
  const LocalLayout layout = lay_out_local(kernel_with_locals(), kBegin, {3, 8, 1});
  EXPECT_EQ((kBegin + layout.offsets[0]) % 16, 0U);
  EXPECT_GE(layout.offsets[0], 20U);
  EXPECT_EQ((kBegin + layout.offsets[2]) % 128, 0U);
  EXPECT_EQ(layout.size, layout.offsets[2] + 1);
}

TEST(OwnLocalSize, GivenWhatIsNoCodeThenNone) {
  EXPECT_EQ(own_local_size({}, "k"), 0U);
  EXPECT_EQ(own_local_size(protocol::Bytes(200, 0x7F), "k"), 0U);
}

TEST(OwnLocalSize, GivenCodeThenTheSectionOfTheKernel) {
  // Two sections: one with the sections' names, and the kernel's.
  using namespace std::string_literals;
  const std::string names = "\0.nv.shared.k\0\0"s;
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_shoff = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 2;
  header.e_shstrndx = 0;
  std::array<Elf64_Shdr, 2> sections{};
  sections[0].sh_offset = sizeof header + sizeof sections;
  sections[1].sh_name = 1;
  sections[1].sh_size = 1296;
  protocol::Bytes code(sizeof header + sizeof sections);
  std::memcpy(code.data(), &header, sizeof header);
  std::memcpy(code.data() + sizeof header, sections.data(), sizeof sections);
  code.insert(code.end(), names.begin(), names.end());
  EXPECT_EQ(own_local_size(code, "k"), 1296U);
  EXPECT_EQ(own_local_size(code, "other"), 0U);
  EXPECT_EQ(own_local_size(code, ""), 0U);
}

TEST(LocalLayout, GivenMoreThanCanBeCountedThenRefused) {
  EXPECT_THROW(lay_out_local(kernel_with_locals(), 0, {1ULL << 40U, 1, 1}), ClError);
  EXPECT_THROW(lay_out_local(kernel_with_locals(), 0, {~0ULL, ~0ULL, ~0ULL}), ClError);
}

TEST(HiddenArguments, GivenAllThenEachIsInItsPlace) {
  compiler::Kernel kernel;
  std::uint32_t end = 0;
  const auto add = [&](Hidden what, std::uint8_t count, std::uint32_t size) {
    for (std::uint8_t i = 0; i < count; ++i) {
      kernel.hidden.push_back({static_cast<std::uint8_t>(static_cast<std::uint8_t>(what) + i), end});
      end += size;
    }
  };
  add(Hidden::IdOffset, 3, 8);
  add(Hidden::GlobalOffset, 3, 8);
  add(Hidden::GlobalSize, 3, 8);
  add(Hidden::PrintfBuffer, 1, 8);
  add(Hidden::AccessChecks, 1, 8);
  add(Hidden::GroupOffset, 3, 4);
  add(Hidden::NumGroups, 3, 4);
  add(Hidden::EnqueuedSize, 3, 4);
  add(Hidden::WorkDim, 1, 4);
  std::vector<std::uint8_t> block(end);

  NdRange range;
  range.dimensions = 3;
  range.offset = {11, 12, 13};
  range.global = {100, 7, 64};
  range.local = {32, 4, 64};
  Grid grid;
  grid.first_item = {1ULL << 33U, 22, 23};
  grid.first_group = {31, 32, 33};
  put_hidden(block, kernel, range, grid, 0x7F0012345678, 0x7F00ABCDEF00);

  const auto wide = [&](std::size_t at) {
    std::uint64_t value = 0;
    std::memcpy(&value, block.data() + at, sizeof value);
    return value;
  };
  const auto narrow = [&](std::size_t at) {
    std::uint32_t value = 0;
    std::memcpy(&value, block.data() + at, sizeof value);
    return value;
  };
  const std::array<std::uint64_t, 11> expected_wide{
      1ULL << 33U, 22, 23, 11, 12, 13, 100, 7, 64, 0x7F0012345678, 0x7F00ABCDEF00};
  for (std::size_t i = 0; i < expected_wide.size(); ++i) EXPECT_EQ(wide(i * 8), expected_wide[i]) << i;
  const std::array<std::uint32_t, 10> expected_narrow{31, 32, 33, 4, 2, 1, 32, 4, 64, 3};
  for (std::size_t i = 0; i < expected_narrow.size(); ++i)
    EXPECT_EQ(narrow(88 + i * 4), expected_narrow[i]) << i;
}

TEST(HiddenArguments, GivenAPlaceBeyondTheBlockThenNothingIsWritten) {
  compiler::Kernel kernel;
  kernel.hidden.push_back({static_cast<std::uint8_t>(Hidden::IdOffset), 4});
  std::vector<std::uint8_t> block(8, 0xAB);
  put_hidden(block, kernel, {}, {}, 0);
  EXPECT_EQ(block, std::vector<std::uint8_t>(8, 0xAB));
}

}  // namespace
}  // namespace clique::daemon::cuda
