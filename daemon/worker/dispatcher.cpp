#include "daemon/worker/dispatcher.hpp"

#include <thread>

#include "daemon/worker/transfers/files.hpp"
#include "daemon/worker/transfers/segments.hpp"
#include "protocol/transport/shared_offer.hpp"

namespace clique::daemon {

namespace {
/// How long a peer on this host may take to hand its memory over.
constexpr std::chrono::milliseconds kOfferTimeout{1000};
/// Windows that other workers may offer without success, which is more than a node has GPUs.
constexpr std::size_t kMaxWindows = 4096;
}  // namespace

struct Dispatcher::Handler {
  Dispatcher& self;
  Sender sender;

  template <typename M>
  void operator()(M&& message) const {
    self.backend_.handle(std::forward<M>(message));
  }
  void operator()(protocol::RunKernel&& message) const {
    self.counts_.kernels.add(1);
    self.backend_.handle(std::move(message));
  }
  void operator()(protocol::ReadToSegment&& message) const {
    self.counts_.to_segments.add(message.size);
    self.vigil_.prolong(message.size);
    self.backend_.handle(std::move(message));
  }
  void operator()(protocol::WriteFromSegment&& message) const {
    self.counts_.from_segments.add(message.size);
    self.vigil_.prolong(message.size);
    self.backend_.handle(std::move(message));
  }
  void operator()(protocol::Goodbye&& /*message*/) const { throw SessionOver{}; }
  void operator()(protocol::SyncClock&& message) const {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::nanoseconds since_last = now - self.clock_told_;
    if (self.round_trip_.count() == 0 || since_last < self.round_trip_) self.round_trip_ = since_last;
    self.clock_told_ = now;
    self.surroundings_.reporter.report(protocol::ClockSynced{message.request, self.backend_.clock()});
  }

  // Peers, and transfers between workers.

  void operator()(protocol::ConnectPeer&& message) const {
    try {
      self.surroundings_.peers.connect(message);
      if (!message.shared.empty()) take_offer(message);
    } catch (const zmq::error_t& error) {
      throw RuleBroken("endpoint '" + message.endpoint + "' of peer " + std::to_string(message.peer) + ": " +
                       error.what());
    }
  }
  /// Waits on a thread of its own: the peer may take this worker's offer at the same time, which the main
  /// thread has to answer.
  void take_offer(const protocol::ConnectPeer& message) const {
    std::thread([to = &self, message] {
      const auto shared = protocol::take_shared_offer(message.shared, message.pass.secret,
                                                      protocol::Guest::Peer, kOfferTimeout);
      if (!shared) return;
      to->surroundings_.tasks.post([to, peer = message.peer, shared] {
        to->backend_.share(shared->outgoing());
        to->surroundings_.peers.share(peer, shared);
      });
    }).detach();
  }
  void operator()(protocol::NotifyPeer&& message) const {
    PeerLinks& peers = self.surroundings_.peers;
    if (!peers.known(message.peer))
      throw RuleBroken("peer " + std::to_string(message.peer) + " is not connected");
    self.backend_.when_ended(message.command, [&peers, message](std::int32_t status) {
      peers.send(message.peer, protocol::PeerDone{message.command, status});
    });
  }
  void operator()(protocol::Expect&& message) const {
    const protocol::Expect command = message;
    self.transfers_.expect(command, self.backend_.expect(std::move(message)));
  }
  void operator()(protocol::Push&& message) const {
    PeerLinks& peers = self.surroundings_.peers;
    if (peers.known(message.peer) &&
        self.transfers_.relay(
            message,
            {[&peers, peer = message.peer](protocol::PeerData&& part) { peers.send(peer, std::move(part)); },
             [&backend = self.backend_](protocol::Push&& part) { backend.handle(std::move(part)); }}))
      return;
    // NOLINTNEXTLINE(performance-move-const-arg): all messages are handed on in one way
    self.backend_.handle(std::move(message));
  }
  void operator()(protocol::PeerData&& message) const {
    if (sender == Sender::Client) message.data.owner = report_taken_at_end(message);
    self.transfers_.receive(std::move(message));
  }
  /// An owner for the part's payload that reports when nothing here uses it any more, so that the client
  /// sends the next.
  std::shared_ptr<const void> report_taken_at_end(const protocol::PeerData& part) const {
    const protocol::Taken taken{part.transfer, part.data.bytes.size()};
    return {part.data.bytes.data(),
            [owner = part.data.owner, taken, &reporter = self.surroundings_.reporter](const void*) mutable {
              owner.reset();
              reporter.report(taken);
            }};
  }
  void operator()(protocol::OpenWindow&& message) const {
    if (self.backend_.open_window(message)) return;
    if (self.withheld_.size() >= kMaxWindows)
      throw RuleBroken("other workers offer more than " + std::to_string(kMaxWindows) + " windows");
    self.withheld_.push_back(std::move(message.consent));
  }
  void operator()(protocol::WindowData&& message) const {
    self.counts_.from_windows.add(message.size);
    self.transfers_.receive(std::move(message));
  }
  void operator()(protocol::FreeSegment&& message) const { self.segments_.remove(message.segment); }
  void operator()(protocol::PlaceSegment&& message) const {
    self.segments_.place(message, [&reporter = self.surroundings_.reporter, segment = message.segment] {
      reporter.report(protocol::SegmentFreed{segment});
    });
  }

