// When a push that is under way needs the main thread.
#include "daemon/backend/common/outgoing_push.hpp"

#include <gtest/gtest.h>

#include <zmq.hpp>

namespace clique::daemon {
namespace {

constexpr std::uint64_t kPart = 1024;

class OutgoingPushTest : public testing::Test {
 protected:
  OutgoingPush push(std::uint64_t size) {
    protocol::Push message;
    message.size = size;
    message.peer = protocol::kOwnPeer;
    return {peers_, message, std::nullopt};
  }

 private:
  zmq::context_t context_{0};
  PeerLinks peers_{context_, nullptr, std::chrono::milliseconds(0)};
};

TEST_F(OutgoingPushTest, GivenPartsToReadThenEachSentPartNeedsTheMainThread) {
  OutgoingPush of_three = push(3 * kPart);
  of_three.next(kPart);
  of_three.next(kPart);
  EXPECT_TRUE(of_three.part_sent());
  EXPECT_FALSE(of_three.all_read());
}

TEST_F(OutgoingPushTest, GivenNothingToReadThenOnlyTheLastSentPartNeedsTheMainThread) {
  OutgoingPush of_three = push(3 * kPart);
  for (int i = 0; i < 3; ++i) of_three.next(kPart);
  ASSERT_TRUE(of_three.all_read());
  EXPECT_FALSE(of_three.part_sent());
  EXPECT_FALSE(of_three.part_sent());
  EXPECT_TRUE(of_three.part_sent());
}

TEST_F(OutgoingPushTest, GivenTheOnlyPartOnItsWayWasSentThenTheNextOneNeedsTheMainThread) {
  OutgoingPush of_two = push(2 * kPart);
  of_two.next(kPart);
  EXPECT_TRUE(of_two.part_sent());
  of_two.next(kPart);
  EXPECT_TRUE(of_two.part_sent());
}

}  // namespace
}  // namespace clique::daemon
