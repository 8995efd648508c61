// Large transfers between a client and a worker, beside the commands.
#include <numeric>

#include "harness.hpp"
#include "ids.hpp"
#include "protocol/transport/shared_offer.hpp"

namespace clique::test {
namespace {

constexpr std::uint64_t kPart = kPartSize;

class Bulk : public testing::Test {
 protected:
  static constexpr CommandId kWrite = 100, kFill = 101, kPush = 102, kExpect = 200, kRead = 201;
  /// What the client calls the push.
  static constexpr CommandId kPushed = 300;

  Bulk() {
    client_.set_up();
    numbers_.resize(3 * kPart / 4 + 5);
    std::iota(numbers_.begin(), numbers_.end(), 17U);
    client_.send(CreateBuffer{kBuffer, kContext, kReadWrite, bytes()});
  }
  std::uint64_t bytes() const { return numbers_.size() * 4; }
  const char* data() const { return reinterpret_cast<const char*>(numbers_.data()); }
  zmq::socket_t connect(bool to_client) {
    zmq::socket_t socket = dealer(client_.address.commands, client_.address.client);
    send(socket, AttachLine{next_line_++, to_client, 0, 1});
    return socket;
  }
  /// The part of the content that begins at `offset`.
  PeerData part(std::uint64_t offset) const {
    const auto size = std::min(kPart, bytes() - offset);
    return {kExpect, offset, 0, payload(data() + offset, size)};
  }
  /// Puts what was pushed where it belongs. @returns bytes.
  static std::uint64_t place(const PeerData& part, std::vector<char>& to) {
    EXPECT_EQ(part.status, 0);
    EXPECT_LE(part.offset + part.data.bytes.size(), to.size());
    std::memcpy(to.data() + part.offset, part.data.bytes.data(), part.data.bytes.size());
    return part.data.bytes.size();
  }

