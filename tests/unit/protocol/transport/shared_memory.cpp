// Memory that both sides of a session share. The test plays both.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <random>
#include <thread>

#include "protocol/messages.hpp"
#include "protocol/printable.hpp"
#include "protocol/transport/shared_offer.hpp"

namespace {

using namespace clique;
using namespace clique::protocol;
using Sent = SharedMemory::Sent;
using Received = SharedMemory::Received;

Fd duplicate(int fd) {
  return Fd(::dup(fd));
}

class Shared : public ::testing::Test {
 protected:
  /// Lent payloads keep the memory alive until forget_loans().
  ~Shared() override {
    for (const auto& side : {worker, client})
      if (side) side->forget_loans();
  }
  static std::shared_ptr<SharedMemory> other_side(const SharedMemory& memory) {
    const auto fds = memory.descriptors();
    return SharedMemory::open(duplicate(fds[0]), duplicate(fds[1]), duplicate(fds[2]));
  }

  /// A batch with a Print of this length.
  static Batch text(std::size_t size) {
    Batch batch;
    batch.add(Print{Bytes(size, 'x'), {}});
    return batch;
  }
  Sent send(Batch& batch) const { return client->try_send(batch); }
  Sent send_data(std::span<const std::byte> data) const {
    Batch batch;
    batch.add(WriteBuffer{{}, 1, 2, {data, nullptr}});
    return send(batch);
  }
  /// The data of the next WriteBuffer.
  Payload next_data() const {
    Incoming incoming;
    EXPECT_EQ(worker->receive(incoming), Received::Batch);
    Payload data;
    BatchReader().read(MessageList<WriteBuffer>{}, incoming.records, incoming.frames, incoming.owner,
                       [&](WriteBuffer&& message) { data = message.data; });
    return data;
  }
  static bool rung(const SharedMemory& side) {
    pollfd fd{side.doorbell(), POLLIN, 0};
    return ::poll(&fd, 1, 0) == 1;
  }

  std::shared_ptr<SharedMemory> worker = SharedMemory::create();
  std::shared_ptr<SharedMemory> client = other_side(*worker);
};

std::vector<std::byte> bytes(std::size_t size) {
  std::vector<std::byte> all(size);
  for (std::size_t i = 0; i < size; ++i) all[i] = static_cast<std::byte>(i * 2654435761U >> 24U);
  return all;
}

TEST_F(Shared, GivenManyBatchesOfManySizesWhenTheyAreSentThenTheyComeInOrderBothWays) {
  std::uint64_t next = 0;
  for (std::size_t round = 0; round < 20'000; ++round) {
    Batch batch;
    for (std::size_t i = 0; i < 1 + round % 7; ++i) batch.add(PeerDone{++next, 0});
    ASSERT_EQ(send(batch), Sent::Yes);
    EXPECT_TRUE(batch.empty());
    Incoming incoming;
    ASSERT_EQ(worker->receive(incoming), Received::Batch);
    // The answer.
    Batch answer;
    std::uint64_t expected = next - round % 7;
    BatchReader().read(MessageList<PeerDone>{}, incoming.records, incoming.frames, incoming.owner,
                       [&](PeerDone&& done) {
                         ASSERT_EQ(done.command, expected++);
                         answer.add(done);
                       });
    ASSERT_EQ(worker->try_send(answer), Sent::Yes);
    ASSERT_EQ(client->receive(incoming), Received::Batch);
    ASSERT_EQ(client->receive(incoming), Received::Nothing);
  }
}

TEST_F(Shared, GivenAPayloadWhenItIsSentThenItIsCopiedOnceAndItsMemoryIsUsedAgain) {
  const auto data = bytes(3U << 20U);
  const std::byte* first = nullptr;
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(send_data(data), Sent::Yes);
    const Payload payload = next_data();
    ASSERT_TRUE(SharedMemory::inside(worker->incoming(), payload.bytes));
    ASSERT_EQ(payload.bytes.size(), data.size());
    ASSERT_EQ(std::memcmp(payload.bytes.data(), data.data(), data.size()), 0);
    if (first == nullptr) first = payload.bytes.data();
    EXPECT_EQ(payload.bytes.data(), first);
  }
}

