// Sets of streams, both ends in this process.
#include "protocol/streams/stream_set.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstring>
#include <ctime>
#include <functional>
#include <numeric>
#include <random>
#include <thread>

#include "protocol/limits.hpp"
#include "protocol/streams/ucx_channel.hpp"
#include "tests/unit/protocol/streams/eventually.hpp"

namespace clique::protocol {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// A transfer whose content can be compressed. That of others cannot.
constexpr CommandId kEven = 100;

/// The bytes of the part of a transfer at an offset.
std::vector<std::byte> content(CommandId transfer, std::uint64_t offset, std::size_t size) {
  std::vector<std::byte> bytes(size);
  if (transfer == kEven) {
    constexpr std::size_t kRun = 64;
    for (std::size_t at = 0; at < size; at += kRun)
      std::memset(bytes.data() + at, static_cast<int>((offset + at / kRun) % 251), std::min(kRun, size - at));
    return bytes;
  }
  std::mt19937_64 random(transfer << 32U ^ offset);
  for (std::size_t at = 0; at < size; at += sizeof(std::uint64_t)) {
    const std::uint64_t word = random();
    std::memcpy(bytes.data() + at, &word, std::min(sizeof word, size - at));
  }
  return bytes;
}

/// Notes what arrives, and compares it with content().
class Receiver : public StreamSet::Owner {
 public:
  bool exposes_memory() const override { return exposes; }
  std::shared_ptr<std::byte> place(const RecordHeader& part) override {
    if (!places) return nullptr;
    return {new std::byte[part.size], std::default_delete<std::byte[]>()};
  }
  void arrived(PeerData&& part) override {
    const auto expected = content(part.transfer, part.offset, part.data.bytes.size());
    const bool right =
        expected.empty() || std::memcmp(expected.data(), part.data.bytes.data(), expected.size()) == 0;
    const std::lock_guard lock(mutex_);
    ++parts_[{part.transfer, part.offset}];
    wrong_ += right ? 0 : 1;
  }
  void failed(const std::string& why) override {
    const std::lock_guard lock(mutex_);
    reason_ = why;
    ++failures_;
  }

  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return parts_.size();
  }
  /// Whether each part has arrived once, with the right bytes.
  bool flawless() {
    const std::lock_guard lock(mutex_);
    return wrong_ == 0 &&
           std::all_of(parts_.begin(), parts_.end(), [](const auto& part) { return part.second == 1; });
  }
  std::string reason() {
    const std::lock_guard lock(mutex_);
    return reason_;
  }
  int failures() {
    const std::lock_guard lock(mutex_);
    return failures_;
  }

  std::atomic<bool> places{true};
  std::atomic<bool> exposes{false};

 private:
  std::mutex mutex_;
  std::map<std::pair<CommandId, std::uint64_t>, int> parts_;
  int wrong_ = 0;
  int failures_ = 0;
  std::string reason_;
};

Fd listen_anywhere(std::uint16_t& port) {
  Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(listener.get(), 64) != 0 ||
      ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw std::runtime_error("no port to listen at");
  port = ntohs(address.sin_port);
  return listener;
}

/// Connects to the port of this host.
Fd connect_here(std::uint16_t port) {
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = ::htons(port);
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    throw std::runtime_error("cannot connect");
  return socket;
}

/// Calls a function with each connection that comes to a port, until the end.
class Listener {
 public:
  explicit Listener(std::function<void(Fd)> take)
      : take_(std::move(take)), listener_(listen_anywhere(port_)) {
    thread_ = std::thread([this] {
      while (!stop_) {
        pollfd item{listener_.get(), POLLIN, 0};
        if (::poll(&item, 1, 10) > 0) take_(Fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)));
      }
    });
  }
  ~Listener() {
    stop_ = true;
    thread_.join();
  }
  std::uint16_t port() const { return port_; }

 private:
  std::function<void(Fd)> take_;
  std::uint16_t port_ = 0;
  Fd listener_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

