// The worker after admission: batches of the client, of other workers, and of bulk data, in any order,
// through the dispatcher to a backend without a device. Connections to other workers are not made.
#include <memory>

#include "daemon/worker/dispatcher.hpp"
#include "daemon/worker/print_capture.hpp"
#include "protocol/decode_error.hpp"
#include "tests/fuzz/fake_backend.hpp"
#include "tests/fuzz/filler.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace clique;
using namespace clique::daemon;
using namespace clique::fuzz;

constexpr protocol::ObjectId kSegment = 7;
constexpr std::size_t kMostBatches = 64;

/// Who sends a batch.
enum class From : std::uint8_t { Client, Peer, ClientBulk, PeerBulk };

/// What the worker pushes to the client.
class FakeClient : public PeerLinks::ClientLink {
 public:
  explicit FakeClient(const Segments& segments) : segments_(segments) {}
  std::shared_ptr<std::byte> take(std::size_t /*size*/) override { return nullptr; }
  std::chrono::nanoseconds round_trip() const override { return {}; }
  bool shares() const override { return false; }
  void send(protocol::PeerData&& part) override {
    require(part.data.bytes.size() <= protocol::Limits::kBin, "parts can be sent");
  }
  std::shared_ptr<std::byte> segment(protocol::ObjectId id, std::uint64_t at, std::uint64_t size) override {
    return segments_.find(id, at, size);
  }

 private:
  const Segments& segments_;
};

/// Whether the batch asks the worker to connect to somebody, or cannot be decoded.
bool connects(const protocol::Incoming& batch) {
  static protocol::BatchReader reader;
  bool found = false;
  try {
    reader.read(protocol::ClientMessages{}, batch.records, batch.frames, nullptr,
                [&]([[maybe_unused]] auto&& message) {
                  found =
                      found || std::is_same_v<std::remove_cvref_t<decltype(message)>, protocol::ConnectPeer>;
                });
  } catch (const protocol::DecodeError&) {
    // The messages before the invalid one are handled, too.
    return found;
  }
  return found;
}

/// A worker's session without sockets.
struct FakeSession {
  explicit FakeSession(PrintCapture& prints, zmq::context_t& context)
      : reporter(zmq::socket_t(), prints, tasks, waiting), peers(context, std::chrono::milliseconds(0)) {
    backend.use(segments);
    segments.add(kSegment, protocol::SharedSegment::create(4096));
    peers.set_client(client);
  }
  ~FakeSession() { tasks.run(); }
  FakeSession(const FakeSession&) = delete;
  FakeSession& operator=(const FakeSession&) = delete;

  void take(From from, protocol::Incoming&& batch) {
    if (from == From::Client && connects(batch)) return;
    if (from == From::Client)
      dispatcher.handle_commands(batch);
    else if (from == From::Peer)
      dispatcher.handle_peer(batch);
    else
      dispatcher.queue_part(std::move(batch),
                            from == From::ClientBulk ? Dispatcher::Sender::Client : Dispatcher::Sender::Peer);
  }

  WaitingData waiting{WaitingData::kLeast};
  Tasks tasks;
  Reporter reporter;
  ReportOrder order{reporter};
  PeerLinks peers;
  MemoryBudget memory{0};
  FakeBackend backend;
  Segments segments{backend, tasks};
  FakeClient client{segments};
  Dispatcher dispatcher{{reporter, order, peers, tasks, memory, waiting}, backend, segments};
};

/// An input is a sequence of: sender, size of a frame, frame, size of the records, records.
Output& put(Output& output, From from, const protocol::Batch& batch, std::string_view frame = {}) {
  output.number(static_cast<std::uint8_t>(from));
  output.number(static_cast<std::uint8_t>(frame.size())).bytes(frame);
  return output.number(static_cast<std::uint16_t>(batch.size())).bytes(batch.records());
}

template <typename M>
protocol::Batch batch_of(const M& message) {
  protocol::Batch batch;
  batch.add(message);
  return batch;
}

}  // namespace

std::vector<std::string> clique::fuzz::seeds() {
  using namespace protocol;
  static const std::vector<std::byte> data(100);
  std::vector<std::string> all;
  const auto each = [&]<typename... M>(From from, MessageList<M...> /*list*/) {
    const auto one = [&](const Batch& batch) {
      Output output;
      all.push_back(put(output, from, batch).text());
    };
    (one(batch_of(filled<M>())), ...);
  };
  each(From::Client, ClientMessages{});
  each(From::Peer, PeerMessages{});

  // A transfer whose parts come early, late, out of order and twice; and a push that passes them on.
  Output transfer;
  put(transfer, From::ClientBulk, batch_of(PeerData{5, 0, 0, {data, nullptr}}));
  put(transfer, From::Client, batch_of(Expect{{5, 2, 0, {}}, 3, 1000, 400}));
  put(transfer, From::Client, batch_of(Push{{6, 2, 0, {5}}, 3, 1000, 400, kClientPeer, 9, 0, 0}));
  put(transfer, From::Peer, batch_of(PeerData{5, 200, 0, {data, nullptr}}));
  put(transfer, From::Peer, batch_of(PeerData{5, 200, 0, {data, nullptr}}));
  put(transfer, From::PeerBulk, batch_of(WindowData{5, 100, 1, 0, 100, {}}));
  put(transfer, From::Client, batch_of(PeerData{5, 300, 0, {}}));
  put(transfer, From::Client, batch_of(SetRemote{5, -5}));
  all.push_back(transfer.text());

  Output segment;
  put(segment, From::Client, batch_of(ReadToSegment{{5, 2, 0, {}}, 3, 0, 96, kSegment, 4000}));
  put(segment, From::Client, batch_of(WriteFromSegment{{6, 2, 0, {}}, 3, 0, 4096, kSegment, 0}));
  put(segment, From::Client, batch_of(FreeSegment{kSegment}));
  all.push_back(segment.text());

  Output events;
  put(events, From::Client, batch_of(AwaitRemote{8, 1}));
  put(events, From::Peer, batch_of(PeerDone{8, 0}));
  put(events, From::Client, batch_of(SetRemote{9, -1}));
  put(events, From::Client, batch_of(AwaitRemote{9, 1}));
  put(events, From::Client, batch_of(Release{{1}, {8, 9}}));
  all.push_back(events.text());
  return all;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static PrintCapture prints;
  static zmq::context_t context;
  Input input(data, size);
  FakeSession session(prints, context);
  try {
    for (std::size_t i = 0; i < kMostBatches && !input.empty(); ++i) {
      const auto from = static_cast<From>(input.number<std::uint8_t>() % 4);
      protocol::Incoming batch;
      const auto frame = input.take(input.number<std::uint8_t>());
      if (!frame.empty()) batch.frames.push_back({frame, nullptr});
      batch.records = input.take(input.number<std::uint16_t>());
      session.take(from, std::move(batch));
      session.dispatcher.handle_part();
      session.tasks.run();
      session.waiting.check();
    }
    while (session.dispatcher.handle_part()) {
    }
  } catch (const protocol::DecodeError&) {
    return 0;
  } catch (const RuleBroken&) {
    return 0;
  } catch (const DeviceFailed&) {
    return 0;
  } catch (const SessionOver&) {
    return 0;
  }
  return 0;
}
