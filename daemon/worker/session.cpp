#include "daemon/worker/session.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

#include "daemon/worker/watchdog.hpp"
#include "protocol/spin.hpp"

namespace clique::daemon {

namespace {

using protocol::Incoming;

/// For a peer on this host to hand its memory over.
constexpr std::chrono::milliseconds kOfferTimeout{1000};
/// Messages of one socket before the others get their turn.
constexpr int kTurn = 64;
/// Sockets by which little or nothing comes are looked at this often, and after sleep: that of commands which
/// come through shared memory, and that of peers where there are none.
constexpr std::chrono::microseconds kSocketInterval{50};
/// How often is looked for what nobody is woken for: strangers at the reports socket, peers while there is
/// much to do.
constexpr std::chrono::seconds kLookInterval{1};
/// Time for the reason of a session's end to reach the client.
constexpr std::chrono::milliseconds kLastWords{500};
/// Sleeping ends now and then, for what has no file descriptor.
constexpr long kSleepMs = 1000;
/// While the client is behind with what it is told.
constexpr long kBehindMs = 1;
/// While connections are to be made again.
constexpr long kCutMs = 50;
/// A connection that the client's side has closed is that of a process that ended, or gave it up and is about
/// to make another.
constexpr std::chrono::milliseconds kPatienceWithClosed{10'000};
/// Lines of one client, or from peers: more than anybody has.
constexpr std::size_t kMaxLines = 4096;

/// Without a hint of how many characters are right.
bool same_secret(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

/// Sends one message in a batch of its own, as the ends of lines do.
template <typename M>
void answer(zmq::socket_ref socket, const M& message, const std::string& routing_id) {
  protocol::Batch batch;
  batch.add(message);
  protocol::send(socket, batch, routing_id);
}

zmq::socket_t monitor(zmq::context_t& context, zmq::socket_ref socket, const std::string& name) {
  const std::string endpoint = "inproc://monitor-" + name;
  if (zmq_socket_monitor(socket.handle(), endpoint.c_str(), ZMQ_EVENT_DISCONNECTED) != 0)
    throw zmq::error_t();
  zmq::socket_t events(context, zmq::socket_type::pair);
  events.set(zmq::sockopt::linger, 0);
  events.connect(endpoint);
  return events;
}

}  // namespace

struct Session::Dispatch {
  Session& session;
  bool from_client;  ///< else from another worker

  template <typename M>
  void operator()(M&& message) const {
    session.backend_.handle(std::forward<M>(message));
  }
  void operator()(protocol::ReadToSegment&& message) const {
    session.vigil_.prolong(message.size);
    session.backend_.handle(std::move(message));
  }
  void operator()(protocol::WriteFromSegment&& message) const {
    session.vigil_.prolong(message.size);
    session.backend_.handle(std::move(message));
  }
  void operator()(protocol::Goodbye&& /*message*/) const { throw Ended{}; }
  void operator()(protocol::SyncClock&& message) const {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::nanoseconds since_last = now - session.clock_told_;
    if (!session.shared_ && (session.round_trip_.count() == 0 || since_last < session.round_trip_))
      session.round_trip_ = since_last;
    session.clock_told_ = now;
    session.surroundings_.reporter.report(protocol::ClockSynced{message.request, session.backend_.clock()});
  }
  void operator()(protocol::ConnectPeer&& message) const {
    try {
      session.surroundings_.peers.connect(message);
      if (!message.shared.empty()) take_offer(message);
    } catch (const zmq::error_t& error) {
      throw RuleBroken("endpoint " + message.endpoint + " of a peer: " + error.what());
    }
  }
  /// Not on the main thread, which has to answer the peer when that takes ours at the same time.
  void take_offer(const protocol::ConnectPeer& message) const {
    std::thread([to = &session, message] {
      const auto shared =
          protocol::take_shared_offer(message.shared, message.token, protocol::Guest::Peer, kOfferTimeout);
      if (!shared) return;
      to->surroundings_.tasks.post([to, peer = message.peer, shared] {
        to->backend_.share(shared->outgoing());
        to->surroundings_.peers.share(peer, shared);
      });
    }).detach();
  }
  void operator()(protocol::NotifyPeer&& message) const {
    PeerLinks& peers = session.surroundings_.peers;
    if (!peers.known(message.peer))
      throw RuleBroken("peer " + std::to_string(message.peer) + " is not connected");
    session.backend_.when_ended(message.command, [&peers, message](std::int32_t status) {
      peers.send(message.peer, protocol::PeerDone{message.command, status});
    });
  }
  void operator()(protocol::Expect&& message) const {
    const protocol::Expect command = message;
    session.transfers_.expect(command, session.backend_.expect(std::move(message)));
  }
  void operator()(protocol::Push&& message) const {
    PeerLinks& peers = session.surroundings_.peers;
    if (peers.known(message.peer) &&
        session.transfers_.relay(
            message,
            {[&peers, peer = message.peer](protocol::PeerData&& part) { peers.send(peer, std::move(part)); },
             [&backend = session.backend_](protocol::Push&& part) { backend.handle(std::move(part)); }}))
      return;
    // NOLINTNEXTLINE(performance-move-const-arg): all messages are handed on in one way
    session.backend_.handle(std::move(message));
  }
  void operator()(protocol::AwaitRemote&& message) const {
    const auto command = message.command;
    // NOLINTNEXTLINE(performance-move-const-arg): all messages are handed on in one way
    session.backend_.handle(std::move(message));
    if (const auto early = session.early_ends_.extract(command)) {
      session.backend_.set_remote(command, early.mapped());
    } else {
      session.awaited_.insert(command);
    }
  }
  void operator()(protocol::SetRemote&& message) const {
    // Whoever should have pushed is gone: the client tells it in the pusher's stead.
    if (message.status < 0 && session.transfers_.fail(message.command, message.status)) return;
    remote_end(message.command, message.status);
  }

  void operator()(protocol::DefineRecording&& message) const { session.recordings_.define(message); }
  void operator()(protocol::RunRecording&& message) const {
    session.recordings_.run(message, session.backend_);
  }

  void operator()(protocol::Release&& message) const {
    std::erase_if(message.objects, [this](protocol::ObjectId id) { return session.recordings_.release(id); });
    // The client may let go of an event of elsewhere while commands here still wait for it.
    std::erase_if(message.events, [this](protocol::CommandId id) {
      const bool pending = session.awaited_.contains(id);
      if (pending) session.released_.insert(id);
      return pending;
    });
    session.backend_.handle(std::move(message));
  }

  // From other workers.
  void operator()(protocol::PeerData&& message) const {
    if (from_client) message.data.owner = taken_at_end(message);
    session.transfers_.receive(std::move(message));
  }
  void operator()(protocol::WindowData&& message) const { session.transfers_.receive(std::move(message)); }
  void operator()(protocol::OpenWindow&& message) const {
    if (session.backend_.open_window(message)) return;
    if (session.withheld_.size() >= kMaxLines) throw RuleBroken("too many windows");
    session.withheld_.push_back(std::move(message.consent));
  }
  void operator()(protocol::FreeSegment&& message) const { session.segments_.erase(message.segment); }
  /// Tells the client when nothing here needs the part any more, which makes room for the next.
  std::shared_ptr<const void> taken_at_end(const protocol::PeerData& part) const {
    const protocol::Taken taken{part.transfer, part.data.bytes.size()};
    return {part.data.bytes.data(), [owner = part.data.owner, taken,
                                     &reporter = session.surroundings_.reporter](const void*) mutable {
              owner.reset();
              reporter.report(taken);
            }};
  }
  void operator()(protocol::PeerDone&& message) const {
    session.surroundings_.reporter.ended_elsewhere(message.command);
    remote_end(message.command, message.status);
  }

  void remote_end(protocol::CommandId command, std::int32_t status) const {
    if (status > 0)
      throw RuleBroken("the end of command " + std::to_string(command) + " with a status that is none");
    if (session.awaited_.erase(command) > 0) {
      session.backend_.set_remote(command, status);
      if (session.released_.erase(command) > 0) session.backend_.handle(protocol::Release{{}, {command}});
    } else {
      session.early_ends_.emplace(command, status);
    }
  }
};

Session::Session(zmq::context_t& context, Sockets sockets, const ControlChannel& control, std::string token,
                 std::unique_ptr<protocol::SharedOffer> offer, std::chrono::milliseconds patience,
                 Surroundings surroundings, Backend& backend)
    : sockets_(std::move(sockets)),
      control_(control),
      token_(std::move(token)),
      surroundings_(surroundings),
      backend_(backend),
      offer_(std::move(offer)),
      commands_monitor_(monitor(context, sockets_.commands, "commands")),
      reports_monitor_(monitor(context, surroundings.reporter.socket(), "reports")),
      patience_(patience) {
  surroundings_.peers.set_client(*this);
}

Session::~Session() = default;

void Session::run() {
  std::string reason;
  try {
    loop();
  } catch (const Ended& ended) {
    if (ended.reason.empty()) {
      spdlog::info("session of {} ended", client_);
    } else {
      spdlog::info("session of {} ended: {}", client_, ended.reason);
    }
    return;
  } catch (const protocol::DecodeError& error) {
    reason = std::string("malformed message: ") + error.what();
  } catch (const RuleBroken& error) {
    reason = std::string("the protocol's rules were broken: ") + error.what();
  } catch (const DeviceFailed& error) {
    reason = error.what();
  } catch (const std::exception& error) {
    reason = std::string("internal error: ") + error.what();
  }
  spdlog::error("session of {} ended: {}", client_, reason);
  surroundings_.reporter.close(reason);
  // The client closes the connection once it has read why; until then the reason may still be on its way.
  const auto deadline = std::chrono::steady_clock::now() + kLastWords;
  while (open_ && std::chrono::steady_clock::now() < deadline &&
         !lost(reports_monitor_, reports_connection_.descriptor))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void Session::loop() {
  auto now = std::chrono::steady_clock::now();
  auto last_look = now;
  auto next_of_sockets = now;
  protocol::Spinning in_memory(true);
  protocol::Spinning elsewhere(false);
  for (;;) {
    bool busy = surroundings_.tasks.run();
    if (!open_) busy = take_reports() || busy;
    if (shared_ && open_) busy = take_shared_commands() || busy;
    // Looking at a socket takes a system call.
    const bool sockets = now >= next_of_sockets;
    if (sockets) next_of_sockets = now + kSocketInterval;
    if (sockets || !shared_ || !open_ || due_from_socket_ > 0) busy = take_commands() || busy;
    if (sockets || !peer_lines_.empty()) busy = take_peers() || busy;
    busy = take_shared_peers() || busy;
    busy = take_part() || busy;
    surroundings_.peers.collect();
    if (pushing_.exchange(false)) {
      // In this order: what was not handed over yet is not lent yet.
      const bool settled = surroundings_.reporter.settled();
      if (shared_->collect() || !settled) pushing_ = true;
    }
    protocol::Spinning& spinning = shared_ ? in_memory : elsewhere;
    now = std::chrono::steady_clock::now();
    if (surroundings_.reporter.behind()) surroundings_.reporter.flush();
    if (busy) {
      backend_.flush();
      spinning.restart();
    } else if (backend_.attend()) {
      spinning.restart();
    } else if (!spinning.go_on(now) && vigil_.over(now)) {
      sleep();
      next_of_sockets = now;
    }
    const bool look = now - last_look > kLookInterval;
    if (open_ && (look || surroundings_.reporter.news()))
      surroundings_.reporter.receive([this](const Incoming& incoming) { return attach_reports(incoming); });
    if (look) {
      tend_peers();
      last_look = now;
    }
  }
}

template <typename List>
void Session::take(List list, const Incoming& incoming, bool from_client) {
  Dispatch dispatch{*this, from_client};
  reader_.read(list, incoming.records, incoming.frames, incoming.owner, dispatch);
  // Before the next batch: what follows may take longer to be understood than this one to be done.
  backend_.flush();
}

bool Session::take_commands() {
  // What the client says before both of its connections are attached waits here.
  if (!commands_.id.empty() && !open_) return false;
  Incoming incoming;
  int count = 0;
  for (; count < kTurn && protocol::receive(sockets_.commands, incoming); ++count) {
    if (incoming.routing_id == commands_.id) {
      if (shared_) {
        from_socket_.push_back(std::move(incoming));
      } else {
        take(protocol::ClientMessages{}, incoming, true);
        count_in(sockets_.commands, commands_, incoming);
      }
    } else if (const auto bulk = bulk_ids_.find(incoming.routing_id); bulk != bulk_ids_.end()) {
      take_bulk(bulk->second, std::move(incoming));
    } else if (open_) {
      attach_line(incoming);
    } else {
      attach(incoming, commands_.id, "commands");
      if (!commands_.id.empty() && commands_connection_.descriptor < 0) {
        commands_connection_.set(protocol::connection_of(incoming));
        open();
        return true;
      }
    }
  }
  return count > 0;
}

bool Session::take_shared_commands() {
  using Received = protocol::SharedMemory::Received;
  int count = 0;
  for (; count < kTurn; ++count) {
    Incoming incoming;
    if (due_from_socket_ > 0) {
      if (from_socket_.empty()) break;
      incoming = std::move(from_socket_.front());
      from_socket_.pop_front();
      --due_from_socket_;
    } else {
      const Received received = shared_->receive(incoming);
      if (received == Received::Nothing) break;
      if (received == Received::Elsewhere) {
        ++due_from_socket_;
        continue;
      }
    }
    take(protocol::ClientMessages{}, incoming, true);
  }
  return count > 0;
}

bool Session::take_reports() {
  Incoming incoming;
  int count = 0;
  for (; count < kTurn && !open_; ++count) {
    if (!protocol::receive(surroundings_.reporter.socket(), incoming)) break;
    attach(incoming, reports_id_, "reports");
    if (!reports_id_.empty() && reports_connection_.descriptor < 0) {
      reports_connection_.set(protocol::connection_of(incoming));
      open();
    }
  }
  return count > 0;
}

void Session::attach(const Incoming& incoming, std::string& identity, const char* socket) {
  const bool taken = !identity.empty();
  try {
    reader_.read(protocol::MessageList<protocol::Attach>{}, incoming.records, incoming.frames, incoming.owner,
                 [&](protocol::Attach&& message) {
                   if (!identity.empty()) throw protocol::DecodeError("the session has its client already");
                   if (!same_secret(message.token, token_)) throw protocol::DecodeError("wrong token");
                   identity = incoming.routing_id;
                 });
  } catch (const protocol::DecodeError& error) {
    if (!taken && !identity.empty()) throw;
    drop(socket, error);
  }
}

protocol::AttachLine Session::checked_line(const Incoming& incoming) {
  protocol::AttachLine line;
  reader_.read(protocol::MessageList<protocol::AttachLine>{}, incoming.records, incoming.frames,
               incoming.owner, [&](protocol::AttachLine&& message) { line = std::move(message); });
  if (!same_secret(line.token, token_)) throw protocol::DecodeError("wrong token");
  return line;
}

void Session::attach_inward(zmq::socket_ref socket, InwardLine& line, const Incoming& incoming) {
  line.id = incoming.routing_id;
  answer(socket, protocol::Received{line.receiver.received()}, line.id);
}

void Session::attach_line(const Incoming& incoming) {
  if (former_ids_.contains(incoming.routing_id)) return;
  try {
    const protocol::AttachLine message = checked_line(incoming);
    if (message.line == protocol::kCommandsLine) {
      if (!resumable()) throw protocol::DecodeError("the session cannot be resumed");
      // Of a former connection with the same descriptor.
      lost(commands_monitor_, -1);
      former_ids_.insert(commands_.id);
      attach_inward(sockets_.commands, commands_, incoming);
      commands_connection_.set(protocol::connection_of(incoming));
      back();
      return;
    }
    if (message.line == protocol::kReportsLine || bulk_ids_.size() >= kMaxLines)
      throw protocol::DecodeError("a line that does not belong here");
    std::string& id = message.to_client ? downlinks_[message.line].id : uplinks_[message.line].id;
    if (!id.empty()) {
      bulk_ids_.erase(id);
      former_ids_.insert(id);
    }
    bulk_ids_.emplace(incoming.routing_id, message.line);
    if (!message.to_client) {
      attach_inward(sockets_.commands, uplinks_[message.line], incoming);
      return;
    }
    OutwardLine& line = downlinks_[message.line];
    line.id = incoming.routing_id;
    if (!resumable()) line.sender.keep_nothing();
    answer(sockets_.commands, protocol::Received{}, line.id);
    line.sender.resume(sockets_.commands, message.received, line.id);
  } catch (const protocol::DecodeError& error) {
    // Whoever looks for a session that was here before need not wait for it.
    answer(sockets_.commands, protocol::SessionEnded{"the worker at this port has another session"},
           incoming.routing_id);
    drop("commands", error);
  }
}

std::optional<std::uint64_t> Session::attach_reports(const Incoming& incoming) {
  try {
    const protocol::AttachLine message = checked_line(incoming);
    if (message.line != protocol::kReportsLine || !resumable())
      throw protocol::DecodeError("a line that does not belong here");
    lost(reports_monitor_, -1);
    reports_connection_.set(protocol::connection_of(incoming));
    back();
    return message.received;
  } catch (const protocol::DecodeError& error) {
    drop("reports", error);
    return std::nullopt;
  }
}

void Session::take_bulk(protocol::LineId id, Incoming&& incoming) {
  if (const auto line = uplinks_.find(id); line != uplinks_.end()) {
    count_in(sockets_.commands, line->second, incoming);
    parts_.push_back({std::move(incoming), true});
    return;
  }
  protocol::LineSender& sender = downlinks_.at(id).sender;
  reader_.read(protocol::MessageList<protocol::Received>{}, incoming.records, incoming.frames, incoming.owner,
               [&](protocol::Received&& message) { sender.received(message.batches); });
}

void Session::count_in(zmq::socket_ref socket, InwardLine& line, const Incoming& incoming) const {
  if (!line.receiver.count(incoming) || patience_.count() == 0) return;
  answer(socket, protocol::Received{line.receiver.received()}, line.id);
}

void Session::Connection::set(int connected) {
  descriptor = connected;
  kept = Fd(::fcntl(connected, F_DUPFD_CLOEXEC, 0));
}

bool Session::Connection::drop() {
  tcp_info info{};
  socklen_t size = sizeof info;
  const bool known = ::getsockopt(kept.get(), IPPROTO_TCP, TCP_INFO, &info, &size) == 0;
  descriptor = -1;
  kept = Fd();
  return known && (info.tcpi_state == TCP_CLOSE_WAIT || info.tcpi_state == TCP_LAST_ACK);
}

void Session::cut(bool closed) {
  const auto patience = closed ? std::min(patience_, kPatienceWithClosed) : patience_;
  const auto until = std::chrono::steady_clock::now() + patience;
  if (!away_until_)
    spdlog::warn("the connection of {} {}; its session waits {} s for it to come back", client_,
                 closed ? "was closed" : "broke",
                 std::chrono::duration_cast<std::chrono::seconds>(patience).count());
  away_until_ = std::min(away_until_.value_or(until), until);
}

void Session::back() {
  if (commands_connection_.descriptor < 0 || reports_connection_.descriptor < 0) return;
  if (away_until_) spdlog::info("{} is back", client_);
  away_until_.reset();
  watch_->set({commands_connection_.descriptor, reports_connection_.descriptor});
}

void Session::tend_peers() {
  for (const protocol::PeerId peer : surroundings_.peers.tend(std::chrono::steady_clock::now())) {
    spdlog::warn("another node of {}'s session is out of reach", client_);
    surroundings_.reporter.report(protocol::PeerLost{peer});
  }
}

void Session::drop(const char* socket, const protocol::DecodeError& error) {
  warn_limited(strangers_,
               fmt::format("dropped a stranger's message on the {} socket: {}", socket, error.what()));
}

std::shared_ptr<std::byte> Session::take(std::size_t size) {
  return surroundings_.reporter.try_take(size);
}

void Session::send(protocol::PeerData&& part) {
  if (shared_) {
    surroundings_.reporter.report(part);
    pushing_ = true;
    // The main thread collects what the client gives back, and must not sleep without a look at it.
    surroundings_.tasks.post([] {});
    return;
  }
  surroundings_.tasks.post([this, part = std::move(part)] {
    // The connections were asked for before what is pushed was, but may come later.
    if (downlinks_.empty()) {
      surroundings_.reporter.report(part);
      return;
    }
    protocol::Batch batch;
    batch.add(part);
    const auto line =
        std::next(downlinks_.begin(), static_cast<std::ptrdiff_t>(next_downlink_++ % downlinks_.size()));
    line->second.sender.send(sockets_.commands, batch, line->second.id);
  });
}

bool Session::take_peers() {
  Incoming incoming;
  int count = 0;
  for (; count < kTurn && protocol::receive(sockets_.peers, incoming); ++count) {
    if (const auto peer = peer_ids_.find(incoming.routing_id); peer != peer_ids_.end()) {
      count_in(sockets_.peers, peer_lines_[peer->second], incoming);
      if (incoming.frames.empty())
        take(protocol::PeerMessages{}, incoming, false);
      else
        parts_.push_back({std::move(incoming), false});
      continue;
    }
    if (former_ids_.contains(incoming.routing_id)) continue;
    try {
      const protocol::AttachLine message = checked_line(incoming);
      if (peer_lines_.size() >= kMaxLines) throw protocol::DecodeError("too many peers");
      InwardLine& line = peer_lines_[message.line];
      if (!line.id.empty()) {
        peer_ids_.erase(line.id);
        former_ids_.insert(line.id);
      }
      attach_inward(sockets_.peers, line, incoming);
      peer_ids_.emplace(line.id, message.line);
    } catch (const protocol::DecodeError& error) {
      drop("peers", error);
    }
  }
  return count > 0;
}

bool Session::take_part() {
  if (parts_.empty()) return false;
  const Part part = std::move(parts_.front());
  parts_.pop_front();
  if (part.from_client)
    take(protocol::BulkMessages{}, part.incoming, true);
  else
    take(protocol::PeerMessages{}, part.incoming, false);
  return true;
}

bool Session::take_shared_peers() {
  using Received = protocol::SharedMemory::Received;
  int count = 0;
  for (const auto& peer : shared_peers_) {
    Incoming incoming;
    for (int turn = 0; turn < kTurn && peer->receive(incoming) == Received::Batch; ++turn, ++count) {
      take(protocol::PeerMessages{}, incoming, false);
    }
  }
  return count > 0;
}

void Session::open() {
  if (commands_.id.empty() || reports_id_.empty()) return;
  // Whose session it is was told before the client could know where to attach.
  pollfd control{control_.fd(), POLLIN, 0};
  if (::poll(&control, 1, 0) > 0) watch_control();
  protocol::Attached attached = backend_.description();
  attached.clock = backend_.clock();
  attached.resume_ms = shared_ ? 0 : static_cast<std::uint32_t>(patience_.count());
  surroundings_.reporter.open(reports_id_, shared_, attached);
  open_ = true;
  watch_.emplace(resumable() ? patience_ : std::chrono::milliseconds(0));
  back();
  spdlog::info("session of {} open{}", client_, shared_ ? ", through shared memory" : "");
}

void Session::watch_control() {
  const auto packet = control_.receive();
  if (!packet) throw Ended{"whoever started this worker is gone"};
  const Notice notice = parse_notice(*packet);
  switch (notice.kind) {
    case Notice::Kind::Taken:
      client_ = notice.text;
      attach_deadline_ = std::chrono::steady_clock::now() + std::chrono::seconds(kAttachSeconds);
      break;
    case Notice::Kind::HungUp:
      if (!open_) throw Ended{"the client has gone without attaching"};
      break;
    case Notice::Kind::Stop:
      throw DeviceFailed(notice.text);
    case Notice::Kind::Forgone:
      throw Ended{"the client has asked for another one instead"};
  }
}

bool Session::lost(zmq::socket_ref monitor, int connection) {
  bool found = false;
  zmq::message_t event;
  zmq::message_t endpoint;
  while (monitor.recv(event, zmq::recv_flags::dontwait)) {
    static_cast<void>(monitor.recv(endpoint, zmq::recv_flags::none));
    std::uint32_t value = 0;
    if (event.size() >= 6) std::memcpy(&value, event.data<char>() + 2, sizeof value);
    found = found || (connection >= 0 && static_cast<int>(value) == connection);
  }
  return found;
}

std::shared_ptr<std::byte> Session::segment(protocol::ObjectId id, std::uint64_t at, std::uint64_t size) {
  const auto found = segments_.find(id);
  if (found == segments_.end()) throw RuleBroken("segment " + std::to_string(id) + " is not shared");
  const auto& [bytes, life] = found->second;
  if (size > bytes.size() || at > bytes.size() - size)
    throw RuleBroken("a place that is not in segment " + std::to_string(id));
  return {std::const_pointer_cast<void>(life), bytes.data() + at};
}

void Session::add_segment(protocol::ObjectId id, std::shared_ptr<protocol::SharedSegment> segment) {
  const auto bytes = segment->bytes();
  backend_.share(bytes);
  // What is used last may be let go of on any thread.
  const std::shared_ptr<const void> life(bytes.data(), [this, segment = std::move(segment)](const void*) {
    surroundings_.tasks.post([this, segment] { backend_.unshare(segment->bytes()); });
  });
  segments_[id] = {bytes, life};
}

void Session::serve_offer() {
  const auto taken = offer_->serve(token_);
  if (!taken) return;
  if (taken->guest == protocol::Guest::Segment) {
    add_segment(taken->id, taken->segment);
  } else if (taken->guest == protocol::Guest::Client) {
    shared_ = taken->memory;
  } else {
    backend_.share(taken->memory->incoming());
    shared_peers_.push_back(taken->memory);
  }
}

void Session::sleep() {
  const auto something_in = [](const std::shared_ptr<protocol::SharedMemory>& memory) {
    return !memory->arm();
  };
  if (shared_ && open_ && something_in(shared_)) return;
  if (pushing_ && !shared_->arm_for_returns()) return;
  if (std::any_of(shared_peers_.begin(), shared_peers_.end(), something_in)) return;
  if (surroundings_.reporter.news()) return;
  std::vector<int> of_peers;
  if (!surroundings_.peers.rest(of_peers)) return;
  std::vector<zmq::pollitem_t> items{{nullptr, control_.fd(), ZMQ_POLLIN, 0},
                                     {nullptr, surroundings_.tasks.fd(), ZMQ_POLLIN, 0},
                                     {commands_monitor_.handle(), 0, ZMQ_POLLIN, 0},
                                     {reports_monitor_.handle(), 0, ZMQ_POLLIN, 0},
                                     {nullptr, offer_->fd(), ZMQ_POLLIN, 0},
                                     {sockets_.peers.handle(), 0, ZMQ_POLLIN, 0},
                                     {sockets_.commands.handle(), 0, ZMQ_POLLIN, 0},
                                     {surroundings_.reporter.socket().handle(), 0, ZMQ_POLLIN, 0}};
  // An open session's reports socket is the Reporter's alone; commands wait while the client attaches its
  // second connection.
  if (!open_ && !commands_.id.empty()) std::swap(items[6], items[7]);
  if (open_ || !commands_.id.empty()) items.pop_back();
  if (shared_) items.push_back({nullptr, shared_->doorbell(), ZMQ_POLLIN, 0});
  for (const auto& peer : shared_peers_) items.push_back({nullptr, peer->doorbell(), ZMQ_POLLIN, 0});
  if (resumable()) items.push_back({nullptr, surroundings_.reporter.descriptor(), ZMQ_POLLIN, 0});
  const auto reports = items.size() - 1;
  for (const int descriptor : of_peers) items.push_back({nullptr, descriptor, ZMQ_POLLIN, 0});
  const bool down = surroundings_.peers.down();
  const long patience = surroundings_.reporter.behind() ? kBehindMs : down || away_until_ ? kCutMs : kSleepMs;
  const int ready = zmq_poll(items.data(), static_cast<int>(items.size()), patience);
  if (ready < 0 && zmq_errno() != EINTR) throw zmq::error_t();

  if (shared_) shared_->hush();
  for (const auto& peer : shared_peers_) peer->hush();
  surroundings_.peers.hush();
  if (items[4].revents != 0) serve_offer();
  if (items[0].revents != 0) watch_control();
  if (down || std::any_of(items.end() - static_cast<std::ptrdiff_t>(of_peers.size()), items.end(),
                          [](const zmq::pollitem_t& item) { return item.revents != 0; }))
    tend_peers();
  if (resumable() && items[reports].revents != 0)
    surroundings_.reporter.receive([this](const Incoming& incoming) { return attach_reports(incoming); });
  bool gone = false;
  bool closed = false;
  for (auto [item, monitor, connection] : {std::tuple(2, &commands_monitor_, &commands_connection_),
                                           std::tuple(3, &reports_monitor_, &reports_connection_)})
    if (items[static_cast<std::size_t>(item)].revents != 0 && lost(*monitor, connection->descriptor)) {
      closed = connection->drop() || closed;
      gone = true;
    }
  if (gone) {
    // What came before the end of the connection may hold a Goodbye.
    while (open_ && (take_commands() || (shared_ && take_shared_commands()))) {
    }
    if (!resumable()) throw Ended{"the client is gone"};
    cut(closed);
  }
  if (away_until_ && std::chrono::steady_clock::now() > *away_until_)
    throw Ended{"the client is gone, and did not come back in time"};
  if (!open_ && std::chrono::steady_clock::now() > attach_deadline_)
    throw Ended{fmt::format("the client did not attach within {} seconds", kAttachSeconds)};
}

}  // namespace clique::daemon