/// Somebody between the two ends, who passes on what they send.
class Middle {
 public:
  explicit Middle(std::uint16_t port)
      : listener_([this, port](Fd left) { pass_on(std::move(left), port); }) {}
  ~Middle() {
    cut();
    for (std::thread& thread : threads_) thread.join();
  }
  std::uint16_t port() const { return listener_.port(); }
  /// Breaks all connections.
  void cut() {
    const std::lock_guard lock(mutex_);
    for (const auto& socket : sockets_) ::shutdown(socket->get(), SHUT_RDWR);
    sockets_.clear();
  }
  using Change = std::function<void(std::vector<char>&)>;
  /// From now on, calls `change` with all that comes from the side that connects. It may change the bytes.
  void set_change(Change change) {
    const std::lock_guard lock(mutex_);
    change_ = std::move(change);
  }
  /// The same with what comes from the side that accepts.
  void set_change_back(Change change) {
    const std::lock_guard lock(mutex_);
    change_back_ = std::move(change);
  }

 private:
  void pass_on(Fd left, std::uint16_t port) {
    auto a = std::make_shared<Fd>(std::move(left));
    auto b = std::make_shared<Fd>(connect_here(port));
    const std::lock_guard lock(mutex_);
    sockets_.insert(sockets_.end(), {a, b});
    threads_.emplace_back([this, a, b] { copy(*a, *b, true); });
    threads_.emplace_back([this, a, b] { copy(*b, *a, false); });
  }
  void copy(const Fd& from, const Fd& to, bool outward) {
    std::vector<char> bytes;
    for (;;) {
      bytes.resize(64 << 10);
      const ssize_t count = ::recv(from.get(), bytes.data(), bytes.size(), 0);
      if (count <= 0) break;
      bytes.resize(static_cast<std::size_t>(count));
      {
        const std::lock_guard lock(mutex_);
        const Change& change = outward ? change_ : change_back_;
        if (change) change(bytes);
      }
      for (std::size_t at = 0; at < bytes.size();) {
        const ssize_t sent = ::send(to.get(), bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
        if (sent <= 0) break;
        at += static_cast<std::size_t>(sent);
      }
    }
    ::shutdown(from.get(), SHUT_RDWR);
    ::shutdown(to.get(), SHUT_RDWR);
  }

  std::mutex mutex_;
  Change change_;
  Change change_back_;
  std::vector<std::shared_ptr<Fd>> sockets_;
  std::vector<std::thread> threads_;
  Listener listener_;
};

constexpr unsigned kStreams = 3;

/// How two sets talk to each other.
struct Way {
  Encryption encryption;
  bool ucx;
  bool pieces = true;  ///< Pass::sealed_pieces
};
void PrintTo(const Way& way, std::ostream* to) {
  std::string name(to_text(way.encryption));
  name[0] = static_cast<char>(std::toupper(name[0]));
  *to << name << (way.ucx ? "ThroughUcx" : "") << (way.pieces ? "" : "OfAnOlderWorker");
}

/// Two sets that are connected to each other, with somebody in the middle.
class StreamSets : public testing::TestWithParam<Way> {
 protected:
  StreamSets() {
    // Before UCX reads its environment.
    ::setenv("UCX_TLS", "tcp,self", 0);
    target.secret.assign(32, 7);
    target.encryption = GetParam().encryption;
    target.known = {.headers = true, .pieces = GetParam().pieces};
    target.ucx = GetParam().ucx;
    target.endpoint = "tcp://127.0.0.1:" + std::to_string(middle.port());
  }
  ~StreamSets() override {
    if (here) here->close();
    there->close();
  }

  void connect(std::chrono::milliseconds patience = 20s, unsigned streams = kStreams) {
    here.emplace(near, patience, target);
    here->open(streams, kFirstBulkLine);
  }
  /// Sends parts of these sizes in both directions at the same time.
  void expect_exchange(const std::vector<std::size_t>& sizes) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      here->send(part(1, i, sizes[i]));
      there->send(part(2, i, sizes[i]));
    }
    EXPECT_TRUE(eventually([&] { return far.count() == sizes.size() && near.count() == sizes.size(); }));
    EXPECT_TRUE(far.flawless());
    EXPECT_TRUE(near.flawless());
  }
  void accept(Fd socket) {
    StreamRequest::Message message{};
    if (::recv(socket.get(), message.data(), message.size(), MSG_WAITALL) !=
        static_cast<ssize_t>(message.size()))
      return;
    const auto request = StreamRequest::decode(message);
    if (!request || !StreamRequest::authentic(message, secret)) return;
    there->accept(std::move(socket), *request, secret);
  }
  static PeerData part(CommandId transfer, std::uint64_t offset, std::size_t size) {
    auto bytes = std::make_shared<std::vector<std::byte>>(content(transfer, offset, size));
    return {transfer, offset, 0, {*bytes, bytes}};
  }

  const Bytes secret = Bytes(32, 7);
  Receiver near;
  Receiver far;
  std::unique_ptr<StreamSet> there = std::make_unique<StreamSet>(far);
  std::optional<StreamSet> here;
  Listener worker{[this](Fd socket) { accept(std::move(socket)); }};
  Middle middle{worker.port()};
  StreamTarget target;
};