  // Files.

  void operator()(protocol::CreateFile&& message) const { self.files_.open(std::move(message)); }
  void operator()(protocol::QueryFile&& message) const { self.files_.query(message); }
  void operator()(protocol::ReadFile&& message) const { self.files_.read(std::move(message)); }
  void operator()(protocol::WriteFile&& message) const {
    auto sink = self.files_.write(message);
    // NOLINTNEXTLINE(performance-move-const-arg): all messages are handed on in one way
    self.transfers_.expect({std::move(message.command), 0, message.offset, message.size}, std::move(sink));
  }

  // Events of other workers.

  void operator()(protocol::AwaitRemote&& message) const {
    // NOLINTNEXTLINE(performance-move-const-arg): all messages are handed on in one way
    self.remote_events_.await(std::move(message));
  }
  void operator()(protocol::SetRemote&& message) const {
    // When the worker that should have pushed is gone, the client reports the failure instead.
    if (message.status < 0 && self.transfers_.fail(message.command, message.status)) return;
    self.remote_events_.complete(message.command, message.status);
  }
  void operator()(protocol::PeerDone&& message) const {
    self.surroundings_.reporter.ended_elsewhere(message.command);
    self.remote_events_.complete(message.command, message.status);
  }

  void operator()(protocol::CreateProgram&& message) const {
    // The driver, or the backend, keeps a copy.
    std::uint64_t bytes = 0;
    for (const protocol::Bytes& code : message.code) bytes += code.size();
    self.programs_.insert_or_assign(message.id, self.surroundings_.waiting.count(bytes));
    self.backend_.handle(std::move(message));
  }

  // Recordings, whose ids are objects' ids.

  void operator()(protocol::DefineRecording&& message) const { self.recordings_.define(message); }
  void operator()(protocol::UpdateRecording&& message) const {
    self.recordings_.update(message, self.backend_);
  }
  void operator()(protocol::RunRecording&& message) const {
    self.counts_.kernels.add(self.recordings_.run(message, self.backend_));
  }
  void operator()(protocol::Release&& message) const {
    std::erase_if(message.objects, [this](protocol::ObjectId id) {
      return self.recordings_.release(id) || self.files_.release(id);
    });
    for (const protocol::ObjectId id : message.objects) self.programs_.erase(id);
    self.remote_events_.release(message.events);
    self.backend_.handle(std::move(message));
  }
};

Dispatcher::Dispatcher(const Surroundings& surroundings, Backend& backend, Segments& segments, Files& files)
    : surroundings_(surroundings),
      backend_(backend),
      segments_(segments),
      files_(files),
      recordings_(surroundings.waiting),
      remote_events_(backend) {
  files_.use(transfers_);
  surroundings_.peers.set_own([this](protocol::PeerData&& part) {
    surroundings_.tasks.post(
        [this, part = std::move(part)]() mutable { queue_part(std::move(part), Sender::Peer); });
  });
}

template <typename List>
void Dispatcher::handle(List list, const protocol::Incoming& incoming, Sender sender) {
  Handler handler{*this, sender};
  reader_.read(list, incoming.records, incoming.frames, incoming.owner, handler);
  // Before the next batch, since decoding that one may take longer than executing this one.
  flush();
}

void Dispatcher::handle_commands(protocol::Incoming&& incoming) {
  commands_ = std::move(incoming);
  command_reader_.begin(commands_.records, commands_.frames, commands_.owner);
  paused_ = true;
  read_commands();
}

bool Dispatcher::go_on() {
  if (!paused_ || !surroundings_.pacer.admits()) return false;
  read_commands();
  flush();
  return true;
}

void Dispatcher::read_commands() {
  Handler handler{*this, Sender::Client};
  protocol::Op present{};
  const auto admit = [this, &present](protocol::Op op) {
    present = op;
    return (op != protocol::RunKernel::op && op != protocol::RunRecording::op) ||
           surroundings_.pacer.admits();
  };
  try {
    paused_ = !command_reader_.go_on(protocol::ClientMessages{}, admit, handler);
  } catch (const RuleBroken& error) {
    throw RuleBroken("message number " + std::to_string(static_cast<unsigned>(present)) + ": " +
                     error.what());
  }
  // The payloads of the commands may be in memory that the client waits for.
  if (!paused_) commands_ = {};
}

void Dispatcher::handle_peer(const protocol::Incoming& incoming) {
  handle(protocol::PeerMessages{}, incoming, Sender::Peer);
}

bool Dispatcher::handle_part() {
  if (parts_.empty()) return false;
  Part part = std::move(parts_.front());
  parts_.pop_front();
  if (auto* const data = std::get_if<protocol::PeerData>(&part.content)) {
    Handler{*this, part.sender}(std::move(*data));
    return true;
  }
  const auto& incoming = std::get<protocol::Incoming>(part.content);
  if (part.sender == Sender::Client) {
    handle(protocol::BulkMessages{}, incoming, Sender::Client);
  } else {
    handle_peer(incoming);
  }
  return true;
}

}  // namespace clique::daemon