TEST_F(Shared, GivenABlockOfTheArenaWhenItIsSentThenItIsNotCopied) {
  auto block = worker->take(5000);
  ASSERT_TRUE(block);
  std::memset(block.get(), 7, 5000);
  Batch batch;
  batch.add(Data{1, 0, {{block.get(), 5000}, block}});
  const std::ptrdiff_t place = block.get() - worker->outgoing().data();
  block.reset();
  ASSERT_EQ(worker->try_send(batch, [](std::byte*, const std::byte*, std::size_t) { FAIL(); }), Sent::Yes);
  Incoming incoming;
  ASSERT_EQ(client->receive(incoming), Received::Batch);
  ASSERT_EQ(incoming.frames.size(), 1U);
  EXPECT_EQ(incoming.frames[0].bytes.data() - client->incoming().data(), place);
  EXPECT_EQ(incoming.frames[0].bytes[4999], std::byte{7});
  // The block is not free before the client has released it.
  EXPECT_NE(worker->take(5000).get() - worker->outgoing().data(), place);
  incoming = {};
  EXPECT_EQ(worker->take(5000).get() - worker->outgoing().data(), place);
}

TEST_F(Shared, GivenPayloadsThatTheReceiverKeepsWhenTheArenaIsFullThenSendingFailsUntilTheyAreGivenBack) {
  const auto data = bytes(8U << 20U);
  std::vector<Payload> kept;
  while (send_data(data) == Sent::Yes) kept.push_back(next_data());
  EXPECT_EQ(kept.size(), SharedMemory::kArena / data.size());
  EXPECT_EQ(send_data(data), Sent::ArenaFull);
  // Payloads may be given back in any order.
  kept.erase(kept.begin() + 1);
  EXPECT_EQ(send_data(data), Sent::Yes);
  EXPECT_EQ(next_data().bytes.size(), data.size());
  // The number of payloads is limited, too.
  kept.clear();
  const auto small = bytes(2000);
  while (send_data(small) == Sent::Yes) kept.push_back(next_data());
  EXPECT_EQ(kept.size(), SharedMemory::kLoans);
}

TEST_F(Shared, GivenNobodyWhoReceivesWhenTheRingIsFullThenNothingIsLost) {
  std::size_t sent = 0;
  Batch batch = text(1000);
  for (; send(batch) == Sent::Yes; batch = text(1000)) ++sent;
  EXPECT_FALSE(batch.empty());
  EXPECT_EQ(send(batch), Sent::RingFull);
  EXPECT_GT(sent, SharedMemory::kRing / 1100);
  Incoming incoming;
  for (std::size_t i = 0; i < sent; ++i) ASSERT_EQ(worker->receive(incoming), Received::Batch);
  EXPECT_EQ(worker->receive(incoming), Received::Nothing);
  EXPECT_EQ(send(batch), Sent::Yes);
}

TEST_F(Shared, GivenABatchThatIsTooLargeWhenItGoesElsewhereThenTheReceiverIsTold) {
  Batch large = text(SharedMemory::kRing);
  EXPECT_EQ(send(large), Sent::TooLarge);
  EXPECT_FALSE(large.empty());
  ASSERT_TRUE(client->try_send_elsewhere());
  Batch small = text(10);
  ASSERT_EQ(send(small), Sent::Yes);
  Incoming incoming;
  EXPECT_EQ(worker->receive(incoming), Received::Elsewhere);
  EXPECT_EQ(worker->receive(incoming), Received::Batch);
}

TEST_F(Shared, GivenAReceiverThatSleepsWhenSomethingComesThenItsDoorbellRings) {
  Batch batch = text(10);
  ASSERT_EQ(send(batch), Sent::Yes);
  EXPECT_FALSE(rung(*worker));
  EXPECT_FALSE(worker->arm());
  Incoming incoming;
  ASSERT_EQ(worker->receive(incoming), Received::Batch);
  EXPECT_TRUE(worker->arm());
  batch = text(10);
  ASSERT_EQ(send(batch), Sent::Yes);
  EXPECT_TRUE(rung(*worker));
  worker->hush();
  EXPECT_FALSE(rung(*worker));
}

