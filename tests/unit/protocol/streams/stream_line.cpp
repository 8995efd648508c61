// Lines over streams: the connecting end, and the end that accepts, which this process plays, too.
#include "protocol/streams/stream_line.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <thread>

#include "protocol/decode_error.hpp"
#include "protocol/limits.hpp"
#include "protocol/messages.hpp"
#include "protocol/security/public_key.hpp"
#include "protocol/streams/batch_connection.hpp"
#include "protocol/streams/stream.hpp"
#include "tests/unit/protocol/streams/eventually.hpp"

namespace clique::protocol {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// The bytes that a message of this number carries.
std::vector<std::byte> bytes_of_message(RequestId number, std::size_t size) {
  std::array<std::byte, 251> piece{};
  for (std::size_t i = 0; i < piece.size(); ++i) piece[i] = static_cast<std::byte>(number * 31 + i);
  std::vector<std::byte> bytes(size);
  for (std::size_t at = 0; at < size; at += piece.size())
    std::memcpy(bytes.data() + at, piece.data(), std::min(piece.size(), size - at));
  return bytes;
}

/// A batch of one message with data, whose owner counts as long as it lives.
Batch batch_of(RequestId number, std::size_t size, const std::shared_ptr<int>& counted = nullptr) {
  struct Owner {
    std::vector<std::byte> bytes;
    std::shared_ptr<int> counted;
  };
  const auto owner = std::make_shared<Owner>(Owner{bytes_of_message(number, size), counted});
  Batch batch;
  batch.add(PeerData{number, 0, 0, {owner->bytes, owner}});
  return batch;
}

/// The numbers of the messages that have arrived, each of which has its content.
template <typename Line>
std::vector<RequestId> take_all(Line& line) {
  std::vector<RequestId> numbers;
  BatchReader reader;
  for (Incoming incoming; line.receive(incoming);)
    reader.read(MessageList<PeerData>{}, incoming.records, incoming.frames, incoming.owner,
                [&](PeerData&& part) {
                  const auto expected = bytes_of_message(part.transfer, part.data.bytes.size());
                  EXPECT_TRUE(expected.empty() ||
                              std::memcmp(expected.data(), part.data.bytes.data(), expected.size()) == 0)
                      << part.transfer;
                  numbers.push_back(part.transfer);
                });
  return numbers;
}

template <typename Line>
void take_all(Line& line, std::vector<RequestId>& numbers) {
  const std::vector<RequestId> more = take_all(line);
  numbers.insert(numbers.end(), more.begin(), more.end());
}

class StreamLines : public testing::TestWithParam<bool> {
 protected:
  StreamLines() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_.get(), 8), 0);
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    target_.endpoint = "tcp://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    target_.secret.assign(kStreamKeyBytes, 7);
    target_.encryption = GetParam() ? Encryption::All : Encryption::None;
    there_.set_resumable(true);
  }

  std::unique_ptr<StreamLine> line(StreamLine::Use use = {}) {
    return std::make_unique<StreamLine>(target_, kCommandsLine, use);
  }

  /// The next connection, and its request.
  Fd next_connection(StreamRequest::Message& message) {
    Fd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    EXPECT_EQ(::recv(connection.get(), message.data(), message.size(), MSG_WAITALL),
              static_cast<ssize_t>(message.size()));
    return connection;
  }
  /// Has there_ take the next connection.
  void accept(StreamLine& line) {
    StreamRequest::Message message{};
    std::thread connecting([&] { line.await_connection(Clock::now() + 20s); });
    Fd connection = next_connection(message);
    EXPECT_TRUE(StreamRequest::authentic(message, target_.secret));
    const auto request = StreamRequest::decode(message);
    EXPECT_TRUE(request && request->content == StreamRequest::Content::Batches);
    socket_ = connection.get();
    EXPECT_TRUE(there_.accept(std::move(connection), *request, target_.secret));
    connecting.join();
    EXPECT_TRUE(line.up());
  }

  Fd listener_;
  StreamTarget target_;
  BatchLine there_;
  int socket_ = -1;
};

