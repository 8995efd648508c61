// Parts of transfers and boxes between layouts.
#include "icd/core/transfers/host_content.hpp"
#include "protocol/limits.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

namespace clique::icd {
namespace {

std::uint64_t volume(const protocol::Triple& region) {
  return region[0] * region[1] * region[2];
}

TEST(Split, GivenAnyBoxThenPartsCoverItOnceAndAreSmallEnough) {
  const std::vector<std::pair<protocol::Triple, std::size_t>> boxes = {{{1, 1, 1}, 1},
                                                                       {{protocol::kPartSize, 1, 1}, 1},
                                                                       {{protocol::kPartSize + 1, 1, 1}, 1},
                                                                       {{1000, 1000, 7}, 4},
                                                                       {{3 * protocol::kPartSize, 2, 2}, 1},
                                                                       {{5, 100000, 3}, 16},
                                                                       {{640, 480, 1}, 16},
                                                                       {{7, 5, 100000}, 8}};
  for (const auto& [region, unit] : boxes) {
    std::uint64_t covered = 0;
    for (const BoxPart& part : split(region, unit)) {
      EXPECT_LE(volume(part.region) * unit, protocol::kPartSize);
      for (int i = 0; i < 3; ++i) EXPECT_LE(part.origin[i] + part.region[i], region[i]);
      covered += volume(part.region);
    }
    EXPECT_EQ(volume(region), covered);
  }
}

TEST(CopyBox, GivenTwoLayoutsThenOnlyTheBoxIsCopied) {
  std::vector<std::byte> from(6 * 5 * 4);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i);
  std::vector<std::byte> to(10 * 7 * 4, std::byte{0xEE});
  const protocol::Triple region{3, 2, 2};
  copy_box(to.data() + 10, {10, 70}, from.data() + 7, {6, 30}, region);
  for (std::size_t z = 0; z < 4; ++z)
    for (std::size_t y = 0; y < 7; ++y)
      for (std::size_t x = 0; x < 10; ++x) {
        const bool inside = z < 2 && y >= 1 && y < 3 && x < 3;
        const auto expected = inside ? from[7 + z * 30 + (y - 1) * 6 + x] : std::byte{0xEE};
        EXPECT_EQ(expected, to[z * 70 + y * 10 + x]) << x << ',' << y << ',' << z;
      }
}

TEST(Payload, GivenRowsWithGapsThenTheyArePackedAndElseReferredTo) {
  std::vector<std::byte> data(8192);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 7);
  const HostContent dense_rows{data.data(), {64, 4096}, {}};
  EXPECT_EQ(data.data(), payload(dense_rows, data.data(), {64, 64, 1}).bytes.data());
  const HostContent gaps{data.data(), {128, 8192}, {}};
  const protocol::Payload packed = payload(gaps, data.data(), {64, 64, 1});
  ASSERT_EQ(4096U, packed.bytes.size());
  EXPECT_NE(data.data(), packed.bytes.data());
  for (std::size_t y = 0; y < 64; ++y) EXPECT_EQ(0, std::memcmp(&packed.bytes[y * 64], &data[y * 128], 64));
}

TEST(Payload, GivenContentToBeCopiedThenLaterChangesDoNotShow) {
  std::vector<std::byte> data(4096, std::byte{1});
  const HostContent content{data.data(), {}, {}, true};
  const protocol::Payload copied = payload(content, data.data(), {4096, 1, 1});
  data[100] = std::byte{2};
  EXPECT_EQ(std::byte{1}, copied.bytes[100]);
}

}  // namespace
}  // namespace clique::icd
