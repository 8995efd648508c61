#include "icd/remote/transfers/uploads.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "protocol/decode_error.hpp"

namespace clique::icd::test {
namespace {

constexpr std::size_t kPart = protocol::kPartSize;

/// Records the parts that are sent.
class Sent : public Uploads::Way {
 public:
  void send(protocol::PeerData&& part) override { parts.push_back(std::move(part)); }
  std::size_t of(protocol::CommandId transfer) const {
    return static_cast<std::size_t>(std::count_if(
        parts.begin(), parts.end(), [&](const auto& part) { return part.transfer == transfer; }));
  }
  std::vector<protocol::PeerData> parts;
};

class UploadsTest : public testing::Test {
 protected:
  UploadsTest() { uploads.set_window(4 * kPart, 1); }
  protocol::Payload content(std::size_t size) { return {{memory_.data(), size}, nullptr}; }
  /// The worker takes one part of a transfer.
  void take(protocol::CommandId transfer, std::size_t size = kPart) {
    if (uploads.taken({transfer, size})) uploads.go_on();
  }

  std::vector<std::byte> memory_ = std::vector<std::byte>(20 * kPart);
  Sent sent;
  Uploads uploads{sent};
};

TEST_F(UploadsTest, GivenContentThenItsPartsCoverIt) {
  const std::size_t size = 2 * kPart + 17;
  uploads.add(7, content(size));
  ASSERT_EQ(3U, sent.parts.size());
  std::size_t at = 0;
  for (const auto& part : sent.parts) {
    EXPECT_EQ(7U, part.transfer);
    EXPECT_EQ(at, part.offset);
    EXPECT_EQ(memory_.data() + at, part.data.bytes.data());
    at += part.data.bytes.size();
  }
  EXPECT_EQ(size, at);
}

TEST_F(UploadsTest, GivenMoreThanTheWindowThenTheRestFollowsWhatWasTaken) {
  uploads.add(7, content(6 * kPart));
  EXPECT_EQ(4U, sent.parts.size());
  take(7);
  EXPECT_EQ(5U, sent.parts.size());
  take(7);
  take(7);
  EXPECT_EQ(6U, sent.parts.size());
}

TEST_F(UploadsTest, GivenOneThatIsNotTakenThenOthersGoOnPartByPart) {
  uploads.add(7, content(8 * kPart));
  uploads.add(8, content(3 * kPart));
  EXPECT_EQ(1U, sent.of(8));
  take(8);
  EXPECT_EQ(2U, sent.of(8));
  take(8);
  take(8);
  EXPECT_EQ(3U, sent.of(8));
  EXPECT_EQ(4U, sent.of(7)) << "until something of it is taken";
}

TEST_F(UploadsTest, GivenManyThatComeAfterOneThenTheyLeaveItItsRoom) {
  uploads.add(7, content(20 * kPart));
  for (protocol::CommandId later = 8; later < 16; ++later) uploads.add(later, content(2 * kPart));
  EXPECT_EQ(4U, sent.of(7));
  for (std::size_t i = 1; i <= 16; ++i) {
    take(7);
    EXPECT_EQ(4 + i, sent.of(7));
  }
  EXPECT_EQ(8U + 20U, sent.parts.size());
  // Now the next transfer may send.
  for (int i = 0; i < 4; ++i) take(7);
  EXPECT_EQ(2U, sent.of(8));
}

TEST_F(UploadsTest, GivenMoreTakenThanWasSentThenItIsRefused) {
  uploads.add(7, content(8 * kPart));
  EXPECT_THROW(take(7, 5 * kPart), protocol::DecodeError);
  take(9);
  EXPECT_EQ(4U, sent.parts.size());
}

TEST_F(UploadsTest, GivenCancelThenItEndsWhenNothingIsUnderWay) {
  bool over = false;
  uploads.add(7, content(8 * kPart));
  uploads.cancel(7, [&] { over = true; });
  for (int i = 0; i < 3; ++i) take(7);
  EXPECT_FALSE(over);
  take(7);
  EXPECT_TRUE(over);
  EXPECT_EQ(4U, sent.parts.size());
}

TEST_F(UploadsTest, GivenCancelOfWhatIsAllTakenThenItEndsAtOnce) {
  bool over = false;
  uploads.add(7, content(kPart));
  take(7);
  uploads.cancel(7, [&] { over = true; });
  EXPECT_TRUE(over);
}

TEST_F(UploadsTest, GivenCloseThenNothingMoreIsSentAndCancelledOnesAreReturned) {
  bool over = false;
  uploads.add(7, content(8 * kPart));
  uploads.cancel(7, [&] { over = true; });
  for (const auto& then : uploads.close()) then();
  EXPECT_TRUE(over);
  uploads.add(8, content(kPart));
  EXPECT_EQ(0U, sent.of(8));
}

TEST_F(UploadsTest, GivenWiderWindowThenMoreIsSentAtOnce) {
  uploads.add(7, content(20 * kPart));
  EXPECT_EQ(4U, sent.parts.size());
  uploads.set_window(6 * kPart, 1);
  EXPECT_EQ(6U, sent.parts.size());
}

TEST_F(UploadsTest, GivenSeveralStreamsThenTheyShareAnUploadThatIsAlone) {
  uploads.set_window(16 * kPart, 4);
  uploads.add(7, content(kPart));
  EXPECT_EQ(4U, sent.of(7));
  uploads.add(8, content(kPart));
  EXPECT_EQ(1U, sent.of(8));
}

}  // namespace
}  // namespace clique::icd::test