TEST(BatchConnection, EndsIfNothingButHeartbeatsContinuesARecord) {
  EXPECT_FALSE(too_slow(kStreamPatience, 0));
  EXPECT_TRUE(too_slow(kStreamPatience + 1ms, 0));
  // A heartbeat with its tag comes every second.
  constexpr std::size_t kHeartbeat = 48;
  EXPECT_TRUE(too_slow(40s, 40 * kHeartbeat));
  EXPECT_TRUE(too_slow(1h, 3600 * kHeartbeat));
  // On a very slow link.
  EXPECT_FALSE(too_slow(40s, 40 * 16 * kKiB));
  EXPECT_FALSE(too_slow(1h, 3600 * 16 * kKiB));
}

TEST_P(StreamLines, CarryBatchesBothWaysInOrder) {
  const auto here = line();
  accept(*here);
  const std::vector<std::size_t> sizes{0, 1, 1000, 5000, 200'000, 3'000'000};
  std::vector<RequestId> sent;
  for (RequestId number = 1; number <= 60; ++number) {
    Batch out = batch_of(number, sizes[number % sizes.size()]);
    Batch back = batch_of(number, sizes[number % sizes.size()]);
    here->send(out);
    there_.send(back);
    EXPECT_TRUE(out.empty());
    sent.push_back(number);
  }
  std::vector<RequestId> arrived_there;
  std::vector<RequestId> arrived_here;
  EXPECT_TRUE(eventually([&] {
    take_all(there_, arrived_there);
    take_all(*here, arrived_here);
    return arrived_there.size() >= sent.size() && arrived_here.size() >= sent.size();
  }));
  EXPECT_EQ(arrived_there, sent);
  EXPECT_EQ(arrived_here, sent);
}

TEST_P(StreamLines, SendBeforeTheyAreConnected) {
  const auto here = line();
  Batch batch = batch_of(1, 5000);
  here->send(batch);
  accept(*here);
  std::vector<RequestId> arrived;
  EXPECT_TRUE(eventually([&] { return !(arrived = take_all(there_)).empty(); }));
  EXPECT_EQ(arrived, std::vector<RequestId>{1});
}

TEST_P(StreamLines, LoseNothingWhenConnectionsBreak) {
  const auto here = line();
  accept(*here);
  std::vector<RequestId> sent;
  std::vector<RequestId> arrived_there;
  std::vector<RequestId> arrived_here;
  RequestId number = 0;
  for (int round = 0; round < 8; ++round) {
    for (int i = 0; i < 40; ++i) {
      sent.push_back(++number);
      Batch out = batch_of(number, number * 997 % 100'000);
      Batch back = batch_of(number, number * 991 % 100'000);
      here->send(out);
      there_.send(back);
      if (i % 3 == 0) take_all(there_, arrived_there);
      if (i % 5 == 0) take_all(*here, arrived_here);
    }
    // With data on its way in both directions, and some of it received in part.
    ::shutdown(socket_, SHUT_RDWR);
    EXPECT_TRUE(eventually([&] {
      take_all(*here, arrived_here);
      return here->end() == ConnectionEnd::Closed;
    }));
    EXPECT_FALSE(here->up());
    here->reconnect();
    accept(*here);
  }
  EXPECT_TRUE(eventually([&] {
    take_all(there_, arrived_there);
    take_all(*here, arrived_here);
    return arrived_there.size() >= sent.size() && arrived_here.size() >= sent.size();
  }));
  EXPECT_EQ(arrived_there, sent);
  EXPECT_EQ(arrived_here, sent);
}

TEST_P(StreamLines, KeepPayloadsUntilTheyAreAcknowledged) {
  const auto here = line();
  accept(*here);
  const auto counted = std::make_shared<int>(0);
  for (RequestId number = 1; number <= 20; ++number) {
    Batch batch = batch_of(number, 300'000, counted);
    here->send(batch);
  }
  EXPECT_GT(counted.use_count(), 1);
  std::size_t arrived = 0;
  // What is less than the other end acknowledges together may stay.
  EXPECT_TRUE(eventually([&] {
    arrived += take_all(there_).size();
    here->listen();
    return arrived == 20 && counted.use_count() <= 5;
  })) << counted.use_count();
  here->close(0);
  EXPECT_EQ(counted.use_count(), 1);
}

TEST_P(StreamLines, KeepNothingThatCannotBeSentAgain) {
  const auto here = line();
  here->set_resumable(false);
  there_.set_resumable(false);
  accept(*here);
  const auto counted = std::make_shared<int>(0);
  Batch batch = batch_of(1, 5000, counted);
  here->send(batch);
  EXPECT_EQ(counted.use_count(), 1);
}

TEST_P(StreamLines, DoNotWaitForWhoeverDoesNotRead) {
  const auto here = line();
  accept(*here);
  constexpr RequestId kBatches = 64;
  for (RequestId number = 1; number <= kBatches; ++number) {
    Batch batch = batch_of(number, 1'000'000);
    here->send(batch);
  }
  EXPECT_TRUE(here->behind());
  std::vector<RequestId> arrived;
  EXPECT_TRUE(eventually([&] {
    take_all(there_, arrived);
    here->listen();
    return arrived.size() >= kBatches;
  }));
  EXPECT_FALSE(here->behind());
  EXPECT_EQ(arrived.back(), kBatches);
}

TEST_P(StreamLines, TellHowTheirConnectionEnded) {
  {
    // The daemon has no such worker.
    const auto here = line();
    StreamRequest::Message message{};
    std::jthread connecting([&] { here->await_connection(Clock::now() + 20s); });
    const Fd connection = next_connection(message);
    ::send(connection.get(), StreamAnswer::kNoSuchWorker.data(), StreamAnswer::kNoSuchWorker.size(), 0);
    connecting.join();
    EXPECT_EQ(here->end(), ConnectionEnd::Gone);
    EXPECT_FALSE(here->up());
  }
  {
    // Somebody answers who does not know the key.
    const auto here = line();
    StreamRequest::Message message{};
    std::jthread connecting([&] { here->await_connection(Clock::now() + 20s); });
    const Fd connection = next_connection(message);
    StreamAnswer::Message wrong{};
    wrong.fill(9);
    ::send(connection.get(), wrong.data(), wrong.size(), 0);
    connecting.join();
    EXPECT_EQ(here->end(), ConnectionEnd::Closed);
    EXPECT_NE(here->why().find("does not know the session's key"), std::string::npos) << here->why();
  }
  listener_ = Fd();
  const auto here = line();
  here->await_connection(Clock::now() + 20s);
  EXPECT_EQ(here->end(), ConnectionEnd::Refused);
}

TEST_P(StreamLines, NoticeSilenceWherePulsesAreDue) {
  const auto here = line({.pulses = true, .aside = true});
  accept(*here);
  there_.pulse();
  EXPECT_EQ(here->end(), ConnectionEnd::None);
  pollfd news{here->news(), POLLIN, 0};
  const auto since = Clock::now();
  EXPECT_TRUE(eventually([&] { return here->end() == ConnectionEnd::Closed; }));
  EXPECT_GE(Clock::now() - since, kSilence - 1s);
  EXPECT_NE(here->why().find("nothing came"), std::string::npos) << here->why();
  EXPECT_EQ(::poll(&news, 1, 0), 0) << "what end() has told is no news";
}

TEST_P(StreamLines, RefuseWhatIsNotARecord) {
  const auto here = line();
  accept(*here);
  const std::vector<std::uint8_t> noise(200, 0x55);
  ::send(socket_, noise.data(), noise.size(), 0);
  Incoming incoming;
  EXPECT_TRUE(eventually([&] {
    try {
      return here->receive(incoming);
    } catch (const std::exception&) {
      return true;
    }
  }));
  EXPECT_ANY_THROW(here->receive(incoming)) << "it goes on with what it has refused";
}

TEST_P(StreamLines, RefuseAcknowledgementsOfWhatWasNotSent) {
  const auto here = line();
  StreamRequest::Message message{};
  std::thread connecting([&] { here->await_connection(Clock::now() + 20s); });
  Fd connection = next_connection(message);
  BatchConnection liar(answer_dial(std::move(connection), *StreamRequest::decode(message), target_.secret, 0),
                       StreamEnd::Accepting);
  connecting.join();
  EXPECT_TRUE(liar.send(OutgoingRecord::of(RecordHeader::received(5))));
  Incoming incoming;
  EXPECT_TRUE(eventually([&] {
    try {
      here->receive(incoming);
      return false;
    } catch (const DecodeError&) {
      return true;
    }
  }));
}

INSTANTIATE_TEST_SUITE_P(Plain, StreamLines, testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Encrypted, StreamLines, testing::Values(true));

}  // namespace
}  // namespace clique::protocol
