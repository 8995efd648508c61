#include "protocol/properties.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
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

TEST(PciText, HasTheUsualForm) {
  const std::array<std::uint32_t, 4> info{0, 0x3b, 0x1f, 2};
  const auto bytes = std::as_bytes(std::span(info));
  EXPECT_EQ(pci_text(bytes), "0000:3b:1f.2");
  EXPECT_EQ(pci_text(bytes.first(12)), "");
  EXPECT_EQ(pci_text({}), "");
}

}  // namespace
}  // namespace clique::protocol
