// protocol::copy_past_caches() for every alignment, and for sizes around a cache line.
#include "protocol/streams/copy_past_caches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace clique::protocol {
namespace {

TEST(CopyPastCaches, CopiesNeitherMoreNorLess) {
  constexpr std::size_t kLine = 64;
  constexpr std::byte kAround{0xee};
  std::vector<std::byte> from(8 * kLine);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 % 251);
  for (std::size_t size = 0; size <= 5 * kLine; ++size) {
    for (std::size_t to_at = 0; to_at < kLine; ++to_at) {
      const auto source = std::span(from).subspan((size * 13 + to_at * 5) % kLine, size);
      std::vector<std::byte> to(to_at + size + kLine, kAround);
      copy_past_caches(to.data() + to_at, source);
      const auto begin = to.begin() + static_cast<std::ptrdiff_t>(to_at);
      const auto end = begin + static_cast<std::ptrdiff_t>(size);
      EXPECT_TRUE(std::equal(begin, end, source.begin())) << size << " bytes to " << to_at;
      EXPECT_EQ(std::count(to.begin(), begin, kAround), begin - to.begin()) << size << " bytes to " << to_at;
      EXPECT_EQ(std::count(end, to.end(), kAround), to.end() - end) << size << " bytes to " << to_at;
    }
  }
}

}  // namespace
}  // namespace clique::protocol