TEST(PartSize, LetsAllStreamsCarryTheSame) {
  constexpr std::uint64_t kEnough = 64 * kMiB;
  for (unsigned streams = 1; streams <= 16; ++streams) {
    for (std::uint64_t size = 1; size < kEnough; size = 2 * size + 12345) {
      const std::size_t part = part_size(size, streams);
      EXPECT_LE(kLeastPartSize, part);
      EXPECT_LE(part, kPartSize);
      EXPECT_EQ(0U, part % (4 * kKiB));
      const std::uint64_t parts = (size + part - 1) / part;
      // As many rounds as with the largest parts, so that no stream carries more than another by chance.
      EXPECT_EQ((parts + streams - 1) / streams, (size + streams * kPartSize - 1) / (streams * kPartSize))
          << size << " bytes, " << streams << " streams";
    }
  }
}

TEST(WindowSize, IsWhatTheEndsAndTwoRoundTripsHold) {
  using namespace std::chrono_literals;
  for (const Encryption encryption : {Encryption::None, Encryption::All}) {
    // Some parts for each stream, which all send on short ways.
    EXPECT_EQ(window_size(0ns, encryption),
              std::min<std::size_t>(stream_count(0ns, encryption) * 4 * kMiB, 64 * kMiB));
    // 25 Gb/s, which are 3 bytes per ns, and what was lost comes a round trip later.
    EXPECT_GE(window_size(2ms, encryption), 2 * 3 * 2'000'000U + 4 * kMiB);
    EXPECT_LE(window_size(2ms, encryption), window_size(10ms, encryption));
    EXPECT_EQ(window_size(1s, encryption), 64 * kMiB);
  }
}