TEST_F(Shared, GivenASenderThatSleepsWhenAPayloadIsGivenBackThenItsDoorbellRings) {
  const auto data = bytes(5000);
  ASSERT_EQ(send_data(data), Sent::Yes);
  Payload payload = next_data();
  EXPECT_TRUE(client->arm_for_returns());
  EXPECT_FALSE(rung(*client));
  payload = {};
  EXPECT_TRUE(rung(*client));
  EXPECT_FALSE(client->arm_for_returns());
  client->hush();
  EXPECT_FALSE(rung(*client));
  EXPECT_FALSE(client->collect());
}

TEST_F(Shared, GivenAReceiverThatSleepsAgainAndAgainWhenManyBatchesComeThenItMissesNone) {
  constexpr int kBatches = 100'000;
  std::thread sender([&] {
    for (int i = 0; i < kBatches; ++i) {
      Batch batch;
      batch.add(PeerDone{static_cast<CommandId>(i) + 1, 0});
      while (send(batch) != Sent::Yes) std::this_thread::yield();
    }
  });
  int received = 0;
  Incoming incoming;
  while (received < kBatches) {
    if (worker->receive(incoming) == Received::Batch) {
      ++received;
    } else if (worker->arm()) {
      pollfd fd{worker->doorbell(), POLLIN, 0};
      ASSERT_EQ(::poll(&fd, 1, 10'000), 1) << "after " << received;
      worker->hush();
    }
  }
  sender.join();
}

TEST_F(Shared, GivenAnotherSideThatWritesNonsenseWhenItIsReceivedThenThatIsAnErrorAndNoHarm) {
  constexpr std::size_t kSize = 1U << 16U;
  Incoming incoming;
  std::mt19937_64 random(1);
  int refused = 0;
  for (int round = 0; round < 2000; ++round) {
    const auto side = SharedMemory::create();
    auto* memory = static_cast<std::byte*>(
        ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, side->descriptors()[0], 0));
    ASSERT_NE(memory, MAP_FAILED);
    // Behind the mark, which is only checked once.
    for (std::size_t at = 64; at < kSize; at += sizeof(std::uint64_t)) {
      const std::uint64_t noise = random();
      std::memcpy(memory + at, &noise, sizeof noise);
    }
    try {
      side->receive(incoming);
    } catch (const DecodeError&) {
      ++refused;
    }
    ::munmap(memory, kSize);
  }
  EXPECT_GT(refused, 0);
}

TEST_F(Shared, GivenDoorbellsThatBlockWhenTheyAreUsedThenNobodyWaits) {
  const auto side = SharedMemory::create();
  std::array<std::array<int, 2>, 2> pipes{};
  for (auto& ends : pipes) ASSERT_EQ(::pipe(ends.data()), 0);
  // Reading from an empty pipe waits, and so does writing into a full one.
  const auto guest = SharedMemory::open(duplicate(side->descriptors()[0]), Fd(pipes[0][0]), Fd(pipes[1][1]));
  const Fd writable(pipes[0][1]);
  const Fd readable(pipes[1][0]);
  const std::vector<char> zeros(4096);
  while (::write(guest->descriptors()[2], zeros.data(), zeros.size()) > 0) {
  }
  EXPECT_TRUE(guest->arm());
  guest->hush();
  ASSERT_TRUE(side->arm());
  Batch batch = text(1);
  EXPECT_EQ(guest->try_send(batch), Sent::Yes);
}

TEST(SharedOffer, GivenTheTokenWhenItIsTakenThenBothHaveTheMemory) {
  SharedOffer offer;
  std::shared_ptr<SharedMemory> client;
  std::thread taker(
      [&] { client = take_shared_offer(offer.name(), "secret", Guest::Client, std::chrono::seconds(5)); });
  pollfd fd{offer.fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&fd, 1, 5000), 1);
  const auto taken = offer.serve("secret", "secret of peers");
  taker.join();
  ASSERT_TRUE(client && taken);
  EXPECT_EQ(taken->guest, Guest::Client);
  EXPECT_EQ(taken->memory, offer.memory());
  Batch batch;
  batch.add(PeerDone{1, 0});
  EXPECT_EQ(client->try_send(batch), Sent::Yes);
  Incoming incoming;
  EXPECT_EQ(offer.memory()->receive(incoming), Received::Batch);
}

