// The worker after admission: batches of the client, of other workers, and of bulk data, in any order,
// through the dispatcher to a backend without a device. Connections to other workers are not made.
#include <memory>

#include "tests/fuzz/fake_worker.hpp"
#include "tests/fuzz/filler.hpp"
#include "tests/fuzz/incoming.hpp"

namespace clique::fuzz::target_worker {
namespace {

using namespace clique::daemon;

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
  bool busy() const override { return false; }
  void send(protocol::PeerData&& part) override {
    require(part.data.bytes.size() <= protocol::Limits::kBin, "parts can be sent");
  }
  std::shared_ptr<std::byte> segment(protocol::ObjectId id, std::uint64_t at, std::uint64_t size) override {
    return segments_.find(id, at, size);
  }

 private:
  const Segments& segments_;
};

/// A worker's session without sockets.
struct FakeSession : FakeWorker {
  FakeSession() { peers.set_client(client); }

  void take(From from, protocol::Incoming&& batch) {
    if (from == From::Client && connects(batch)) return;
    if (from == From::Client)
      dispatcher.handle_commands(std::move(batch));
    else if (from == From::Peer)
      dispatcher.handle_peer(batch);
    else
      dispatcher.queue_part(std::move(batch),
                            from == From::ClientBulk ? Dispatcher::Sender::Client : Dispatcher::Sender::Peer);
  }

  FakeClient client{segments};
};

/// An input is a sequence of senders and batches.
Output& put(Output& output, From from, const protocol::Batch& batch) {
  return put_batch(output.number(static_cast<std::uint8_t>(from)), batch);
}

std::vector<std::string> seeds() {
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
  put(segment, From::Client, batch_of(ReadToSegment{{5, 2, 0, {}}, 3, 0, 96, FakeWorker::kSegment, 4000}));
  put(segment, From::Client, batch_of(WriteFromSegment{{6, 2, 0, {}}, 3, 0, 4096, FakeWorker::kSegment, 0}));
  put(segment, From::Client, batch_of(FreeSegment{FakeWorker::kSegment}));
  put(segment, From::Client, batch_of(PlaceSegment{8, 4096, 4096}));
  put(segment, From::Client, batch_of(WriteFromSegment{{7, 2, 0, {}}, 3, 0, 4096, 8, 0}));
  put(segment, From::Client, batch_of(FreeSegment{8}));
  put(segment, From::Client, batch_of(PlaceSegment{9, 0, 8193}));
  all.push_back(segment.text());

  Output events;
  put(events, From::Client, batch_of(AwaitRemote{8, 1}));
  put(events, From::Peer, batch_of(PeerDone{8, 0}));
  put(events, From::Client, batch_of(SetRemote{9, -1}));
  put(events, From::Client, batch_of(AwaitRemote{9, 1}));
  put(events, From::Client, batch_of(Release{{1}, {8, 9}}));
  all.push_back(events.text());

  // The session ends before the starter has answered.
  Output files;
  put(files, From::Client,
      batch_of(CreateFile{5, 2, "one", file_access::kRead}, CreateFile{6, 2, "two", file_access::kRead},
               QueryFile{7, 6}, Goodbye{}));
  all.push_back(files.text());
  return all;
}

void test(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  FakeSession session;
  may_be_refused([&] {
    for (std::size_t i = 0; i < kMostBatches && !input.empty(); ++i) {
      const auto from = static_cast<From>(input.number<std::uint8_t>() % 4);
      session.take(from, next_batch(input));
      session.dispatcher.handle_part();
      session.tasks.run();
      session.waiting.check();
    }
    while (session.dispatcher.handle_part()) {
    }
  });
}

const Registration kTarget{"worker", seeds, test};

}  // namespace
}  // namespace clique::fuzz::target_worker