  Node node_;
  Client client_{node_};
  std::vector<std::uint32_t> numbers_;
  LineId next_line_ = kFirstBulkLine;
};

TEST_F(Bulk, GivenPartsOnSeveralConnectionsThenAllAreTakenAndInPlace) {
  std::vector<zmq::socket_t> connections;
  for (int i = 0; i < 2; ++i) connections.push_back(connect(false));
  client_.send(Expect{command(kExpect, Command::kReport, {}, kOutOfOrder), kBuffer, 0, bytes()});
  // Last first: they need no order.
  std::uint64_t offset = bytes() / kPart * kPart;
  for (std::size_t i = 0;; ++i, offset -= kPart) {
    send(connections[i % 2], part(offset));
    if (offset == 0) break;
  }
  EXPECT_EQ(client_.ended(kExpect).status, 0);
  std::uint64_t taken = 0;
  while (taken < bytes()) {
    const auto one = client_.next<Taken>();
    EXPECT_EQ(one.transfer, kExpect);
    taken += one.bytes;
  }
  EXPECT_EQ(taken, bytes());
  client_.send(ReadBuffer{command(kRead, 0), 0, kBuffer, 0, bytes()});
  const auto got = client_.data(kRead);
  EXPECT_EQ(std::memcmp(got.data(), data(), bytes()), 0);
}

TEST_F(Bulk, GivenQueueThatIsReleasedBeforeThePartsComeThenTheyAreTakenAndInPlace) {
  zmq::socket_t connection = connect(false);
  client_.send(Expect{command(kExpect, Command::kReport, {}, kInOrder), kBuffer, 0, bytes()},
               Release{{kInOrder}, {}});
  EXPECT_EQ(client_.finish(kOutOfOrder).status, 0);
  for (std::uint64_t offset = 0; offset < bytes(); offset += kPart) send(connection, part(offset));
  EXPECT_EQ(client_.ended(kExpect).status, 0);
  client_.send(ReadBuffer{command(kRead, 0, {}, kOutOfOrder), 0, kBuffer, 0, bytes()});
  const auto got = client_.data(kRead);
  EXPECT_EQ(std::memcmp(got.data(), data(), bytes()), 0);
}

TEST_F(Bulk, GivenTransferThatWaitsThenNothingIsTakenUntilItMay) {
  zmq::socket_t connection = connect(false);
  client_.send(AwaitRemote{kRemote, kContext},
               Expect{command(kExpect, Command::kReport, {kRemote}, kOutOfOrder), kBuffer, 0, bytes()});
  send(connection, part(0));
  EXPECT_FALSE(client_.reports.comes<Taken>(std::chrono::milliseconds(300)));
  client_.send(SetRemote{kRemote, 0});
  EXPECT_EQ(client_.next<Taken>().bytes, kPart);
}

TEST_F(Bulk, GivenTransferThatFailsThenWhatStillComesIsDroppedAndTaken) {
  zmq::socket_t connection = connect(false);
  client_.send(AwaitRemote{kRemote, kContext},
               Expect{command(kExpect, Command::kReport, {kRemote}, kOutOfOrder), kBuffer, 0, bytes()});
  send(connection, part(0));
  client_.send(SetRemote{kRemote, -77});
  EXPECT_LT(client_.ended(kExpect).status, 0);
  send(connection, part(kPart));
  for (int i = 0; i < 2; ++i) EXPECT_EQ(client_.next<Taken>().bytes, kPart);
  EXPECT_EQ(client_.finish().status, 0);
}

TEST_F(Bulk, GivenPushToTheClientThenDataComesOnItsConnections) {
  zmq::socket_t connection = connect(true);
  Receiver<MessageList<Received, PeerData>> pushed(connection);
  client_.send(WriteBuffer{command(kWrite, Command::kReport), kBuffer, 0, payload(data(), bytes())});
  // The connection attaches some time; until then the reports' is used.
  EXPECT_EQ(client_.ended(kWrite).status, 0);
  client_.send(
      Push{command(kPush, Command::kReport, {}, kOutOfOrder), kBuffer, 0, bytes(), kClientPeer, kPushed});
  std::vector<char> got(bytes());
  std::uint64_t arrived = 0;
  const auto take = [&](auto& from) {
    if (!from.template comes<PeerData>(std::chrono::milliseconds(20))) return;
    const auto part = from.template next<PeerData>();
    EXPECT_EQ(part.transfer, kPushed);
    arrived += place(part, got);
  };
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (arrived < bytes()) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << arrived << " bytes came";
    take(pushed);
    take(client_.reports);
  }
  EXPECT_EQ(client_.ended(kPush).status, 0);
  EXPECT_EQ(std::memcmp(got.data(), data(), bytes()), 0);
}

TEST_F(Bulk, GivenPushWithoutSuchAConnectionThenDataComesWithTheReports) {
  client_.send(
      FillBuffer{command(kFill), kBuffer, Bytes{7}, 0, bytes()},
      Push{command(kPush, Command::kReport, {kFill}, kOutOfOrder), kBuffer, 0, 64, kClientPeer, kPushed});
  EXPECT_EQ(client_.next<PeerData>().data.bytes.size(), 64U);
}

TEST_F(Bulk, GivenPushThatFailsThenItsEventEnds) {
  client_.send(AwaitRemote{kRemote, kContext},
               Push{command(kPush, Command::kReport, {kRemote}, kOutOfOrder), kBuffer, 0, bytes(),
                    kClientPeer, kPushed},
               SetRemote{kRemote, -77});
  EXPECT_LT(client_.ended(kPush).status, 0);
}

TEST_F(Bulk, GivenSegmentThenContentNeedsNoPartsEitherWay) {
  const auto segment = SharedSegment::create(2 * bytes());
  ASSERT_EQ(give_segment(client_.address.shared, client_.address.client.secret, kSegment, *segment, 0,
                         std::chrono::seconds(2)),
            "");
  std::memcpy(segment->bytes().data() + 4096, data(), bytes());
  client_.send(WriteFromSegment{command(kWrite, Command::kReport, {}, kOutOfOrder), kBuffer, 0, bytes(),
                                kSegment, 4096});
  EXPECT_EQ(client_.ended(kWrite).status, 0);
  std::memset(segment->bytes().data(), 0, 2 * bytes());
  client_.send(ReadToSegment{command(kRead, Command::kReport, {}, kOutOfOrder), kBuffer, 0, bytes(), kSegment,
                             bytes()});
  EXPECT_EQ(client_.ended(kRead).status, 0);
  EXPECT_EQ(std::memcmp(segment->bytes().data() + bytes(), data(), bytes()), 0);
  client_.send(FreeSegment{kSegment},
               WriteFromSegment{command(kWrite + 1, 0, {}, kOutOfOrder), kBuffer, 0, 1, kSegment, 0});
  EXPECT_NE(client_.next<SessionEnded>().reason, "");
}

TEST_F(Bulk, GivenAnythingElseOnSuchAConnectionThenTheSessionEnds) {
  zmq::socket_t connection = connect(false);
  send(connection, Goodbye{});
  EXPECT_NE(client_.next<SessionEnded>().reason, "");
}

}  // namespace
}  // namespace clique::test
