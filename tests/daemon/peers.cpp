// Two workers of one client: data and completions from one to the other.
#include <numeric>

#include "harness.hpp"
#include "ids.hpp"

namespace clique::test {
namespace {

/// The ids by which workers know each other.
constexpr PeerId kB = 1;
constexpr PeerId kA = 2;
constexpr PeerId kC = 3;

/// With and without memory that the workers share.
class Peers : public testing::TestWithParam<bool> {
 protected:
  Peers() {
    a_.set_up();
    b_.set_up();
    connect(a_, kB, b_);
    connect(b_, kA, a_);
  }
  static void connect(Client& from, PeerId id, Client& to) {
    from.send(ConnectPeer{id, to.peers_endpoint(), to.address.peer, GetParam() ? to.address.shared : ""});
  }
  Node node_;
  Client a_{node_};
  Client b_{node_};
};

TEST_P(Peers, GivenPushAndExpectThenDataArrives) {
  constexpr CommandId kWrite = 100, kPush = 101, kExpect = 200, kFirstRead = 201, kSecondRead = 202;
  // Larger than what is read ahead, and not a multiple of a chunk.
  std::vector<std::uint32_t> numbers(5'000'001);
  std::iota(numbers.begin(), numbers.end(), 17U);
  const std::uint64_t bytes = numbers.size() * 4;
  const std::uint64_t shift = 4096;
  for (Client* client : {&a_, &b_}) client->send(CreateBuffer{kBuffer, kContext, kReadWrite, bytes + shift});
  std::uint64_t sent = 0;
  while (sent < bytes) {
    const auto size = std::min<std::uint64_t>(kMaxPayload, bytes - sent);
    const std::uint8_t more = sent + size < bytes ? Command::kMore : 0;
    a_.send(WriteBuffer{command(kWrite, Command::kReport | more), kBuffer, sent,
                        payload(reinterpret_cast<const char*>(numbers.data()) + sent, size)});
    sent += size;
  }
  b_.send(Expect{command(kExpect, Command::kReport, {}, kOutOfOrder), kBuffer, shift, bytes});
  a_.send(Push{command(kPush, Command::kReport, {kWrite}, kOutOfOrder), kBuffer, 0, bytes, kB, kExpect});
  EXPECT_EQ(a_.ended(kPush).status, 0);
  EXPECT_EQ(b_.ended(kExpect).status, 0);
  b_.send(ReadBuffer{command(kFirstRead, 0, {kExpect}), 0, kBuffer, shift, 4096},
          ReadBuffer{command(kSecondRead, 0, {kExpect}), 0, kBuffer, shift + bytes - 4096, 4096});
  const auto first = b_.data(kFirstRead);
  const auto last = b_.data(kSecondRead);
  EXPECT_EQ(std::memcmp(first.data(), numbers.data(), 4096), 0);
  EXPECT_EQ(std::memcmp(last.data(), reinterpret_cast<const char*>(numbers.data()) + bytes - 4096, 4096), 0);
}

TEST_P(Peers, GivenPushBeforeExpectThenDataWaits) {
  constexpr CommandId kFill = 100, kPush = 101, kExpect = 200, kRead = 201;
  a_.send(CreateBuffer{kBuffer, kContext, kReadWrite, 64},
          FillBuffer{command(kFill), kBuffer, Bytes{7}, 0, 64},
          Push{command(kPush, Command::kReport, {kFill}, kOutOfOrder), kBuffer, 0, 64, kB, kExpect});
  EXPECT_EQ(a_.ended(kPush).status, 0);
  b_.send(CreateBuffer{kBuffer, kContext, kReadWrite, 64},
          Expect{command(kExpect, Command::kEvent, {}, kOutOfOrder), kBuffer, 0, 64},
          ReadBuffer{command(kRead, 0, {kExpect}), 0, kBuffer, 0, 64});
  EXPECT_EQ(b_.data(kRead).at(63), std::byte{7});
}

TEST_P(Peers, GivenImageThenItsPixelsArrive) {
  constexpr CommandId kWriteImage = 100, kPush = 101, kExpect = 200, kReadImage = 201;
  constexpr std::uint32_t kRgba = 0x10B5;
  constexpr std::uint32_t kFloat = 0x10DE;
  constexpr std::uint32_t kImage3d = 0x10F2;
  const std::uint64_t bytes = 300ULL * 200 * 3 * 16;
  std::vector<float> pixels(bytes / 4);
  std::iota(pixels.begin(), pixels.end(), 0.F);
  for (Client* client : {&a_, &b_})
    client->send(CreateImage{kImage, kContext, kReadWrite, kRgba, kFloat, kImage3d, {300, 200, 3}, 0, 0, 0});
  a_.send(WriteImage{command(kWriteImage), kImage, {}, {300, 200, 3}, payload(pixels.data(), bytes)},
          Push{command(kPush, Command::kReport, {kWriteImage}, kOutOfOrder), kImage, 0, bytes, kB, kExpect});
  b_.send(Expect{command(kExpect, Command::kReport, {}, kOutOfOrder), kImage, 0, bytes},
          ReadImage{command(kReadImage, 0, {kExpect}), 0, kImage, {}, {300, 200, 3}, bytes});
  const auto data = b_.data(kReadImage);
  // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): the bytes have to be the same
  EXPECT_EQ(std::memcmp(data.data(), pixels.data(), bytes), 0);
}

TEST_P(Peers, GivenRangeOfImageThenThesePixelsArrive) {
  constexpr CommandId kFirstWriteImage = 100, kPush = 101, kSecondWriteImage = 199, kExpect = 200,
                      kReadImage = 201;
  constexpr std::uint32_t kRgba = 0x10B5;
  constexpr std::uint32_t kUnsigned8 = 0x10DA;
  constexpr std::uint32_t kImage3d = 0x10F2;
  const std::array<std::uint64_t, 3> extent{30, 20, 4};
  const std::uint64_t bytes = 30ULL * 20 * 4 * 4;
  std::vector<std::uint8_t> pixels(bytes);
  for (std::size_t i = 0; i < bytes; ++i) pixels[i] = static_cast<std::uint8_t>(1 + i % 251);
  for (Client* client : {&a_, &b_})
    client->send(CreateImage{kImage, kContext, kReadWrite, kRgba, kUnsigned8, kImage3d, extent, 0, 0, 0});
  // From the middle of a row of one slice to the middle of a row of the last one.
  const std::uint64_t begin = 4 * (30 * 7 + 11);
  const std::uint64_t size = 4 * (30 * 20 * 3 + 2) - begin;
  a_.send(WriteImage{command(kFirstWriteImage), kImage, {}, extent, payload(pixels.data(), bytes)},
          Push{command(kPush, Command::kReport, {kFirstWriteImage}, kOutOfOrder), kImage, begin, size, kB,
               kExpect});
  std::vector<std::uint8_t> zeros(bytes);
  b_.send(WriteImage{command(kSecondWriteImage), kImage, {}, extent, payload(zeros.data(), bytes)},
          Expect{command(kExpect, Command::kReport, {kSecondWriteImage}, kOutOfOrder), kImage, begin, size},
          ReadImage{command(kReadImage, 0, {kExpect}), 0, kImage, {}, extent, bytes});
  const auto data = b_.data(kReadImage);
  for (std::size_t i = 0; i < bytes; ++i)
    ASSERT_EQ(std::to_integer<unsigned>(data[i]), i >= begin && i < begin + size ? pixels[i] : 0U) << i;
}

TEST_P(Peers, GivenPushThatFailsThenTheExpectFails) {
  constexpr CommandId kPush = 101, kExpect = 200, kMarker = 201;
  constexpr std::int32_t kLost = -77;
  a_.send(CreateBuffer{kBuffer, kContext, kReadWrite, 64}, AwaitRemote{kRemote, kContext},
          Push{command(kPush, Command::kReport, {kRemote}, kOutOfOrder), kBuffer, 0, 64, kB, kExpect},
          SetRemote{kRemote, kLost});
  b_.send(CreateBuffer{kBuffer, kContext, kReadWrite, 64},
          Expect{command(kExpect, Command::kReport, {}, kOutOfOrder), kBuffer, 0, 64},
          Marker{command(kMarker, Command::kReport, {kExpect})});
  EXPECT_LT(a_.ended(kPush).status, 0);
  EXPECT_LT(b_.ended(kExpect).status, 0);
  EXPECT_LT(b_.ended(kMarker).status, 0);
}

TEST_P(Peers, GivenPushOfWhatIsExpectedThenItGoesOnAsItComes) {
  constexpr CommandId kWrite = 100, kFirstPush = 101, kFirstExpect = 200, kSecondPush = 201,
                      kSecondExpect = 300, kRead = 301;
  Client c{node_};
  c.set_up();
  connect(b_, kC, c);
  std::vector<std::uint32_t> numbers(1'000'001);
  std::iota(numbers.begin(), numbers.end(), 17U);
  const std::uint64_t bytes = numbers.size() * 4;
  for (Client* client : {&a_, &b_, &c}) client->send(CreateBuffer{kBuffer, kContext, kReadWrite, bytes});
  c.send(Expect{command(kSecondExpect, Command::kReport, {}, kOutOfOrder), kBuffer, 0, bytes});
  // What comes is not written there before kRemote has ended.
  b_.send(AwaitRemote{kRemote, kContext},
          Expect{command(kFirstExpect, Command::kReport, {kRemote}, kOutOfOrder), kBuffer, 0, bytes},
          Push{command(kSecondPush, 0, {kFirstExpect}, kOutOfOrder), kBuffer, 0, bytes, kC, kSecondExpect});
  b_.finish();  // so that it has been told before anything comes
  a_.send(WriteBuffer{command(kWrite), kBuffer, 0, payload(numbers.data(), bytes)},
          Push{command(kFirstPush, 0, {kWrite}, kOutOfOrder), kBuffer, 0, bytes, kB, kFirstExpect});
  EXPECT_EQ(c.ended(kSecondExpect).status, 0);
  c.send(ReadBuffer{command(kRead, 0, {kSecondExpect}), 0, kBuffer, bytes - 4096, 4096});
  const auto last = c.data(kRead);
  EXPECT_EQ(std::memcmp(last.data(), reinterpret_cast<const char*>(numbers.data()) + bytes - 4096, 4096), 0);
  b_.send(SetRemote{kRemote, 0});
  EXPECT_EQ(b_.ended(kFirstExpect).status, 0);
}

TEST_P(Peers, GivenPushOfWhatIsExpectedAndFailsThenAllFail) {
  constexpr CommandId kFirstPush = 101, kFirstExpect = 200, kSecondPush = 201, kSecondExpect = 300;
  Client c{node_};
  c.set_up();
  connect(b_, kC, c);
  for (Client* client : {&a_, &b_, &c}) client->send(CreateBuffer{kBuffer, kContext, kReadWrite, 64});
  c.send(Expect{command(kSecondExpect, Command::kReport, {}, kOutOfOrder), kBuffer, 0, 64});
  b_.send(Expect{command(kFirstExpect, Command::kReport, {}, kOutOfOrder), kBuffer, 0, 64},
          Push{command(kSecondPush, 0, {kFirstExpect}, kOutOfOrder), kBuffer, 0, 64, kC, kSecondExpect});
  a_.send(AwaitRemote{kRemote, kContext},
          Push{command(kFirstPush, 0, {kRemote}, kOutOfOrder), kBuffer, 0, 64, kB, kFirstExpect},
          SetRemote{kRemote, -77});
  EXPECT_LT(b_.ended(kFirstExpect).status, 0);
  EXPECT_LT(c.ended(kSecondExpect).status, 0);
}

TEST_P(Peers, GivenContentSizeThenNoMoreThanThatGoes) {
  constexpr CommandId kFirstFill = 100, kWrite = 101, kPush = 102, kSecondFill = 199, kExpect = 200,
                      kRead = 201;
  constexpr std::uint64_t kBytes = 3'000'000;
  const auto pushed = [&](std::uint64_t content_size, std::uint64_t offset) {
    const std::uint64_t size = kBytes - offset;
    for (Client* client : {&a_, &b_}) client->send(CreateBuffer{kBuffer, kContext, kReadWrite, kBytes});
    a_.send(CreateBuffer{kOther, kContext, kReadWrite, 16},
            FillBuffer{command(kFirstFill), kBuffer, Bytes{7}, 0, kBytes},
            WriteBuffer{command(kWrite), kOther, 0, payload(&content_size, sizeof content_size)},
            Push{command(kPush, Command::kReport, {kFirstFill, kWrite}, kOutOfOrder), kBuffer, offset, size,
                 kB, kExpect, 0, kOther});
    b_.send(FillBuffer{command(kSecondFill), kBuffer, Bytes{9}, 0, kBytes},
            Expect{command(kExpect, Command::kReport, {kSecondFill}, kOutOfOrder), kBuffer, offset, size});
    EXPECT_EQ(a_.ended(kPush).status, 0);
    EXPECT_EQ(b_.ended(kExpect).status, 0);
    b_.send(ReadBuffer{command(kRead, 0, {kExpect}), 0, kBuffer, 0, kBytes});
    const auto data = b_.data(kRead);
    a_.send(Release{{kBuffer, kOther}, {kFirstFill, kWrite, kPush}});
    b_.send(Release{{kBuffer}, {kSecondFill, kExpect}});
    return std::count(data.begin(), data.end(), std::byte{7});
  };
  EXPECT_EQ(pushed(2'000'000, 0), 2'000'000);
  EXPECT_EQ(pushed(2'000'000, 1'500'000), 500'000);
  EXPECT_EQ(pushed(kBytes, 0), kBytes);
  EXPECT_EQ(pushed(~std::uint64_t{0}, 10), kBytes - 10);
  EXPECT_EQ(pushed(0, 0), 1) << "what is pushed has an end";
  EXPECT_EQ(pushed(100, 200), 1);
}

TEST_P(Peers, GivenContentSizeThatIsNoneThenTheRuleIsBroken) {
  constexpr CommandId kPush = 101, kExpect = 200;
  constexpr ObjectId kUnknown = 77;
  const auto push = [](ObjectId content_size, PeerId peer) {
    return Push{command(kPush, 0, {}, kOutOfOrder), kBuffer, 0, 64, peer, kExpect, 0, content_size};
  };
  for (const auto& [content_size, peer] :
       std::vector<std::pair<ObjectId, PeerId>>{{kOther, kB}, {kUnknown, kB}, {kBuffer, kClientPeer}}) {
    Client client{node_};
    client.set_up();
    connect(client, kB, b_);
    client.send(CreateBuffer{kBuffer, kContext, kReadWrite, 64},
                CreateBuffer{kOther, kContext, kReadWrite, 7}, push(content_size, peer));
    EXPECT_FALSE(client.next<SessionEnded>().reason.empty()) << content_size;
  }
}

TEST_P(Peers, GivenNotifyPeerThenTheOtherGoesOn) {
  constexpr CommandId kFirstMarker = 100, kSecondMarker = 102, kThirdMarker = 200;
  a_.send(AwaitRemote{kRemote, kContext}, Marker{command(kFirstMarker, Command::kReport, {kRemote})},
          NotifyPeer{kFirstMarker, kB});
  b_.send(AwaitRemote{kFirstMarker, kContext},
          Marker{command(kThirdMarker, Command::kReport, {kFirstMarker})}, NotifyPeer{kThirdMarker, kA});
  a_.send(AwaitRemote{kThirdMarker, kContext},
          Marker{command(kSecondMarker, Command::kReport, {kThirdMarker}, kOutOfOrder)});
  EXPECT_FALSE(b_.reports.comes<EventState>(std::chrono::milliseconds(50)));
  a_.send(SetRemote{kRemote, 0});
  EXPECT_EQ(a_.ended(kFirstMarker).status, 0);
  EXPECT_EQ(b_.ended(kThirdMarker).status, 0);
  EXPECT_EQ(a_.ended(kSecondMarker).status, 0);
}

TEST_P(Peers, GivenFailureThenItTravels) {
  constexpr CommandId kFirstMarker = 100, kSecondMarker = 200;
  a_.send(AwaitRemote{kRemote, kContext}, Marker{command(kFirstMarker, Command::kReport, {kRemote})},
          NotifyPeer{kFirstMarker, kB});
  b_.send(AwaitRemote{kFirstMarker, kContext},
          Marker{command(kSecondMarker, Command::kReport, {kFirstMarker})});
  a_.send(SetRemote{kRemote, -99});
  EXPECT_LT(a_.ended(kFirstMarker).status, 0);
  EXPECT_LT(b_.ended(kSecondMarker).status, 0);
}

INSTANTIATE_TEST_SUITE_P(Links, Peers, testing::Bool(), [](const auto& parameter) {
  return std::string(parameter.param ? "SharedMemory" : "Socket");
});

}  // namespace
}  // namespace clique::test