TEST(SharedOffer, GivenAnotherTokenWhenItIsTakenThenThereIsNone) {
  SharedOffer offer;
  std::shared_ptr<SharedMemory> client;
  std::thread taker(
      [&] { client = take_shared_offer(offer.name(), "guess", Guest::Client, std::chrono::seconds(5)); });
  pollfd fd{offer.fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&fd, 1, 5000), 1);
  EXPECT_FALSE(offer.serve("secret", "secret of peers"));
  taker.join();
  EXPECT_FALSE(client);
}

TEST(SharedOffer, GivenAPeersTokenWhenAClientTakesItThenThereIsNone) {
  SharedOffer offer;
  std::shared_ptr<SharedMemory> client;
  std::thread taker([&] {
    client = take_shared_offer(offer.name(), "secret of peers", Guest::Client, std::chrono::seconds(5));
  });
  pollfd fd{offer.fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&fd, 1, 5000), 1);
  EXPECT_FALSE(offer.serve("secret", "secret of peers"));
  taker.join();
  EXPECT_FALSE(client);
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST(SharedOffer, GivenSegmentThenItsClientLearnsWhatBecameOfIt) {
  SharedOffer offer;
  const auto segment = SharedSegment::create(100);
  for (const std::string& refusal :
       {std::string(), std::string("there is \n no room"), std::string(3000, 'x')}) {
    std::string told = "nothing";
    std::jthread giver(
        [&] { told = give_segment(offer.name(), "secret", 7, *segment, 8192, std::chrono::seconds(5)); });
    pollfd fd{offer.fd(), POLLIN, 0};
    EXPECT_EQ(::poll(&fd, 1, 5000), 1);
    {
      const auto taken = offer.serve("secret", "secret of peers");
      ASSERT_TRUE(taken);
      EXPECT_EQ(taken->guest, Guest::Segment);
      EXPECT_EQ(taken->segment.id, 7U);
      EXPECT_EQ(taken->segment.address, 8192U);
      EXPECT_EQ(taken->segment.memory->bytes().size(), 100U);
      EXPECT_TRUE(SharedOffer::answer(taken->segment, refusal));
    }
    giver.join();
    EXPECT_EQ(told, printable(refusal.substr(0, 1024)));
  }
}

