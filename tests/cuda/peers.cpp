// Transfers between two GPUs of one node.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <numeric>
#include <thread>

#include "protocol/fd.hpp"
#include "session.hpp"

namespace clique::test {
namespace {

/// The parameter: whether the workers share memory, and with it use windows.
class CudaPeers : public testing::TestWithParam<bool> {};

TEST_P(CudaPeers, GivenManyTransfersBackAndForthThenEachSeesTheLatest) {
  constexpr PeerId kB = 1, kA = 2;
  constexpr CommandId kRead = 5000;
  FakeNode node;
  FakeGpuClient a(node);
  FakeGpuClient b(node);
  a.send(ConnectPeer{kB, b.peers_endpoint(), b.address.peer, GetParam() ? b.address.shared : ""});
  b.send(ConnectPeer{kA, a.peers_endpoint(), a.address.peer, GetParam() ? a.address.shared : ""});
  constexpr std::uint64_t kCount = 3'000'000;
  a.make_zeros(kBuffer, kCount);
  b.make_zeros(kBuffer, kCount);
  // Each worker increments all numbers, then pushes them to the other.
  CommandId id = 100;
  CommandId arrived = 0;
  int last = 0;
  // The first transfers always go through the host's memory.
  const auto window = [&] { return node.logged("copied directly from its memory"); };
  for (int i = 0; i < 6 || (GetParam() && !window()); ++i) {
    last = i + 1;
    FakeGpuClient& from = i % 2 == 0 ? a : b;
    FakeGpuClient& to = i % 2 == 0 ? b : a;
    const CommandId step = ++id;
    const CommandId transfer = ++id;
    const CommandId push = ++id;
    from.send(RunKernel{command(step, Command::kEvent,
                                arrived != 0 ? std::vector<CommandId>{arrived} : std::vector<CommandId>{}),
                        kIncrement,
                        {object_arg(0, kBuffer)},
                        {},
                        {kCount},
                        {}},
              Push{command(push, Command::kReport, {step}, kOutOfOrder), kBuffer, 0, kCount * 4,
                   i % 2 == 0 ? kB : kA, transfer});
    to.send(Expect{command(transfer, Command::kReport, {}, kOutOfOrder), kBuffer, 0, kCount * 4});
    EXPECT_EQ(from.ended(push).status, 0);
    EXPECT_EQ(to.ended(transfer).status, 0);
    arrived = transfer;
  }
  a.send(ReadBuffer{command(kRead, Command::kReport, {arrived}), 0, kBuffer, kCount * 4 - 8, 8});
  const auto bytes = a.data(kRead);
  const std::array<int, 2> numbers{last, last};
  EXPECT_EQ(std::memcmp(bytes.data(), numbers.data(), sizeof numbers), 0);
  EXPECT_EQ(window(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Links, CudaPeers, testing::Bool(), [](const auto& parameter) {
  return std::string(parameter.param ? "SharedMemory" : "Socket");
});

/// What fake_driver/memory.cpp writes into a CUipcMemHandle.
struct FakeHandle {
  pid_t process;
  int file;
  std::size_t size;

  Bytes bytes() const {
    Bytes handle(64);
    std::memcpy(handle.data(), this, sizeof *this);
    return handle;
  }
};

/// Plays another worker, which receives what a worker pushes through memory that both share.
class FakeReceiver {
 public:
  static constexpr PeerId kPeer = 1;

  explicit FakeReceiver(Client& from) : socket_(context_, zmq::socket_type::router) {
    socket_.bind("tcp://127.0.0.1:*");
    from.send(ConnectPeer{kPeer, socket_.get(zmq::sockopt::last_endpoint), Pass{}, offer_.name()});
    const bool taken = eventually([this] {
      listen();
      if (const auto guest = offer_.serve("client", "")) memory_ = guest->memory;
      return memory_ != nullptr;
    });
    if (!taken) throw std::runtime_error("the worker does not take the memory");
  }

  /// Receives all messages that have come.
  void listen() {
    Incoming incoming;
    // The first message of each line only identifies the line.
    while (protocol::receive(socket_, incoming)) {
      const auto [line, is_new] = received_.try_emplace(incoming.routing_id, 0);
      if (!is_new) {
        read(incoming);
        ++line->second;
      }
      Batch batch;
      batch.add(Received{line->second});
      protocol::send(socket_, batch, incoming.routing_id);
    }
    while (memory_ && memory_->receive(incoming) == SharedMemory::Received::Batch) read(incoming);
  }

  std::vector<OpenWindow> offers;
  std::vector<WindowData> parts;
  std::uint64_t through_host = 0;  ///< bytes

 private:
  void read(const Incoming& incoming) {
    reader_.read(PeerMessages{}, incoming.records, incoming.frames, incoming.owner,
                 [this](auto&& message) { take(std::forward<decltype(message)>(message)); });
  }
  void take(OpenWindow&& offer) { offers.push_back(std::move(offer)); }
  void take(WindowData&& part) { parts.push_back(std::move(part)); }
  void take(PeerData&& part) { through_host += part.data.bytes.size(); }
  void take(PeerDone&& /*done*/) {}

  zmq::context_t context_;
  zmq::socket_t socket_;
  SharedOffer offer_;
  std::shared_ptr<SharedMemory> memory_;
  std::map<std::string, std::uint64_t> received_;  // batches of each line
  BatchReader reader_;
};

/// A worker whose kBuffer has 6,000,000 bytes, and a receiver of what it pushes.
class CudaWindow : public testing::Test {
 protected:
  CudaWindow() {
    worker_.send(CreateBuffer{kBuffer, kContext, kReadWrite, kSize});
    // The memory has been taken by the time that a push finds it.
    while (receiver_.offers.empty()) {
      EXPECT_TRUE(push().empty());
      EXPECT_EQ(receiver_.through_host, kSize);
    }
  }
  /// Waits until all of a push has come. @returns its parts in the window.
  std::vector<WindowData> push(const std::function<void(std::vector<WindowData>&)>& look = {}) {
    std::vector<WindowData> all;
    const CommandId id = id_ += 2;
    receiver_.through_host = 0;
    worker_.send(
        Push{command(id, Command::kReport, {}, kOutOfOrder), kBuffer, 0, kSize, FakeReceiver::kPeer, id + 1});
    std::uint64_t in_window = 0;
    EXPECT_TRUE(eventually([&] {
      receiver_.listen();
      for (const WindowData& part : receiver_.parts) in_window += part.size;
      if (look) look(receiver_.parts);
      for (WindowData& part : receiver_.parts) {
        part.hold = {};
        all.push_back(std::move(part));
      }
      receiver_.parts.clear();
      return receiver_.through_host + in_window == kSize;
    }));
    EXPECT_EQ(worker_.ended(id).status, 0);
    return all;
  }

  static constexpr std::uint64_t kSize = 6'000'000;
  FakeNode node_;
  FakeGpuClient worker_{node_};
  FakeReceiver receiver_{worker_};

 private:
  CommandId id_ = 10'000;
};

TEST_F(CudaWindow, GivenConsentThenPartsLieInTheWindow) {
  constexpr CommandId kWrite = 100;
  FakeHandle handle{};
  ASSERT_EQ(receiver_.offers.size(), 1U);
  ASSERT_GE(receiver_.offers[0].handle.size(), sizeof handle);
  std::memcpy(&handle, receiver_.offers[0].handle.data(), sizeof handle);
  const std::string path = "/proc/" + std::to_string(handle.process) + "/fd/" + std::to_string(handle.file);
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(file);
  void* const memory = ::mmap(nullptr, handle.size, PROT_READ, MAP_SHARED, file.get(), 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::vector<std::uint32_t> numbers(kSize / 4);
  std::iota(numbers.begin(), numbers.end(), 5U);
  worker_.send(WriteBuffer{command(kWrite), kBuffer, 0, payload(numbers.data(), kSize)});
  EXPECT_EQ(worker_.ended(kWrite).status, 0);

  receiver_.offers[0].consent = {};
  std::vector<std::byte> seen(kSize);
  std::size_t parts = 0;
  const auto copy = [&](const std::vector<WindowData>& some) {
    for (const WindowData& part : some) {
      ASSERT_EQ(part.window, receiver_.offers[0].window);
      ASSERT_LE(part.at + part.size, handle.size);
      ASSERT_LE(part.offset + part.size, kSize);
      std::memcpy(seen.data() + part.offset, static_cast<const std::byte*>(memory) + part.at, part.size);
    }
  };
  // The worker notices the consent when it next looks.
  ASSERT_TRUE(eventually([&] { return (parts = push(copy).size()) > 0; }));
  EXPECT_EQ(receiver_.through_host, 0U);
  EXPECT_GE(parts, 2U);
  EXPECT_EQ(std::memcmp(seen.data(), numbers.data(), kSize), 0);
  ::munmap(memory, handle.size);
}

TEST_F(CudaWindow, GivenNoConsentThenNothingLiesInTheWindow) {
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(push().empty());
  EXPECT_EQ(receiver_.offers.size(), 1U) << "it is asked once";
}

TEST_F(CudaWindow, GivenPartsThatAreKeptThenTheRestGoesThroughTheHost) {
  receiver_.offers[0].consent = {};
  ASSERT_TRUE(eventually([&] { return !push().empty(); }));
  // Pushes more than the window holds, and returns none of it.
  std::vector<WindowData> kept;
  const auto keep = [&kept](std::vector<WindowData>& some) {
    kept.insert(kept.end(), some.begin(), some.end());
  };
  std::vector<CommandId> pushes;
  constexpr unsigned kPushes = 60;
  for (unsigned i = 0; i < kPushes; ++i) {
    pushes.push_back(20'000 + i);
    worker_.send(Push{command(pushes.back(), Command::kReport, {}, kOutOfOrder), kBuffer, 0, kSize,
                      FakeReceiver::kPeer, 30'000 + i});
  }
  receiver_.through_host = 0;
  ASSERT_TRUE(eventually([&] {
    receiver_.listen();
    keep(receiver_.parts);
    receiver_.parts.clear();
    return receiver_.through_host > 0;
  }));
  // Once the parts are returned, all pushes complete.
  kept.clear();
  std::atomic<bool> over = false;
  std::thread listener([&] {
    while (!over) {
      receiver_.listen();
      receiver_.parts.clear();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  for (const CommandId id : pushes) EXPECT_EQ(worker_.ended(id).status, 0);
  over = true;
  listener.join();
}

/// A worker, and memory that plays another worker's, shared with it.
class CudaPeerWindow : public testing::Test {
 protected:
  static constexpr WindowId kWindow = 77;
  static constexpr CommandId kExpect = 200, kRead = 201;

  CudaPeerWindow() {
    memory_ = shared_by(worker_.address, Guest::Peer);
    worker_.make_zeros(kBuffer, 1000);
  }
  /// Blocks that the worker has not returned would keep the memory.
  ~CudaPeerWindow() override { memory_->forget_loans(); }
  template <typename M>
  void tell(const M& message) {
    Batch batch;
    batch.add(message);
    ASSERT_EQ(memory_->try_send(batch), SharedMemory::Sent::Yes);
  }
  /// What a peer returns.
  Payload token() { return {std::as_bytes(std::span(meaningless_)), nullptr}; }
  bool given_back() {
    return eventually([this] { return !memory_->collect(); });
  }

  FakeNode node_;
  FakeGpuClient worker_{node_};
  std::shared_ptr<SharedMemory> memory_;

 private:
  std::array<char, kInlinePayload + 1> meaningless_{};
};

TEST_F(CudaPeerWindow, GivenPartThenItIsCopiedAndGivenBack) {
  const Fd file(::memfd_create("window", MFD_CLOEXEC));
  const std::array<int, 4> numbers{1, 2, 3, 4};
  ASSERT_EQ(::write(file.get(), numbers.data(), sizeof numbers), ssize_t{sizeof numbers});
  tell(OpenWindow{kWindow, FakeHandle{::getpid(), file.get(), sizeof numbers}.bytes(), token()});
  ASSERT_TRUE(given_back());
  worker_.send(Expect{command(kExpect, Command::kReport, {}, kOutOfOrder), kBuffer, 100, 8});
  tell(WindowData{kExpect, 0, kWindow, 4, 8, token()});
  EXPECT_EQ(worker_.ended(kExpect).status, 0);
  EXPECT_TRUE(given_back());
  worker_.send(ReadBuffer{command(kRead), 0, kBuffer, 96, 16});
  const auto data = worker_.data(kRead);
  const std::array<int, 4> expected{0, 2, 3, 0};
  EXPECT_EQ(std::memcmp(data.data(), expected.data(), sizeof expected), 0);
}

TEST_F(CudaPeerWindow, GivenMemoryThatCannotBeOpenedThenNoConsent) {
  tell(OpenWindow{kWindow, FakeHandle{::getpid(), -1, 64}.bytes(), token()});
  tell(OpenWindow{kWindow + 1, Bytes(3), token()});
  // Messages are handled in order, so the offers were handled before this transfer ends.
  worker_.send(Expect{command(kExpect, Command::kReport, {}, kOutOfOrder), kBuffer, 0, 4});
  tell(PeerData{kExpect, 0, 0, payload("abcd", 4)});
  EXPECT_EQ(worker_.ended(kExpect).status, 0);
  EXPECT_TRUE(memory_->collect());
}

TEST_F(CudaPeerWindow, GivenPartOutsideOfTheWindowThenTheRuleIsBroken) {
  const Fd file(::memfd_create("window", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(file.get(), 16), 0);
  tell(OpenWindow{kWindow, FakeHandle{::getpid(), file.get(), 16}.bytes(), token()});
  ASSERT_TRUE(given_back());
  worker_.send(Expect{command(kExpect, Command::kReport, {}, kOutOfOrder), kBuffer, 0, 8});
  tell(WindowData{kExpect, 0, kWindow, 12, 8, token()});
  EXPECT_NE(worker_.next<SessionEnded>().reason.find("outside of its window"), std::string::npos);
}

TEST_F(CudaPeerWindow, GivenWindowThatIsNotOpenThenTheRuleIsBroken) {
  worker_.send(Expect{command(kExpect, Command::kReport, {}, kOutOfOrder), kBuffer, 0, 8});
  tell(WindowData{kExpect, 0, kWindow, 0, 8, token()});
  EXPECT_NE(worker_.next<SessionEnded>().reason.find("not open"), std::string::npos);
}

}  // namespace
}  // namespace clique::test
