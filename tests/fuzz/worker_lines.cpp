// The sockets of a worker: connections of an admitted client and of other workers, which may attach as
// whatever they like, come back, and send anything in any order.
#include <spdlog/spdlog.h>

#include <array>
#include <optional>

#include "daemon/worker/connections/client_lines.hpp"
#include "daemon/worker/connections/peer_inbox.hpp"
#include "tests/fuzz/fake_worker.hpp"
#include "tests/fuzz/filler.hpp"
#include "tests/fuzz/incoming.hpp"

namespace clique::fuzz::target_worker_lines {
namespace {

using namespace clique::daemon;

constexpr std::size_t kMostSteps = 48;
constexpr std::size_t kConnections = 4;

/// What an input does next.
enum Step : std::uint8_t { kSend, kSendToPeers, kConnectAgain, kOpen, kPush, kSteps };

/// Endpoints within the process, each of which is used once.
std::string next_endpoint() {
  static std::uint64_t last = 0;
  return "inproc://" + std::to_string(++last);
}

/// The context of an input's sockets. ZeroMQ closes sockets on a thread of its own, which the target has to
/// wait for, as the end of a context does: on a busy machine there are more sockets than a process may have
/// otherwise. An input makes up to kMostSteps sockets and two more.
zmq::context_t& next_context() {
  constexpr unsigned kInputs = 16;
  static std::optional<zmq::context_t> context;
  static unsigned inputs = 0;
  if (inputs++ % kInputs == 0) context.emplace();
  return *context;
}

zmq::socket_t socket(zmq::context_t& context, zmq::socket_type type) {
  zmq::socket_t made(context, type);
  protocol::configure(made);
  return made;
}
zmq::socket_t bound(zmq::context_t& context, const std::string& endpoint) {
  zmq::socket_t made = socket(context, zmq::socket_type::router);
  made.bind(endpoint);
  return made;
}

/// The monitors of the client's connections, which say nothing: there are no connections of the system.
ClientConnections& connections() {
  static zmq::socket_t commands(FakeWorker::zmq(), zmq::socket_type::router);
  static zmq::socket_t reports(FakeWorker::zmq(), zmq::socket_type::router);
  static ClientConnections one(FakeWorker::zmq(), commands, reports, std::chrono::milliseconds(1000));
  static const bool watched = (one.watch(true, "the client"), true);
  static_cast<void>(watched);
  return one;
}

/// A worker, and connections to its sockets.
struct Lines : FakeWorker {
  explicit Lines(Input& input) : input(input) { peers.set_client(lines); }
  ~Lines() {
    // They refer to the lines.
    may_be_refused([this] { tasks.run(); });
  }
  zmq::socket_t connected(const std::string& endpoint) const {
    zmq::socket_t made = socket(context, zmq::socket_type::dealer);
    made.connect(endpoint);
    return made;
  }

  void step() {
    switch (input.number<std::uint8_t>() % kSteps) {
      case kSend:
        send(to_commands, true);
        break;
      case kSendToPeers:
        send(to_peers, false);
        break;
      case kConnectAgain: {
        const auto which = input.number<std::uint8_t>();
        (which % 2 == 0 ? to_commands : to_peers).at(which / 2 % kConnections).close();
        break;
      }
      case kOpen:
        if (lines.attached()) lines.open();
        break;
      default:
        lines.send({input.number<std::uint8_t>(), 0, 0, {}});
    }
    serve();
  }
  void send(std::array<zmq::socket_t, kConnections>& to, bool commands) {
    auto& connection = to.at(input.number<std::uint8_t>() % kConnections);
    if (!connection) connection = connected(commands ? commands_endpoint : peers_endpoint);
    const protocol::Incoming batch = next_batch(input);
    if (commands && connects(batch)) return;
    const bool alone = batch.frames.empty();
    connection.send(zmq::const_buffer(batch.records.data(), batch.records.size()),
                    alone ? zmq::send_flags::none : zmq::send_flags::sndmore);
    if (alone) return;
    const auto frame = batch.frames.front().bytes;
    connection.send(zmq::const_buffer(frame.data(), frame.size()), zmq::send_flags::none);
  }
  void serve() {
    lines.receive();
    others.receive();
    while (dispatcher.handle_part()) {
    }
    tasks.run();
    waiting.check();
    for (auto* const all : {&to_commands, &to_peers})
      for (auto& connection : *all)
        for (protocol::Incoming answer; connection && protocol::receive(connection, answer);) read(answer);
  }
  /// What the worker sends can be understood.
  static void read(const protocol::Incoming& answer) {
    static protocol::BatchReader reader;
    using Answers = protocol::MessageList<protocol::Received, protocol::SessionEnded, protocol::PeerData>;
    try {
      reader.read(Answers{}, answer.records, answer.frames, answer.owner, [](auto&& /*message*/) {});
    } catch (const protocol::DecodeError& error) {
      require(false, error.what());
    }
  }