TEST(SharedOffer, GivenSignalsToItsClientThenASegmentIsGivenAllTheSame) {
  struct sigaction quiet{};
  struct sigaction before{};
  quiet.sa_handler = [](int) {};
  quiet.sa_flags = SA_RESTART;
  ASSERT_EQ(::sigaction(SIGUSR1, &quiet, &before), 0);
  SharedOffer offer;
  const auto segment = SharedSegment::create(100);
  std::string told = "nothing";
  std::jthread giver(
      [&] { told = give_segment(offer.name(), "secret", 7, *segment, 0, std::chrono::seconds(60)); });
  for (int signal = 0; signal < 50; ++signal) {
    ::pthread_kill(giver.native_handle(), SIGUSR1);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  pollfd fd{offer.fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&fd, 1, 60'000), 1);
  const auto taken = offer.serve("secret", "secret of peers");
  EXPECT_TRUE(taken && SharedOffer::answer(taken->segment, ""));
  giver.join();
  EXPECT_EQ(told, "");
  ::sigaction(SIGUSR1, &before, nullptr);
}

TEST(SharedOffer, GivenSegmentThatNobodyTakesThenItsClientDoesNotWaitLong) {
  const auto segment = SharedSegment::create(100);
  SharedOffer offer;
  EXPECT_NE(give_segment(offer.name(), "secret", 7, *segment, 0, std::chrono::milliseconds(50)).find("50 ms"),
            std::string::npos);
  const auto taken = offer.serve("secret", "secret of peers");
  ASSERT_TRUE(taken);
  EXPECT_FALSE(SharedOffer::answer(taken->segment, "")) << "the client is gone";
  const std::string why =
      give_segment("clique-nobody", "secret", 7, *segment, 0, std::chrono::milliseconds(50));
  EXPECT_NE(why.find("refused"), std::string::npos) << why;
}

TEST(SharedOffer, GivenSegmentsThatAreNotAsAnnouncedThenNoDescriptorIsKept) {
  SharedOffer offer;
  const auto segment = SharedSegment::create(4096);
  const std::size_t before = open_descriptors();
  // How many descriptors come with how many bytes, where one comes with 24.
  for (const auto& [descriptors, bytes] : {std::pair{2, 24}, {1, 23}, {2, 1}, {1, 24}, {0, 24}}) {
    const Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, offer.name().data(), offer.name().size());
    ASSERT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address),
                        static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + offer.name().size())),
              0);
    ASSERT_EQ(::send(socket.get(), "ssecret", 7, 0), 7);
    std::array<char, 24> data{};  // the size is 0, which no segment has
    iovec content{data.data(), static_cast<std::size_t>(bytes)};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> ancillary{};
    msghdr message{};
    message.msg_iov = &content;
    message.msg_iovlen = 1;
    if (descriptors > 0) {
      message.msg_control = ancillary.data();
      message.msg_controllen = CMSG_SPACE(descriptors * sizeof(int));
      cmsghdr* header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(descriptors * sizeof(int));
      const std::array<int, 2> sent{segment->descriptor(), segment->descriptor()};
      std::memcpy(CMSG_DATA(header), sent.data(), descriptors * sizeof(int));
    }
    ASSERT_EQ(::sendmsg(socket.get(), &message, 0), bytes);
    EXPECT_FALSE(offer.serve("secret", "secret of peers"));
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(SharedOffer, GivenOtherWorkersWhenTheyTakeItThenEachGetsMemoryOfItsOwn) {
  SharedOffer offer;
  std::vector<std::shared_ptr<SharedMemory>> theirs(2);
  std::vector<std::shared_ptr<SharedMemory>> ours;
  for (auto& memory : theirs) {
    std::thread taker([&] {
      memory = take_shared_offer(offer.name(), "secret of peers", Guest::Peer, std::chrono::seconds(5));
    });
    pollfd fd{offer.fd(), POLLIN, 0};
    ASSERT_EQ(::poll(&fd, 1, 5000), 1);
    const auto taken = offer.serve("secret", "secret of peers");
    taker.join();
    ASSERT_TRUE(memory && taken);
    EXPECT_EQ(taken->guest, Guest::Peer);
    ours.push_back(taken->memory);
  }
  EXPECT_NE(ours[0], ours[1]);
  EXPECT_NE(ours[0], offer.memory());
}

TEST(SharedOffer, GivenTheClientHasItWhenItIsTakenAgainThenThereIsNone) {
  SharedOffer offer;
  for (const bool first : {true, false}) {
    std::shared_ptr<SharedMemory> client;
    std::thread taker(
        [&] { client = take_shared_offer(offer.name(), "secret", Guest::Client, std::chrono::seconds(5)); });
    pollfd fd{offer.fd(), POLLIN, 0};
    ASSERT_EQ(::poll(&fd, 1, 5000), 1);
    EXPECT_EQ(offer.serve("secret", "secret of peers").has_value(), first);
    taker.join();
    EXPECT_EQ(client != nullptr, first);
  }
}

TEST(SharedOffer, GivenNoSuchOfferWhenItIsTakenThenThereIsNoneAtOnce) {
  EXPECT_FALSE(take_shared_offer("clique-nobody", "secret", Guest::Client, std::chrono::seconds(5)));
}

}  // namespace