TEST_P(StreamSets, CarryPartsInBothDirections) {
  connect();
  near.places = false;
  expect_exchange({0, 1, 4096, 100'000, kPartSize, kMaxPayload});
}

TEST_P(StreamSets, CarryPartsIntoExposedMemory) {
  connect();
  far.exposes = near.exposes = true;
  expect_exchange({1, 4096, kSealedPiece, kSealedPiece + 1, 300'001, kPartSize, kMaxPayload});
}

TEST_P(StreamSets, MeasureTheTimeOfTransfersOnly) {
  connect();
  const auto begin = std::chrono::steady_clock::now();
  constexpr std::size_t kParts = 4;
  for (std::size_t i = 0; i < kParts; ++i) here->send(part(1, i, kPartSize));
  ASSERT_TRUE(eventually([&] { return far.count() == kParts; }));
  // The last acknowledgement follows the data.
  const auto idle = [](StreamSet& set) {
    const auto before = set.traffic();
    std::this_thread::sleep_for(5ms);
    const auto after = set.traffic();
    return before.sending == after.sending && before.receiving == after.receiving;
  };
  ASSERT_TRUE(eventually([&] { return idle(*here) && idle(*there); }));
  const auto passed = std::chrono::steady_clock::now() - begin;
  const StreamSet::Traffic sent = here->traffic();
  const StreamSet::Traffic received = there->traffic();
  EXPECT_EQ(sent.sent, kParts * kPartSize);
  EXPECT_EQ(received.received, kParts * kPartSize);
  EXPECT_LT(0ns, sent.sending);
  EXPECT_LT(sent.sending, passed);
  EXPECT_LT(0ns, received.receiving);
  EXPECT_LT(received.receiving, passed);
  EXPECT_EQ(sent.receiving, 0ns);
  EXPECT_EQ(received.sending, 0ns);
  EXPECT_LE(1U, sent.lines);
  EXPECT_LE(sent.lines, kStreams);
  EXPECT_EQ(received.lines, sent.lines);
}

TEST_P(StreamSets, GoOnWhereConnectionsBroke) {
  connect();
  constexpr std::size_t kParts = 300;
  for (std::size_t i = 0; i < kParts; ++i) {
    here->send(part(1, i, 100'000));
    there->send(part(2, i, 100'000));
    if (i % 30 == 10) {
      std::this_thread::sleep_for(5ms);
      middle.cut();
    }
  }
  EXPECT_TRUE(eventually([&] { return far.count() == kParts && near.count() == kParts; }))
      << far.count() << " and " << near.count() << " of " << kParts;
  EXPECT_TRUE(far.flawless());
  EXPECT_TRUE(near.flawless());
  EXPECT_EQ(far.failures() + near.failures(), 0);
}

TEST_P(StreamSets, CompressWhatShrinks) {
  if (GetParam().ucx) GTEST_SKIP() << "nobody in the middle sees what travels through UCX";
  std::atomic<std::size_t> passed{0};
  middle.set_change([&](const std::vector<char>& bytes) { passed += bytes.size(); });
  constexpr std::size_t kParts = 10;
  for (const Compression compression : {Compression::Always, Compression::None}) {
    target.compression = compression;
    connect();
    const std::size_t before = far.count();
    passed = 0;
    for (std::size_t i = 0; i < kParts; ++i) {
      here->send(part(kEven, before + i, kPartSize));
      here->send(part(1, before + i, kPartSize));
    }
    EXPECT_TRUE(eventually([&] { return far.count() == before + 2 * kParts; }));
    if (compression == Compression::Always)
      EXPECT_LT(passed, kParts * kPartSize / 4 * 5);
    else
      EXPECT_GE(passed, 2 * kParts * kPartSize);
    EXPECT_EQ(here->traffic().sent, 2 * kParts * kPartSize);
    here->close();
    there->close();
    there = std::make_unique<StreamSet>(far);
  }
  EXPECT_TRUE(far.flawless());
}

TEST_P(StreamSets, ReleasePayloadsThatTheOtherEndHas) {
  connect();
  std::weak_ptr<const void> life;
  {
    PeerData data = part(1, 0, 2 * kPartSize);
    life = data.data.owner;
    here->send(std::move(data));
  }
  EXPECT_TRUE(eventually([&] { return life.expired(); }));
  EXPECT_EQ(far.count(), 1U);
}

TEST_P(StreamSets, SleepWhileNothingHappens) {
  connect();
  here->send(part(1, 0, 2 * kPartSize));
  there->send(part(2, 0, 2 * kPartSize));
  ASSERT_TRUE(eventually([&] { return far.count() == 1 && near.count() == 1; }));
  std::this_thread::sleep_for(50ms);
  const std::clock_t before = std::clock();
  std::this_thread::sleep_for(500ms);
  const double used = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  EXPECT_LT(used, 0.1) << "seconds of the processor's time";
}

TEST_P(StreamSets, ReleasePayloadsWhenClosed) {
  target.endpoint = "tcp://127.0.0.1:1";
  connect();
  PeerData data = part(1, 0, 1000);
  const std::weak_ptr<const void> life = data.data.owner;
  here->send(std::move(data));
  EXPECT_FALSE(life.expired());
  here->close();
  EXPECT_TRUE(life.expired());
}

TEST_P(StreamSets, FailIfNoConnectionCanBeRestored) {
  connect(500ms);
  here->send(part(1, 0, 1000));
  ASSERT_TRUE(eventually([&] { return far.count() == 1; }));
  middle.set_change([](std::vector<char>& bytes) { bytes.clear(); });
  middle.cut();
  EXPECT_TRUE(eventually([&] { return near.failures() > 0; }));
  EXPECT_NE(near.reason().find("could not be made"), std::string::npos) << near.reason();
}

TEST_P(StreamSets, FailAtOnceIfTheyCannotBeResumed) {
  connect(0ms);
  here->send(part(1, 0, 1000));
  ASSERT_TRUE(eventually([&] { return far.count() == 1; }));
  middle.cut();
  EXPECT_TRUE(eventually([&] { return near.failures() > 0; }));
  EXPECT_NE(near.reason().find("ended"), std::string::npos) << near.reason();
}

TEST_P(StreamSets, AdmitNobodyWhoDoesNotKnowTheSecret) {
  target.secret.assign(32, 8);
  connect(100ms);
  here->send(part(1, 0, 1000));
  EXPECT_TRUE(eventually([&] { return near.failures() > 0; }));
  EXPECT_EQ(far.count(), 0U);
}

std::vector<Way> ways() {
  const std::vector encryptions{Encryption::None, Encryption::Commands, Encryption::All};
  std::vector<Way> all;
  for (const Encryption encryption : encryptions) all.push_back({encryption, false});
  all.push_back({Encryption::All, false, false});
#ifndef CLIQUE_SANITIZE_THREAD  // which does not see how UCX's own threads synchronise
  if (ucx_missing().empty())
    for (const Encryption encryption : encryptions) all.push_back({encryption, true});
#endif
  return all;
}
INSTANTIATE_TEST_SUITE_P(Encrypted, StreamSets, testing::ValuesIn(ways()), testing::PrintToStringParamName());

/// What somebody in the middle may do to encrypted records.
class AttackedStreams : public StreamSets {};

TEST_P(AttackedStreams, EndWhenBytesAreChanged) {
  connect();
  here->send(part(1, 0, 1000));
  ASSERT_TRUE(eventually([&] { return far.count() == 1; }));
  middle.set_change([](std::vector<char>& bytes) { bytes[bytes.size() / 2] ^= 1; });
  for (std::uint64_t i = 1; i < 10; ++i) here->send(part(1, i, 200'000));
  EXPECT_TRUE(eventually([&] { return far.failures() > 0; }));
  EXPECT_NE(far.reason(), "");
  EXPECT_TRUE(far.flawless());
}

TEST_P(AttackedStreams, EndWhenBytesAreRepeated) {
  connect();
  here->send(part(1, 0, 1000));
  ASSERT_TRUE(eventually([&] { return far.count() == 1; }));
  middle.set_change([](std::vector<char>& bytes) {
    const std::vector<char> once = bytes;
    bytes.insert(bytes.end(), once.begin(), once.end());
  });
  for (std::uint64_t i = 1; i < 10; ++i) here->send(part(1, i, 1000));
  EXPECT_TRUE(eventually([&] { return far.failures() > 0; }));
  EXPECT_TRUE(far.flawless());
}

TEST_P(AttackedStreams, ShowNothingOfWhatTheyCarry) {
  std::vector<char> seen;
  middle.set_change([&](std::vector<char>& bytes) { seen.insert(seen.end(), bytes.begin(), bytes.end()); });
  connect();
  here->send(part(1, 0, 100'000));
  const bool arrived = eventually([&] { return far.count() == 1; });
  // The connections outlive `seen`.
  middle.set_change({});
  ASSERT_TRUE(arrived);
  const auto sent = content(1, 0, 100'000);
  ASSERT_GE(seen.size(), sent.size());
  for (std::size_t at = 0; at + 8 <= sent.size(); at += 1000) {
    const auto* const piece = reinterpret_cast<const char*>(sent.data() + at);
    EXPECT_EQ(std::search(seen.begin(), seen.end(), piece, piece + 8), seen.end()) << "the bytes at " << at;
  }
}

/// Lends one block of memory for parts, into which others may look at any time.
class ExposedBlock : public Receiver {
 public:
  explicit ExposedBlock(std::size_t size) : block_(size, kUntouched) { exposes = true; }
  std::shared_ptr<std::byte> place(const RecordHeader& /*part*/) override {
    return {block_.data(), [](auto*) {}};
  }
  std::span<const std::byte> block() const { return block_; }

  static constexpr std::byte kUntouched{0xa5};

 private:
  std::vector<std::byte> block_;
};

TEST_P(AttackedStreams, WriteNothingToExposedMemoryThatIsNotAuthentic) {
  constexpr std::size_t kSize = kPartSize;
  const auto sent = content(1, 1, kSize);
  // In the first piece, in a later one, and near the end.
  for (const std::size_t byte : {std::size_t{1000}, kSize / 2, kSize - 1000}) {
    SCOPED_TRACE("byte " + std::to_string(byte));
    ExposedBlock receiver(kSize);
    there = std::make_unique<StreamSet>(receiver);
    connect(0ms, 1);
    // With the handshake over, records are all that passes.
    here->send(part(1, 0, 0));
    ASSERT_TRUE(eventually([&] { return receiver.count() == 1; }));
    std::atomic<std::size_t> passed{0};
    middle.set_change([&](std::vector<char>& bytes) {
      const std::size_t before = passed.fetch_add(bytes.size());
      if (before <= byte && byte < before + bytes.size()) bytes[byte - before] ^= 1;
    });
    here->send(part(1, 1, kSize));
    EXPECT_TRUE(eventually([&] { return receiver.failures() > 0; }));
    EXPECT_EQ(receiver.count(), 1U) << "the changed part has arrived";
    here->close();
    there->close();
    middle.set_change({});
    const auto block = receiver.block();
    const auto end = std::ranges::mismatch(block, sent).in1;
    const auto written = static_cast<std::size_t>(end - block.begin());
    EXPECT_LE(written, byte) << "what was changed is in the memory";
    EXPECT_EQ(std::count(end, block.end(), ExposedBlock::kUntouched), block.end() - end);
    if (GetParam().pieces) {
      EXPECT_GE(written + kSealedPiece, byte) << "pieces arrive as they come";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Encrypted, AttackedStreams,
                         testing::Values(Way{Encryption::All, false}, Way{Encryption::All, false, false}),
                         testing::PrintToStringParamName());

/// What somebody in the middle may do to records whose headers alone are protected.
class ClearParts : public StreamSets {
 protected:
  /// Connects new sets. What is sent after the first part has arrived is records, never a handshake: there is
  /// one stream, and no connection follows the first one.
  void connect_once() {
    there = std::make_unique<StreamSet>(far);
    connect(0ms, 1);
  }

  /// Has a set send a part, and somebody change a byte of a record on the way. The set that receives ends,
  /// and the part does not arrive.
  void expect_end(std::size_t byte, bool outward) {
    SCOPED_TRACE("byte " + std::to_string(byte) + (outward ? " outward" : " back"));
    connect_once();
    Receiver& receiver = outward ? far : near;
    here->send(part(1, next_, 1000));
    there->send(part(2, next_, 1000));
    ++next_;
    ASSERT_TRUE(eventually([&] { return far.count() == next_ && near.count() == next_; }));
    const int failures = receiver.failures();
    // An acknowledgement may come first. It is a record of as many bytes.
    std::size_t passed = 0;
    const auto change = [&](std::vector<char>& bytes) {
      if (passed <= byte && byte < passed + bytes.size()) bytes[byte - passed] ^= 1;
      passed += bytes.size();
    };
    outward ? middle.set_change(change) : middle.set_change_back(change);
    (outward ? *here : *there).send(part(1, kChanged, 1000));
    EXPECT_TRUE(eventually([&] { return receiver.failures() > failures; }));
    EXPECT_NE(receiver.reason().find("is not what the other end has sent"), std::string::npos)
        << receiver.reason();
    middle.set_change({});
    middle.set_change_back({});
    EXPECT_TRUE(receiver.flawless());
    EXPECT_EQ(receiver.count(), next_) << "the changed part has arrived";
    here->close();
    there->close();
  }

  static constexpr std::uint64_t kChanged = 1'000'000;
  std::size_t next_ = 0;
};

TEST_P(ClearParts, EndWhenAnyByteOfAHeaderIsChanged) {
  for (std::size_t byte = 0; byte < RecordHeader::kBytes + sizeof(RecordTag); ++byte)
    for (const bool outward : {true, false}) expect_end(byte, outward);
}

TEST_P(ClearParts, EndWhenRecordsAreRepeatedOrRemoved) {
  for (const bool repeated : {true, false}) {
    connect_once();
    const std::size_t before = far.count();
    here->send(part(1, before, 1000));
    ASSERT_TRUE(eventually([&] { return far.count() == before + 1; }));
    const int failures = far.failures();
    std::atomic<bool> done{false};
    middle.set_change([&](std::vector<char>& bytes) {
      if (done.exchange(true)) return;
      const std::vector<char> once = bytes;
      if (repeated)
        bytes.insert(bytes.end(), once.begin(), once.end());
      else
        bytes.clear();
    });
    // All that was sent may be removed at once, so that only what follows shows it.
    std::uint64_t next = before;
    EXPECT_TRUE(eventually([&] {
      here->send(part(1, ++next, 1000));
      return far.failures() > failures;
    }));
    middle.set_change({});
    here->close();
    there->close();
  }
  EXPECT_TRUE(far.flawless());
}

TEST_P(ClearParts, OfAnOlderWorkerHaveNoProtection) {
  target.known.headers = false;
  connect();
  here->send(part(1, 0, 1000));
  there->send(part(2, 0, 1000));
  EXPECT_TRUE(eventually([&] { return far.count() == 1 && near.count() == 1; }));
  EXPECT_TRUE(far.flawless());
  EXPECT_TRUE(near.flawless());
}

INSTANTIATE_TEST_SUITE_P(Encrypted, ClearParts, testing::Values(Way{Encryption::Commands, false}));

}  // namespace
}  // namespace clique::protocol