  Input& input;
  zmq::context_t& context = next_context();
  const std::string commands_endpoint = next_endpoint();
  const std::string peers_endpoint = next_endpoint();
  Admission admission;
  ClientLines lines{
      bound(context, commands_endpoint), admission, connections(), dispatcher, segments, surroundings,
      InwardLine::Acknowledge::Yes};
  PeerInbox others{bound(context, peers_endpoint), admission, dispatcher, waiting,
                   InwardLine::Acknowledge::Yes};
  std::array<zmq::socket_t, kConnections> to_commands;
  std::array<zmq::socket_t, kConnections> to_peers;
};

Output& put(Output& output, Step step, std::uint8_t connection, const protocol::Batch& batch,
            std::string_view frame = {}) {
  return put_batch(output.number(static_cast<std::uint8_t>(step)).number(connection), batch, frame);
}

/// An input is a sequence of steps: to send a batch, with the connection's number; to connect again; to open
/// the session; to push to the client.
std::vector<std::string> seeds() {
  using namespace protocol;
  const std::vector<std::byte> data(8);
  const PeerData part{5, 0, 0, {data, nullptr}};
  std::vector<std::string> all;
  Output up;
  put(up, kSend, 0, batch_of(Attach{}));
  up.number(std::uint8_t{kOpen});
  put(up, kSend, 1, batch_of(AttachLine{kFirstBulkLine, false, 0, 1}));
  put(up, kSend, 0, batch_of(Expect{{5, 2, 0, {}}, 3, 0, 16}));
  put(up, kSend, 1, batch_of(part));
  up.number(std::uint8_t{kConnectAgain}).number(std::uint8_t{2});
  put(up, kSend, 1, batch_of(AttachLine{kFirstBulkLine, false, 0, 2}));
  put(up, kSend, 1, batch_of(PeerData{5, 8, 0, {data, nullptr}}));
  up.number(std::uint8_t{kConnectAgain}).number(std::uint8_t{0});
  put(up, kSend, 0, batch_of(AttachLine{kCommandsLine, false, 0, 1}));
  put(up, kSend, 0, batch_of(filled<CreateBuffer>()));
  all.push_back(up.text());
  Output down;
  put(down, kSend, 2, batch_of(Attach{}));
  down.number(std::uint8_t{kOpen});
  put(down, kSend, 3, batch_of(AttachLine{kFirstBulkLine, true, 0, 1}));
  down.number(std::uint8_t{kPush}).number(std::uint8_t{9});
  put(down, kSend, 3, batch_of(Received{1}));
  down.number(std::uint8_t{kPush}).number(std::uint8_t{9});
  down.number(std::uint8_t{kConnectAgain}).number(std::uint8_t{6});
  put(down, kSend, 3, batch_of(AttachLine{kFirstBulkLine, true, 1, 2}));
  put(down, kSend, 1, batch_of(AttachLine{kReportsLine, true, 0, 1}));
  all.push_back(down.text());
  Output peers;
  put(peers, kSendToPeers, 0, batch_of(AttachLine{kFirstBulkLine, false, 0, 1}));
  put(peers, kSendToPeers, 0, batch_of(PeerDone{5, 0}));
  put(peers, kSendToPeers, 0, batch_of(part), "frame");
  put(peers, kSendToPeers, 1, batch_of(AttachLine{kFirstBulkLine, false, 0, 2}));
  put(peers, kSendToPeers, 0, batch_of(PeerDone{6, 0}));
  all.push_back(peers.text());
  return all;
}

void test(const std::uint8_t* data, std::size_t size) {
  spdlog::set_level(spdlog::level::off);
  Input input(data, size);
  Lines lines(input);
  may_be_refused([&] {
    for (std::size_t step = 0; step < kMostSteps && !input.empty(); ++step) lines.step();
  });
}

const Registration kTarget{"worker_lines", seeds, test};

}  // namespace
}  // namespace clique::fuzz::target_worker_lines
