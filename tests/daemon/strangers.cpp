// Whatever somebody sends, to whichever socket: at most his own session ends, with a reason, and nobody else
// notices.
#include <arpa/inet.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <random>

#include "harness.hpp"
#include "ids.hpp"
#include "protocol/streams/dial.hpp"
#include "protocol/streams/record.hpp"

namespace clique::test {
namespace {

class Strangers : public testing::Test {
 protected:
  Strangers() { bystander_.set_up(); }
  void TearDown() override {
    EXPECT_TRUE(works(bystander_)) << node_.log();
    EXPECT_TRUE(alive(node_.pid()));
    Client later(node_);
    later.set_up();
    EXPECT_TRUE(works(later)) << "new sessions must be possible still";
  }
  static bool works(Client& client) { return client.finish().status == 0; }
  /// The reason with which the session ends.
  static std::string end_of(Client& client) { return client.next<SessionEnded>().reason; }
  std::vector<std::uint16_t> ports(const WorkerAddress& worker) const {
    const auto& daemon = node_.endpoint();
    return {static_cast<std::uint16_t>(std::stoi(daemon.substr(daemon.rfind(':') + 1))), worker.commands,
            worker.reports, worker.peers};
  }

  Node node_;
  Client bystander_{node_};
};

/// Bytes of memory that a process uses.
std::uint64_t memory_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/statm");
  std::uint64_t size = 0;
  std::uint64_t resident = 0;
  file >> size >> resident;
  EXPECT_GT(resident, 0U);
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::string records_of(const auto&... messages) {
  Batch batch;
  (batch.add(messages), ...);
  const auto bytes = batch.records();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST_F(Strangers, GivenRawTcpRubbishThenNobodyNotices) {
  std::mt19937 random(1);
  for (const std::uint16_t port : ports(bystander_.address)) {
    for (int i = 0; i < 4; ++i) {
      const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(port);
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      ASSERT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
      std::string rubbish = i == 0 ? "GET / HTTP/1.0\r\n\r\n" : std::string(100 * i, '\0');
      if (i > 0)
        for (char& c : rubbish) c = static_cast<char>(random());
      static_cast<void>(!::send(fd, rubbish.data(), rubbish.size(), MSG_NOSIGNAL));
      ::close(fd);
    }
  }
  EXPECT_TRUE(works(bystander_));
}

TEST_F(Strangers, GivenRubbishInFramesThenItIsDroppedAndLogged) {
  std::mt19937 random(2);
  // Open until the end: what a closed socket has not sent yet, nobody receives.
  std::vector<zmq::socket_t> sockets;
  for (const std::uint16_t port : {bystander_.address.commands, bystander_.address.reports}) {
    zmq::socket_t& socket = sockets.emplace_back(dealer(port, bystander_.address.client));
    send_frames(socket, {""});
    send_frames(socket, {"", "", ""});
    send_frames(socket, {std::string(1000, '\xff')});
    send_frames(socket, {records_of(Attach{})});
    send_frames(socket, {records_of(Goodbye{})});
    send_frames(socket, {records_of(Hello{1, protocol::Wish::Session, "x"}).substr(0, 3)});
    for (int i = 0; i < 50; ++i) {
      std::string rubbish(random() % 200, '\0');
      for (char& c : rubbish) c = static_cast<char>(random());
      send_frames(socket, {rubbish, rubbish});
    }
    EXPECT_TRUE(works(bystander_));
  }
  EXPECT_TRUE(eventually([&] { return node_.logged("that does not attach"); })) << node_.log();
}

TEST_F(Strangers, GivenALongFirstMessageThenItIsDroppedUnread) {
  const WorkerAddress worker = hello(node_.endpoint()).workers.at(0);
  // All right but for its length.
  std::string right;
  while (right.size() <= Limits::kFirstBatchBytes) right += records_of(Attach{});
  std::vector<zmq::socket_t> sockets;
  const auto send = [&](std::uint16_t port, const std::vector<std::string>& frames) {
    const Pass& pass = port == worker.peers ? worker.peer : worker.client;
    send_frames(sockets.emplace_back(dealer(port, pass)), frames);
  };
  send(worker.commands, {records_of(Attach{}), "a frame"});
  // Not more than are logged each second.
  for (const std::uint16_t port : {worker.commands, worker.reports, worker.peers}) send(port, {right});
  for (const std::string socket : {"commands", "reports", "peers"}) {
    const std::string said =
        socket + " socket that does not attach: it has " + std::to_string(right.size()) + " bytes";
    EXPECT_TRUE(eventually([&] { return node_.logged(said); })) << said << '\n' << node_.log();
  }
  EXPECT_TRUE(eventually([&] { return node_.logged("and 1 payload frames"); })) << node_.log();
  Client client(worker);
  client.set_up();
  EXPECT_TRUE(works(client));
}

TEST_F(Strangers, GivenANameWithLineBreaksThenItForgesNoLine) {
  const std::string forged = "\n2026-01-01 00:00:00.000 cliqued[1] info: all is well";
  Client client(node_, "mallory" + forged + "\x1b[2J");
  client.set_up();
  EXPECT_TRUE(works(client));
  EXPECT_TRUE(eventually([&] { return node_.logged("mallory\\n2026-01-01 00:00:00.000"); })) << node_.log();
  EXPECT_FALSE(node_.logged(forged));
  EXPECT_FALSE(node_.logged("\x1b"));
}

/// Passes that do not admit to a socket for which `right` is the right one and `other` the other role's.
std::vector<Pass> wrong_passes(const Pass& right, const Pass& other) {
  return {{}, {"", std::string(40, '0')}, {"", right.secret + "0"}, other};
}

TEST_F(Strangers, GivenAWrongPassThenTheSocketLearnsNothing) {
  const WorkerAddress worker = hello(node_.endpoint()).workers.at(0);
  std::vector<zmq::socket_t> sockets;
  const auto try_all = [&](std::uint16_t port, const Pass& right, const Pass& other) {
    for (const Pass& pass : wrong_passes(right, other)) {
      zmq::socket_t& socket = sockets.emplace_back(dealer(port, pass));
      send(socket, Attach{});
      send_frames(socket, {"rubbish"});
    }
  };
  try_all(worker.commands, worker.client, worker.peer);
  try_all(worker.reports, worker.client, worker.peer);
  try_all(worker.peers, worker.peer, worker.client);
  // Those who have the pass are still welcome.
  Client client(worker);
  client.set_up();
  EXPECT_TRUE(works(client));
  EXPECT_FALSE(node_.logged("that does not attach")) << node_.log();
}

// ROUTER gives peers without an id of their own ids of five bytes, the first of which is zero. ZeroMQ 4.3
// ends the process when a peer has chosen one of these.
TEST_F(Strangers, GivenPeersThatChooseIdsOfRoutersThenNobodyNotices) {
  std::vector<zmq::socket_t> sockets;
  for (const std::uint16_t port : ports(bystander_.address)) {
    // Ids from the first one on that ZeroMQ gives without a seed.
    for (std::uint32_t id = 0x6b8b4567; id < 0x6b8b4567 + 40; ++id) {
      zmq::socket_t& socket = sockets.emplace_back(dealer(port));
      socket.disconnect("tcp://127.0.0.1:" + std::to_string(port));
      const std::array<char, 5> bytes{0, static_cast<char>(id >> 24U), static_cast<char>(id >> 16U),
                                      static_cast<char>(id >> 8U), static_cast<char>(id)};
      socket.set(zmq::sockopt::routing_id, std::string_view(bytes.data(), bytes.size()));
      socket.connect("tcp://127.0.0.1:" + std::to_string(port));
    }
  }
  for (int i = 0; i < 3; ++i) {
    Client client(node_);
    client.set_up();
    EXPECT_TRUE(works(client));
  }
}

TEST_F(Strangers, GivenPassUsedTwiceThenTheFirstKeepsTheSession) {
  zmq::socket_t commands = dealer(bystander_.address.commands, bystander_.address.client);
  send(commands, Attach{});
  send(commands, Goodbye{});
  EXPECT_TRUE(works(bystander_));
}

/// Sends a frame whose pages are never touched: the receiver cuts the connection at its length.
void send_large_frame(zmq::socket_t& socket, std::size_t size) {
  void* pages = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  zmq::message_t frame(
      pages, size, [](void* data, void* hint) { ::munmap(data, reinterpret_cast<std::size_t>(hint)); },
      reinterpret_cast<void*>(size));
  socket.send(frame, zmq::send_flags::none);
}

TEST_F(Strangers, GivenTooLargeFrameThenTheConnectionIsCut) {
  constexpr std::size_t kTooLarge = (256U << 20U) + 1;
  for (const std::uint16_t port : {bystander_.address.commands, bystander_.address.reports}) {
    zmq::socket_t socket = dealer(port, bystander_.address.client);
    send_large_frame(socket, kTooLarge);
    EXPECT_TRUE(works(bystander_));
  }
  // An attached client's session is over with its connection.
  Client client(node_, "spendthrift");
  send_large_frame(client.commands, kTooLarge);
  EXPECT_TRUE(eventually([&] { return node_.logged("end=\"the client is gone"); })) << node_.log();
}

/// Frames of a message that has no end yet.
void send_frames_without_end(zmq::socket_t& socket, std::size_t count) {
  const std::string frame(64, 'x');
  for (std::size_t i = 0; i < count; ++i) {
    zmq::message_t bytes(frame.data(), frame.size());
    socket.send(bytes, zmq::send_flags::sndmore);
  }
}

TEST_F(Strangers, GivenAMessageWithoutEndThenNobodyNoticesAndItsEndEndsTheSession) {
  Client client(node_, "endless");
  client.set_up();
  send_frames_without_end(client.commands, Limits::kFrames + 2);
  EXPECT_TRUE(works(bystander_));
  EXPECT_FALSE(client.reports.comes<SessionEnded>(std::chrono::milliseconds(200)));
  send_frames(client.commands, {"the end"});
  EXPECT_NE(end_of(client).find("more than 65536 frames"), std::string::npos);
}

TEST_F(Strangers, GivenMessagesWithoutEndAndAWrongPassThenTheyReachNoWorker) {
  const WorkerAddress& worker = bystander_.address;
  const pid_t pid = node_.worker_of("a test");
  const std::uint64_t before = memory_of(pid);
  std::vector<zmq::socket_t> sockets;
  for (const std::uint16_t port : {worker.commands, worker.reports, worker.peers}) {
    zmq::socket_t& socket = sockets.emplace_back(dealer(port, Pass{"", std::string(40, '0')}));
    // 256 MiB, which are one block here.
    static const std::string frame(1U << 20U, 'x');
    for (int i = 0; i < 256; ++i) {
      zmq::message_t bytes(const_cast<char*>(frame.data()), frame.size(), nullptr, nullptr);
      socket.send(bytes, zmq::send_flags::sndmore);
    }
  }
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    EXPECT_TRUE(works(bystander_));
  }
  EXPECT_LT(memory_of(pid), before + (64U << 20U));
}

/// What an attached client may get wrong, and what the reason says.
struct Offence {
  const char* name;
  std::function<void(Client&)> commit;
  const char* reason;
};

TEST_F(Strangers, GivenAttachedClientThatBreaksARuleThenItsSessionEndsWithTheReason) {
  constexpr ObjectId kNew = 9;
  constexpr PeerId kPeer = 1;
  const std::vector<Offence> offences{
      {"no msgpack", [](Client& c) { send_frames(c.commands, {"\xc1"}); }, "msgpack"},
      {"cut off",
       [](Client& c) {
         send_frames(c.commands, {records_of(CreateBuffer{kNew, kContext, kReadWrite, 64}).substr(0, 4)});
       },
       "msgpack"},
      {"unknown number", [](Client& c) { send_frames(c.commands, {std::string("\x92\xcd\x03\xe7\x00", 5)}); },
       "999"},
      {"a worker's message", [](Client& c) { c.send(Finished{kRequest, 0}); }, "126"},
      {"a frame too many",
       [](Client& c) { send_frames(c.commands, {records_of(Finish{kRequest, kInOrder}), "surplus"}); },
       "frames"},
      {"a frame too few",
       [](Client& c) {
         const std::vector<char> bytes(4096);
         send_frames(c.commands,
                     {records_of(WriteBuffer{command(1), kBuffer, 0, payload(bytes.data(), bytes.size())})});
       },
       "frame is missing"},
      {"too few fields", [](Client& c) { send_frames(c.commands, {std::string("\x92\x64\x01", 3)}); },
       "fields"},
      {"unknown queue", [](Client& c) { c.send(Marker{command(1, 0, {}, 77)}); }, "queue 77"},
      {"unknown buffer", [](Client& c) { c.send(ReadBuffer{command(1), 0, 77, 0, 4}); }, "77"},
      {"unknown device", [](Client& c) { c.send(CreateQueue{kNew, kContext, 55, 0}); }, "device 55"},
      {"unknown event", [](Client& c) { c.send(Marker{command(1, 0, {123})}); }, "event 123"},
      {"id used twice", [](Client& c) { c.send(CreateBuffer{kBuffer, kContext, kReadWrite, 64}); },
       "exists already"},
      {"beyond the buffer", [](Client& c) { c.send(ReadBuffer{command(1), 0, kBuffer, 60, 8}); },
       "goes beyond"},
      {"an end that overflows",
       [](Client& c) { c.send(CopyBuffer{command(1), kBuffer, kBuffer, ~0ULL, 0, 8}); }, "goes beyond"},
      {"a rectangle beyond",
       [](Client& c) { c.send(ReadBufferRect{command(1), 0, kBuffer, {0, 4, 0}, {8, 5, 1}, 8, 0}); },
       "rectangle"},
      {"a region that overflows",
       [](Client& c) {
         c.send(ReadBufferRect{command(1), 0, kBuffer, {}, {1ULL << 40, 1ULL << 40, 8}, 0, 0});
       },
       "overflows"},
      {"too large a part", [](Client& c) { c.send(ReadBuffer{command(1), 0, kBuffer, 0, kMaxPayload + 1}); },
       "part"},
      {"four dimensions", [](Client& c) { c.send(RunKernel{command(1), kKernel, {}, {}, {1, 1, 1, 1}, {}}); },
       "dimensions"},
      {"a part of a dimension that the range does not have",
       [](Client& c) { c.send(RunKernel{command(1), kKernel, {}, {}, {64}, {8}, {}, {1, 0, 8}}); },
       "work-items"},
      {"a part beyond the range",
       [](Client& c) { c.send(RunKernel{command(1), kKernel, {}, {}, {64}, {8}, {}, {0, 8, 72}}); },
       "work-items"},
      {"a part that is not whole work-groups",
       [](Client& c) { c.send(RunKernel{command(1), kKernel, {}, {}, {64}, {8}, {}, {0, 4, 16}}); },
       "work-groups"},
      {"an address within a page",
       [](Client& c) { c.send(CreateBuffer{kNew, kContext, kReadWrite, 64, 0x1234'0000'0008}); }, "address"},
      {"an address that overflows",
       [](Client& c) { c.send(CreateBuffer{kNew, kContext, kReadWrite, 1ULL << 13, ~0ULL << 12}); },
       "address"},
      {"a sparse buffer where the driver has none",
       [](Client& c) { c.send(CreateBuffer{kNew, kContext, kReadWrite, 64, 0, 0, true}); }, "sparse"},
      {"a buffer trimmed that is not sparse", [](Client& c) { c.send(TrimBuffer{kBuffer, {}}); }, "sparse"},
      {"a peer in a file", [](Client& c) { c.send(ConnectPeer{kPeer, "ipc:///tmp/clique-test", {}, ""}); },
       "'ipc:///tmp/clique-test'"},
      {"a peer in the process",
       [](Client& c) { c.send(ConnectPeer{kPeer, "inproc://monitor-commands", {}, ""}); }, "tcp://HOST:PORT"},
      {"a peer from another address",
       [](Client& c) { c.send(ConnectPeer{kPeer, "tcp://127.0.0.1:1;127.0.0.1:2", {}, ""}); },
       "tcp://HOST:PORT"},
      {"a peer without port", [](Client& c) { c.send(ConnectPeer{kPeer, "tcp://127.0.0.1:*", {}, ""}); },
       "tcp://HOST:PORT"},
      {"any number of ends of commands",
       [](Client& c) {
         constexpr CommandId kInABatch = 1U << 16U;
         for (CommandId begin = 1000; begin < 1000 + 17 * kInABatch; begin += kInABatch) {
           Batch batch;
           for (CommandId id = begin; id < begin + kInABatch; ++id) batch.add(SetRemote{id, 0});
           protocol::send(c.commands, batch);
         }
       },
       "1048576 commands"},
      {"unknown peer", [](Client& c) { c.send(NotifyPeer{1, 9}); }, "peer 9"},
      {"released twice", [](Client& c) { c.send(Release{{kBuffer, kBuffer}, {}}); }, "5"},
      {"attached twice", [](Client& c) { c.send(Attach{}); }, "4 is unknown"},
  };
  for (const Offence& offence : offences) {
    SCOPED_TRACE(offence.name);
    Client client(node_);
    client.set_up();
    client.send(CreateBuffer{kBuffer, kContext, kReadWrite, 64});
    EXPECT_TRUE(works(client));
    offence.commit(client);
    const std::string reason = end_of(client);
    EXPECT_NE(reason.find(offence.reason), std::string::npos) << reason;
    EXPECT_TRUE(eventually([&] { return node_.logged(reason); }));
  }
}

TEST_F(Strangers, GivenCommandsAloneAreEncryptedThenNoOtherStreamIs) {
  const Node node({"--worker-ports", "none", "--encryption", "commands"});
  using Content = StreamRequest::Content;
  struct Case {
    const char* name;
    Content content;
    Encryption encryption;
    const char* reason;
  };
  const std::array cases{
      Case{"messages in the clear", Content::Batches, Encryption::None,
           "a connection for messages that is not encrypted, where the node's encryption is commands"},
      Case{"large transfers that are encrypted", Content::Parts, Encryption::All,
           "a connection for large transfers that is encrypted, where the node's encryption is commands"},
      Case{"a message among large transfers", Content::Parts, Encryption::Commands,
           "a message on a connection for large transfers"}};
  for (const Case& each : cases) {
    SCOPED_TRACE(each.name);
    Client client(node, each.name);
    client.set_up();
    EXPECT_EQ(client.address.client.encryption(), Encryption::Commands);
    EXPECT_EQ(client.address.peer.encryption(), Encryption::Commands);
    StreamTarget target;
    target.endpoint = node.endpoint();
    std::copy(client.address.streams.begin(), client.address.streams.end(), target.worker.begin());
    target.secret = client.address.client.stream_key;
    target.encryption = each.encryption;
    StreamRequest request;
    request.content = each.content;
    request.line = each.content == Content::Batches ? kCommandsLine : kFirstBulkLine;
    request.attempt = 2;
    try {
      const Dialled stream = dial(target, request, [] { return false; });
      EXPECT_EQ(stream.cipher, StreamCipher::None);
      std::vector<std::byte> record(RecordHeader::kBytes + 8);
      const auto header = RecordHeader::batch(8).encode();
      std::copy(header.begin(), header.end(), record.begin());
      EXPECT_EQ(::send(stream.socket.get(), record.data(), record.size(), MSG_NOSIGNAL),
                static_cast<ssize_t>(record.size()));
    } catch (const StreamBroken&) {
      // The worker does not answer a request that it refuses.
    }
    const std::string reason = end_of(client);
    EXPECT_NE(reason.find(each.reason), std::string::npos) << reason;
  }
  Client later(node);
  later.set_up();
  EXPECT_TRUE(works(later));
}

TEST_F(Strangers, GivenReorderedMessagesThenOnlyTheirSessionEnds) {
  // A session's whole beginning, in every wrong order of its four messages.
  std::vector<int> order{0, 1, 2, 3};
  int ended = 0;
  for (int round = 0; std::next_permutation(order.begin(), order.end()) && round < 6; ++round) {
    Client client(node_);
    for (const int which : order) {
      if (which == 0) client.send(CreateContext{kContext, {0}});
      if (which == 1) client.send(CreateQueue{kInOrder, kContext, 0, 0});
      if (which == 2) client.send(CreateBuffer{kBuffer, kContext, kReadWrite, 64});
      if (which == 3) client.send(FillBuffer{command(1), kBuffer, Bytes(1), 0, 64});
    }
    if (client.reports.comes<SessionEnded>(std::chrono::seconds(2))) ++ended;
    EXPECT_TRUE(works(bystander_));
  }
  EXPECT_GT(ended, 0);
}

TEST_F(Strangers, GivenMutatedMessagesThenOnlyTheirSessionEnds) {
  std::mt19937 random(3);
  const std::string good =
      records_of(CreateContext{kContext, {0}}, CreateQueue{kInOrder, kContext, 0, 0},
                 CreateBuffer{kBuffer, kContext, kReadWrite, 4096},
                 FillBuffer{command(1), kBuffer, Bytes{1, 2, 3, 4}, 0, 4096}, Finish{kRequest, kInOrder});
  for (int i = 0; i < 12; ++i) {
    Client client(node_);
    for (int j = 0; j < 20; ++j) {
      std::string bad = good;
      for (unsigned k = 0; k < 1 + random() % 4; ++k)
        bad[random() % bad.size()] = static_cast<char>(random());
      send_frames(client.commands, {bad});
    }
    EXPECT_TRUE(works(bystander_));
  }
}

}  // namespace
}  // namespace clique::test
