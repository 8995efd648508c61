// Messages through UCX: their headers, and their order.
#include "protocol/streams/ucx_message.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace clique::protocol {
namespace {

UcxRecord record(std::size_t size) {
  UcxRecord result;
  result.size = size;
  return result;
}

TEST(UcxHeader, IsTheSameAgain) {
  UcxHeader header;
  header.channel = 0x0102030405060708;
  header.number = 0x1112131415161718;
  std::ranges::fill(header.record, std::byte{0x55});
  std::ranges::fill(header.tag, std::uint8_t{0xaa});
  const UcxHeader::Message message = header.encode();
  EXPECT_EQ(message[0], std::byte{0x01});
  EXPECT_EQ(message[15], std::byte{0x18});
  EXPECT_EQ(message[16], std::byte{0x55});
  EXPECT_EQ(message[63], std::byte{0xaa});
  const UcxHeader again = UcxHeader::decode(message);
  EXPECT_EQ(again.channel, header.channel);
  EXPECT_EQ(again.number, header.number);
  EXPECT_EQ(again.record, header.record);
  EXPECT_EQ(again.tag, header.tag);
}

TEST(UcxArrivals, LeaveInTheOrderOfTheirNumbers) {
  UcxArrivals arrivals;
  EXPECT_FALSE(arrivals.ready());
  for (const std::uint64_t number : {2, 0, 3, 1}) EXPECT_TRUE(arrivals.add(number, record(number)));
  for (std::size_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(arrivals.ready());
    EXPECT_EQ(arrivals.take().size, i);
  }
  EXPECT_FALSE(arrivals.ready());
  EXPECT_TRUE(arrivals.add(5, record(5)));
  EXPECT_FALSE(arrivals.ready());
}

TEST(UcxArrivals, RefuseWhatBreaksTheRules) {
  UcxArrivals arrivals;
  EXPECT_TRUE(arrivals.add(0, record(0)));
  EXPECT_FALSE(arrivals.add(0, record(0)));
  arrivals.take();
  EXPECT_FALSE(arrivals.add(0, record(0)));
  EXPECT_TRUE(arrivals.add(UcxArrivals::kMost, record(0)));
  EXPECT_FALSE(arrivals.add(UcxArrivals::kMost + 1, record(0)));
  EXPECT_FALSE(arrivals.add(~std::uint64_t{0}, record(0)));
}

TEST(UcxArrivals, GiveBackTheDataThatNobodyTakes) {
  UcxArrivals arrivals;
  int data = 0;
  UcxRecord with_data = record(sizeof data);
  with_data.data = &data;
  EXPECT_TRUE(arrivals.add(0, with_data));
  EXPECT_TRUE(arrivals.add(1, record(0)));
  EXPECT_EQ(arrivals.clear(), std::vector<void*>{&data});
  EXPECT_FALSE(arrivals.ready());
}

}  // namespace
}  // namespace clique::protocol
