#include "protocol/properties.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace clique::protocol {
namespace {

TEST(UuidText, HasTheUsualForm) {
  std::vector<std::byte> uuid;
  for (unsigned i = 0; i < 16; ++i) uuid.push_back(static_cast<std::byte>(i * 17));
  EXPECT_EQ(uuid_text(uuid), "00112233-4455-6677-8899-aabbccddeeff");
  uuid.pop_back();
  EXPECT_EQ(uuid_text(uuid), "");
}

}  // namespace
}  // namespace clique::protocol
