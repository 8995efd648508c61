// What backends make of numbers that messages bring.
#include "daemon/backend/common/checks.hpp"

#include <gtest/gtest.h>

namespace clique::daemon {
namespace {

protocol::Push push_of(std::uint64_t offset, std::uint64_t size) {
  protocol::Push push;
  push.offset = offset;
  push.size = size;
  return push;
}

TEST(MeantSize, IsWhatTheContentHasOfTheRange) {
  const std::array<std::uint8_t, 8> thousand{0xE8, 0x03};
  EXPECT_EQ(1000U, meant_size(push_of(0, 4000), thousand));
  EXPECT_EQ(600U, meant_size(push_of(400, 4000), thousand));
  EXPECT_EQ(200U, meant_size(push_of(400, 200), thousand));
}

TEST(MeantSize, IsNeverNothingAndNeverMoreThanThePush) {
  EXPECT_EQ(1U, meant_size(push_of(0, 4000), {}));
  EXPECT_EQ(1U, meant_size(push_of(2000, 4000), {0xE8, 0x03}));
  EXPECT_EQ(4000U, meant_size(push_of(10, 4000), {255, 255, 255, 255, 255, 255, 255, 255}));
}

}  // namespace
}  // namespace clique::daemon
