// Two GPUs of one node exchange data.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <numeric>
#include <thread>

#include "protocol/fd.hpp"
#include "protocol/transport/shared_offer.hpp"
#include "session.hpp"

namespace clique::test {
namespace {

/// With and without memory that the workers share, and with that a window.
class CudaPeers : public testing::TestWithParam<bool> {};

TEST_P(CudaPeers, GivenManyTransfersBackAndForthThenEachSeesTheLatest) {
  FakeNode node;
  FakeGpuClient a(node);
  FakeGpuClient b(node);
  a.send(ConnectPeer{1, b.peers_endpoint(), b.address.token, GetParam() ? b.address.shared : ""});
  b.send(ConnectPeer{2, a.peers_endpoint(), a.address.token, GetParam() ? a.address.shared : ""});
  constexpr std::uint64_t kCount = 3'000'000;
  a.make_zeros(5, kCount);
  b.make_zeros(5, kCount);
  // Each worker increments all numbers, then hands them to the other.
  CommandId id = 100;
  CommandId arrived = 0;
  int last = 0;
  // The first ones go through the host's memory in any case.
  const auto window = [&] { return node.logged("leaves data for this one"); };
  for (int i = 0; i < 6 || (GetParam() && !window()); ++i) {
    last = i + 1;
    FakeGpuClient& from = i % 2 == 0 ? a : b;
    FakeGpuClient& to = i % 2 == 0 ? b : a;
    const CommandId step = ++id;
    const CommandId transfer = ++id;
    const CommandId push = ++id;
    from.send(RunKernel{command(step, Command::kEvent,
                                arrived != 0 ? std::vector<CommandId>{arrived} : std::vector<CommandId>{}),
                        10,
                        {object_arg(0, 5)},
                        {},
                        {kCount},
                        {}},
              Push{command(push, Command::kReport, {step}, 3), 5, 0, kCount * 4,
                   static_cast<PeerId>(i % 2 == 0 ? 1 : 2), transfer});
    to.send(Expect{command(transfer, Command::kReport, {}, 3), 5, 0, kCount * 4});
    EXPECT_EQ(from.ended(push).status, 0);
    EXPECT_EQ(to.ended(transfer).status, 0);
    arrived = transfer;
  }
  a.send(ReadBuffer{command(5000, Command::kReport, {arrived}), 0, 5, kCount * 4 - 8, 8});
  const auto bytes = a.data(5000);
  const std::array<int, 2> numbers{last, last};
  EXPECT_EQ(std::memcmp(bytes.data(), numbers.data(), sizeof numbers), 0);
  EXPECT_EQ(window(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Links, CudaPeers, testing::Bool(), [](const auto& parameter) {
  return std::string(parameter.param ? "SharedMemory" : "Socket");
});

/// What fake_driver.cpp writes into the handle of memory that others may open.
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

/// Another worker, by hand: what a worker pushes to it through memory that both share.
class FakeReceiver {
 public:
  explicit FakeReceiver(Client& from) : socket_(context_, zmq::socket_type::router) {
    socket_.bind("tcp://127.0.0.1:*");
    from.send(ConnectPeer{1, socket_.get(zmq::sockopt::last_endpoint), "token", offer_.name()});
    const bool taken = eventually([this] {
      listen();
      if (const auto guest = offer_.serve("token")) memory_ = guest->memory;
      return memory_ != nullptr;
    });
    if (!taken) throw std::runtime_error("the worker does not take the memory");
  }

  /// Takes what has come.
  void listen() {
    Incoming incoming;
    // Lines; the first message of each only says which one it is.
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

/// A worker with a buffer (5) of 6,000,000 bytes, and who receives what it pushes.
class CudaWindow : public testing::Test {
 protected:
  CudaWindow() {
    worker_.send(CreateBuffer{5, 1, 1, kSize});
    // The memory has been taken by the time that a push finds it.
    while (receiver_.offers.empty()) {
      EXPECT_TRUE(push().empty());
      EXPECT_EQ(receiver_.through_host, kSize);
    }
  }
  /// @returns the parts of a push that lie in the window, once all of it has come.
  std::vector<WindowData> push(const std::function<void(std::vector<WindowData>&)>& look = {}) {
    std::vector<WindowData> all;
    const CommandId id = id_ += 2;
    receiver_.through_host = 0;
    worker_.send(Push{command(id, Command::kReport, {}, 3), 5, 0, kSize, 1, id + 1});
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
  worker_.send(WriteBuffer{command(100), 5, 0, payload(numbers.data(), kSize)});
  EXPECT_EQ(worker_.ended(100).status, 0);

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
  // The worker hears of the consent when it looks next.
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
  // More than the window holds is pushed, and nothing given back.
  std::vector<WindowData> kept;
  const auto keep = [&kept](std::vector<WindowData>& some) {
    kept.insert(kept.end(), some.begin(), some.end());
  };
  std::vector<CommandId> pushes;
  constexpr unsigned kPushes = 60;
  for (unsigned i = 0; i < kPushes; ++i) {
    pushes.push_back(20'000 + i);
    worker_.send(Push{command(pushes.back(), Command::kReport, {}, 3), 5, 0, kSize, 1, 30'000 + i});
  }
  receiver_.through_host = 0;
  ASSERT_TRUE(eventually([&] {
    receiver_.listen();
    keep(receiver_.parts);
    receiver_.parts.clear();
    return receiver_.through_host > 0;
  }));
  // Given back, all of them end.
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

/// A worker, and memory that another one would share with it.
class CudaPeerWindow : public testing::Test {
 protected:
  CudaPeerWindow() {
    memory_ = take_shared_offer(worker_.address.shared, worker_.address.token, Guest::Peer, kPatience);
    if (!memory_) throw std::runtime_error("the worker has no memory to offer");
    worker_.make_zeros(5, 1000);
  }
  /// What nobody gives back keeps the memory.
  ~CudaPeerWindow() override { memory_->forget_loans(); }
  template <typename M>
  void tell(const M& message) {
    Batch batch;
    batch.add(message);
    ASSERT_EQ(memory_->try_send(batch), SharedMemory::Sent::Yes);
  }
  /// What a peer gives back.
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
  tell(OpenWindow{77, FakeHandle{::getpid(), file.get(), sizeof numbers}.bytes(), token()});
  ASSERT_TRUE(given_back());
  worker_.send(Expect{command(200, Command::kReport, {}, 3), 5, 100, 8});
  tell(WindowData{200, 0, 77, 4, 8, token()});
  EXPECT_EQ(worker_.ended(200).status, 0);
  EXPECT_TRUE(given_back());
  worker_.send(ReadBuffer{command(201), 0, 5, 96, 16});
  const auto data = worker_.data(201);
  const std::array<int, 4> expected{0, 2, 3, 0};
  EXPECT_EQ(std::memcmp(data.data(), expected.data(), sizeof expected), 0);
}

TEST_F(CudaPeerWindow, GivenMemoryThatCannotBeOpenedThenNoConsent) {
  tell(OpenWindow{77, FakeHandle{::getpid(), -1, 64}.bytes(), token()});
  tell(OpenWindow{78, Bytes(3), token()});
  // What comes behind has been looked at later.
  worker_.send(Expect{command(200, Command::kReport, {}, 3), 5, 0, 4});
  tell(PeerData{200, 0, 0, payload("abcd", 4)});
  EXPECT_EQ(worker_.ended(200).status, 0);
  EXPECT_TRUE(memory_->collect());
}

TEST_F(CudaPeerWindow, GivenPartOutsideOfTheWindowThenTheRuleIsBroken) {
  const Fd file(::memfd_create("window", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(file.get(), 16), 0);
  tell(OpenWindow{77, FakeHandle{::getpid(), file.get(), 16}.bytes(), token()});
  ASSERT_TRUE(given_back());
  worker_.send(Expect{command(200, Command::kReport, {}, 3), 5, 0, 8});
  tell(WindowData{200, 0, 77, 12, 8, token()});
  EXPECT_NE(worker_.next<SessionEnded>().reason.find("outside of its window"), std::string::npos);
}

TEST_F(CudaPeerWindow, GivenWindowThatIsNotOpenThenTheRuleIsBroken) {
  worker_.send(Expect{command(200, Command::kReport, {}, 3), 5, 0, 8});
  tell(WindowData{200, 0, 77, 0, 8, token()});
  EXPECT_NE(worker_.next<SessionEnded>().reason.find("not open"), std::string::npos);
}

}  // namespace
}  // namespace clique::test
