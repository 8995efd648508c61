#include "daemon/worker/session.hpp"

#include <poll.h>

#include <algorithm>
#include <optional>
#include <thread>
#include <vector>

#include "daemon/common/measurements.hpp"
#include "daemon/common/process.hpp"
#include "daemon/common/usage_sum.hpp"
#include "protocol/security/public_key.hpp"
#include "protocol/spin.hpp"
#include "protocol/tcp.hpp"

namespace clique::daemon {

namespace {

/// How often to look at sockets that bring little or nothing, besides after sleeping: the commands socket
/// while commands come through shared memory, and the peers socket while no worker is attached to it.
constexpr std::chrono::microseconds kSocketInterval{50};
/// How often to look for what wakes nobody up: strangers at the reports socket, and peers while there is much
/// to do.
constexpr std::chrono::seconds kLookInterval{1};
/// How long the reason of the session's end may take to reach the client: it follows all that is on its way.
constexpr std::chrono::seconds kLastWords{10};
/// How often the daemon gets new numbers of what the session has used, while there is something to do.
constexpr std::chrono::milliseconds kUsageInterval{100};
/// The same if the session is about to rest. It rests often, also between two messages, and the more commands
/// wait, the longer it takes to write the numbers.
constexpr std::chrono::milliseconds kUsageIntervalAtRest{5};
/// How often the round trip to the client is measured, while there is something to do.
constexpr std::chrono::seconds kRoundTripInterval{1};
/// Sleeping ends now and then, for what has no file descriptor.
constexpr std::chrono::milliseconds kLongSleep{1000};
/// While the client has not read what was reported.
constexpr std::chrono::milliseconds kSleepWhileBehind{1};
/// While connections have to be made again.
constexpr std::chrono::milliseconds kSleepWhileCut{50};

/// The descriptors that sleep() waits for.
class PollSet {
 public:
  /// @returns the position, for readable()
  std::size_t add(int descriptor) {
    items_.push_back({nullptr, descriptor, ZMQ_POLLIN, 0});
    return items_.size() - 1;
  }
  std::size_t add(zmq::socket_ref socket) {
    items_.push_back({socket.handle(), 0, ZMQ_POLLIN, 0});
    return items_.size() - 1;
  }
  /// Throws zmq::error_t.
  void wait(std::chrono::milliseconds limit) {
    const int ready = zmq_poll(items_.data(), static_cast<int>(items_.size()), limit.count());
    if (ready < 0 && zmq_errno() != EINTR) throw zmq::error_t();
  }
  bool readable(std::size_t position) const { return items_[position].revents != 0; }
  /// Any that was added at this position or later.
  bool readable_from(std::size_t position) const {
    return std::any_of(items_.begin() + static_cast<std::ptrdiff_t>(position), items_.end(),
                       [](const zmq::pollitem_t& item) { return item.revents != 0; });
  }

 private:
  std::vector<zmq::pollitem_t> items_;
};

InwardLine::Acknowledge acknowledge(std::chrono::milliseconds patience) {
  return patience.count() > 0 ? InwardLine::Acknowledge::Yes : InwardLine::Acknowledge::No;
}

}  // namespace

Session::Session(zmq::context_t& context, Sockets sockets, const ControlChannel& control, DialRequests& dials,
                 const protocol::Authenticator& authenticator, std::unique_ptr<protocol::SharedOffer> offer,
                 std::chrono::milliseconds patience, const Surroundings& surroundings, Backend& backend)
    : control_(control),
      dials_(dials),
      authenticator_(authenticator),
      surroundings_(surroundings),
      backend_(backend),
      patience_(patience),
      offer_(std::move(offer)),
      segments_(backend, surroundings.tasks, surroundings.memory),
      files_(surroundings, backend, [this](const FileRequest& request) { control_.send(request); }),
      dispatcher_(surroundings, backend, segments_, files_),
      connections_(context, sockets.commands, surroundings.reporter.socket(), patience),
      client_lines_(std::move(sockets.commands), admission_, connections_, dispatcher_, segments_,
                    surroundings, acknowledge(patience)),
      peer_inbox_(std::move(sockets.peers), admission_, dispatcher_, surroundings.waiting,
                  acknowledge(patience)),
      streams_(authenticator, surroundings, backend, dispatcher_, peer_inbox_) {
  streams_.client_line()->set_resumable(patience.count() > 0);
  client_lines_.use(streams_);
  surroundings_.peers.set_client(client_lines_);
}

void Session::run() {
  std::string reason;
  try {
    loop();
  } catch (const SessionOver& over) {
    spdlog::debug("session of {} ended{}{}", client_, over.reason.empty() ? "" : ": ", over.reason);
    send_record(over.reason);
    return;
  } catch (const protocol::DecodeError& error) {
    reason = std::string("malformed message: ") + error.what();
  } catch (const RuleBroken& error) {
    reason = std::string("the client broke a rule of the protocol: ") + error.what();
  } catch (const DeviceFailed& error) {
    reason = error.what();
  } catch (const protocol::SecurityError& error) {
    reason = error.what();
  } catch (const std::exception& error) {
    reason = std::string("internal error: ") + error.what();
  }
  spdlog::error("session of {} ended: {}", client_, reason);
  surroundings_.reporter.close(reason);
  send_record(reason);
  // The client closes the connection when it has read the reason, which may still be on its way.
  const auto deadline = Clock::now() + kLastWords;
  const auto& line = connections_.line();
  const auto closed = [&] {
    if (!line) return connections_.reports.lost();
    line->flush();
    return line->hung_up();
  };
  while (open_ && Clock::now() < deadline && !closed())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

protocol::Usage Session::usage() {
  protocol::Usage usage;
  const auto streams = streams_.client_traffic();
  usage.network_in = client_lines_.received_through_network() + streams.received;
  usage.network_out =
      surroundings_.reporter.sent_through_network() + client_lines_.pushed_through_network() + streams.sent;
  const Dispatcher::Counts& counts = dispatcher_.counts();
  usage.shared_in = client_lines_.received_through_memory() + counts.from_segments.value();
  usage.shared_out = surroundings_.reporter.sent_through_memory() + counts.to_segments.value();
  usage.peers_in = peer_inbox_.received() + counts.from_windows.value() + streams_.peer_traffic().received;
  usage.peers_out = surroundings_.peers.sent();
  usage.kernels = counts.kernels.value();
  usage.memory = surroundings_.memory.used();
  usage.peak_memory = surroundings_.memory.peak();
  return usage;
}

SessionLinks Session::links() {
  SessionLinks links;
  LinkUsage& client = links.client;
  if (client_lines_.attached())
    ++(client_lines_.shares()       ? client.shared_memory
       : !client_lines_.line()      ? client.zeromq
       : streams_.client_uses_ucx() ? client.ucx
                                    : client.streams);
  const auto of_client = streams_.client_traffic();
  client.connections = of_client.lines + client_lines_.used_connections();
  client.bulk_in = of_client.received;
  client.bulk_in_us = whole_microseconds(of_client.receiving);
  client.bulk_out = of_client.sent;
  client.bulk_out_us = whole_microseconds(of_client.sending);

  const auto of_peers = streams_.peer_traffic();
  links.peers = surroundings_.peers.usage();
  add(links.peers, peer_inbox_.usage(streams_.peers_use_ucx()));
  links.peers.connections += of_peers.lines;
  links.peers.bulk_in = of_peers.received;
  links.peers.bulk_in_us = whole_microseconds(of_peers.receiving);
  return links;
}

void Session::send_record(const std::string& end) {
  // More would not fit into a packet.
  constexpr std::size_t kLongest = 1024;
  // The daemon reads the page again when it has the record.
  write_usage(Clock::now());
  control_.send(SessionRecord{end.substr(0, kLongest), usage(), links()});
}

void Session::write_usage(Clock::time_point now) {
  if (!usage_page_) return;
  if (now >= next_round_trip_ && !client_lines_.shares()) {
    next_round_trip_ = now + kRoundTripInterval;
    const int socket = streams_.client_line()->socket();
    const auto time = socket >= 0 ? protocol::round_trip(socket) : std::chrono::microseconds(0);
    if (time.count() > 0) Measurements::of_process().note_round_trip(time);
  }
  usage_page_->write(usage());
  usage_page_->write(links());
  usage_page_->write(Measurements::of_process().read());
  usage_page_->write_queued(backend_.queued_commands());
}

void Session::loop() {
  auto now = Clock::now();
  auto last_look = now;
  auto next_of_sockets = now;
  auto last_usage = now - kUsageInterval;
  bool used_since_written = false;
  protocol::Spinning in_memory(true);
  protocol::Spinning elsewhere(false);
  for (;;) {
    const bool shared = client_lines_.shares();
    bool busy = surroundings_.tasks.run();
    surroundings_.pacer.beat();
    busy = dispatcher_.go_on() || busy;
    if (!open_) busy = receive_reports() || busy;
    if (shared && open_) busy = client_lines_.receive_shared() || busy;
    // Looking at a socket takes a system call.
    const bool sockets = now >= next_of_sockets;
    if (sockets) next_of_sockets = now + kSocketInterval;
    if (sockets || !shared || !open_ || client_lines_.waits_for_socket()) {
      busy = client_lines_.receive() || busy;
      if (!open_) try_open();
    }
    // A busy worker never rests, and the client waits for each answer.
    if (sockets) busy = serve_offer() || busy;
    if (sockets || peer_inbox_.attached()) busy = peer_inbox_.receive() || busy;
    busy = peer_inbox_.receive_shared() || busy;
    busy = dispatcher_.handle_part() || busy;
    surroundings_.waiting.check();
    surroundings_.peers.collect();
    client_lines_.collect();
    protocol::Spinning& spinning = shared ? in_memory : elsewhere;
    now = Clock::now();
    if (surroundings_.reporter.behind()) surroundings_.reporter.flush();
    surroundings_.reporter.flush_unhurried();
    bool rest = false;
    used_since_written = used_since_written || busy;
    if (busy) {
      backend_.flush();
      spinning.restart();
    } else if (backend_.attend()) {
      spinning.restart();
    } else {
      const bool expects = backend_.awaits_device() || dispatcher_.awaits_parts();
      rest = dispatcher_.paused() || (!spinning.go_on(now, expects) && dispatcher_.transfers_over(now));
    }
    // Others choose devices by these numbers, so they must be right while the session rests.
    if (now - last_usage >= (rest && used_since_written ? kUsageIntervalAtRest : kUsageInterval)) {
      write_usage(now);
      last_usage = now;
      used_since_written = false;
    }
    if (rest) {
      sleep(used_since_written ? kUsageIntervalAtRest : kLongSleep);
      next_of_sockets = now;
    }
    const bool look = now - last_look > kLookInterval;
    if (open_ && !connections_.line() && (look || surroundings_.reporter.news())) look_at_reports();
    if (look || files_.waiting() || dials_.waiting()) look_at_starter();
    if (look) {
      tend_peers();
      last_look = now;
    }
  }
}

bool Session::receive_reports() {
  protocol::Incoming incoming;
  int count = 0;
  for (; count < kBatchesPerTurn && !open_; ++count) {
    if (!protocol::receive(surroundings_.reporter.socket(), incoming)) break;
    admission_.attach(incoming, reports_id_, "reports");
    if (reports_id_.empty() || connections_.reports.up()) continue;
    connections_.reports.set(incoming);
    try_open();
  }
  return count > 0;
}

void Session::take_client_line() {
  const auto& line = streams_.client_line();
  if (open_) {
    // A client that attached over ZeroMQ has no use for it.
    if (!connections_.line()) throw protocol::DecodeError("a second connection for commands");
    if (!connections_.resumable()) throw protocol::DecodeError("the session cannot be resumed");
    connections_.resumed();
    return;
  }
  connections_.use(line);
  client_lines_.use(line);
  try_open();
}

void Session::try_open() {
  if (open_ || !client_lines_.attached() || (!client_lines_.line() && reports_id_.empty())) return;
  // The notice of whose session it is was sent before the client could know where to attach.
  look_at_starter();
  if (client_lines_.line() && !client_lines_.shares() && guest_memory_ && guest_memory_->possessed())
    client_lines_.share(guest_memory_);
  const bool shared = client_lines_.shares();
  protocol::Attached attached = backend_.description();
  for (protocol::DeviceDescription& device : attached.devices) surroundings_.memory.restrict(device);
  attached.clock = backend_.clock();
  attached.resume_ms = shared ? 0 : static_cast<std::uint32_t>(patience_.count());
  if (connections_.line() && shared) connections_.line()->set_resumable(false);
  surroundings_.reporter.open(connections_.line(), reports_id_, client_lines_.shared(), attached);
  open_ = true;
  client_lines_.open();
  connections_.watch(!shared && patience_.count() > 0, client_);
  const bool machine = shared && client_lines_.shared() == guest_memory_;
  spdlog::info("session of {} open{}", client_,
               machine  ? ", through memory of its virtual machine"
               : shared ? ", through shared memory"
                        : "");
}

void Session::look_at_reports() {
  surroundings_.reporter.receive(
      [this](const protocol::Incoming& incoming) { return resume_reports(incoming); });
}

std::optional<std::uint64_t> Session::resume_reports(const protocol::Incoming& incoming) {
  try {
    const protocol::AttachLine message = admission_.attach_line(incoming);
    if (message.line != protocol::kReportsLine || !connections_.resumable())
      throw protocol::DecodeError("line " + std::to_string(message.line) + " does not belong here");
    if (!report_attempts_.advance(message.attempt)) return std::nullopt;
    connections_.reports.replace(incoming);
    connections_.resumed();
    return message.received;
  } catch (const protocol::DecodeError& error) {
    admission_.drop("reports", error);
    return std::nullopt;
  }
}

void Session::tend_peers() {
  for (PeerLinks::Outage& outage : surroundings_.peers.tend(Clock::now())) {
    spdlog::warn("session of {}: {} cannot be reached{}{}{}", client_, outage.where,
                 outage.reason.empty() ? "" : ": ", outage.reason,
                 outage.lost ? "; it is given up" : "; it is tried again and again");
    if (outage.lost)
      surroundings_.reporter.report(protocol::PeerLost{outage.peer, std::move(outage.reason), outage.exited});
    else
      surroundings_.reporter.report(protocol::PeerSilent{outage.peer, std::move(outage.reason)});
  }
}

void Session::look_at_starter() {
  pollfd control{control_.fd(), POLLIN, 0};
  while (::poll(&control, 1, 0) > 0) obey_starter();
}

void Session::obey_starter() {
  Fd descriptor;
  const auto packet = control_.receive(&descriptor);
  if (!packet) throw SessionOver{"the process that started this worker is gone"};
  const Notice notice = parse_notice(*packet);
  switch (notice.kind) {
    case Notice::Kind::Taken:
      client_ = notice.text;
      if (!notice.title.empty()) set_process_title("cliqued worker " + notice.title);
      surroundings_.memory.lower(notice.memory);
      if (!notice.devices.empty()) backend_.keep_devices(notice.devices);
      attach_deadline_ = Clock::now() + std::chrono::seconds(kAttachSeconds);
      break;
    case Notice::Kind::HungUp:
      if (!open_) throw SessionOver{"the client has gone without attaching"};
      break;
    case Notice::Kind::Stop:
      throw DeviceFailed(notice.text);
    case Notice::Kind::Stream:
      if (streams_.accept(std::move(descriptor), notice.request, notice.text)) take_client_line();
      break;
    case Notice::Kind::Usage:
      usage_page_.emplace(std::move(descriptor));
      backend_.count_commands();
      break;
    case Notice::Kind::Pace:
      surroundings_.pacer.obey(PacePage(std::move(descriptor)));
      break;
    case Notice::Kind::Bell:
      surroundings_.pacer.use_bell(std::move(descriptor));
      break;
    case Notice::Kind::GuestMemory:
      use_guest_memory(descriptor, notice);
      break;
    case Notice::Kind::File:
      files_.opened(notice, std::move(descriptor));
      break;
    case Notice::Kind::Dialled:
      dials_.answered(notice, std::move(descriptor));
      break;
    case Notice::Kind::Serve:
      throw DeviceFailed("this worker was told twice which GPU to serve");
  }
}

void Session::use_guest_memory(const Fd& file, const Notice& notice) {
  using protocol::SharedSegment;
  try {
    // Before the client's programs run here: afterwards nothing in this process leads to other sessions'
    // regions. The region comes last, because its marks tell the client that all of it can be used.
    if (notice.segments_size > 0)
      segments_.use_memory(SharedSegment::part_of(file, notice.segments_at, notice.segments_size));
    guest_memory_ = protocol::SharedMemory::create_in(
        SharedSegment::part_of(file, notice.memory, protocol::SharedMemory::kBytes));
    backend_.share(guest_memory_->incoming());
    backend_.share(guest_memory_->outgoing());
  } catch (const std::exception& error) {
    spdlog::warn("the memory of a virtual machine cannot be used: {}", error.what());
  }
}

bool Session::serve_offer() {
  using Role = protocol::Authenticator::Role;
  auto taken =
      offer_->serve(authenticator_.pass(Role::Client).secret, authenticator_.pass(Role::Peer).secret);
  if (!taken) return false;
  switch (taken->guest) {
    case protocol::Guest::Segment:
      take_segment(std::move(taken->segment));
      break;
    case protocol::Guest::Client:
      client_lines_.share(taken->memory);
      break;
    case protocol::Guest::Peer:
      backend_.share(taken->memory->incoming());
      peer_inbox_.add(taken->memory);
      break;
  }
  return true;
}

void Session::take_segment(protocol::SharedOffer::Segment&& segment) {
  using protocol::SharedOffer;
  if (segment.address == 0) {
    // The client need not wait until the memory is pinned: no command can fail for the lack of that.
    if (SharedOffer::answer(segment, "")) segments_.add(segment.id, std::move(segment.memory));
    return;
  }
  try {
    segments_.add_at(segment.address, segment.id, *segment.memory);
    if (!SharedOffer::answer(segment, "")) segments_.remove(segment.id);
  } catch (const ClError& error) {
    SharedOffer::answer(segment, error.what());
  }
}

void Session::sleep(std::chrono::milliseconds most) {
  // Until the client's commands go on, nobody looks at those that follow.
  const bool paused = dispatcher_.paused();
  if ((!client_lines_.arm() && !paused) || !peer_inbox_.arm()) return;
  if (surroundings_.reporter.news()) return;
  std::vector<int> of_peers;
  if (!surroundings_.peers.rest(of_peers)) return;

  PollSet poll;
  const auto control = poll.add(control_.fd());
  poll.add(surroundings_.tasks.fd());
  const auto monitor_of_commands = poll.add(connections_.commands.monitor());
  const auto monitor_of_reports = poll.add(connections_.reports.monitor());
  const auto offer = poll.add(offer_->fd());
  poll.add(peer_inbox_.socket());
  poll.add(peer_inbox_.descriptor());
  const auto& line = client_lines_.line();
  if (line && !paused) poll.add(line->descriptor());
  // Commands wait in their socket while the client attaches its reports connection; and an open session's
  // reports socket is the Reporter's alone.
  if (!line && !paused && (open_ || !client_lines_.attached())) poll.add(client_lines_.socket());
  if (!open_) poll.add(surroundings_.reporter.socket());
  const auto& shared = client_lines_.shared();
  if (shared && !paused) poll.add(shared->doorbell());
  for (const auto& peer : peer_inbox_.shared()) poll.add(peer->doorbell());
  std::optional<std::size_t> reports;
  if (connections_.resumable() && !line) reports = poll.add(surroundings_.reporter.descriptor());
  std::optional<std::size_t> first_peer;
  for (const int descriptor : of_peers) {
    const auto position = poll.add(descriptor);
    if (!first_peer) first_peer = position;
  }

  const bool down = surroundings_.peers.down();
  const std::chrono::milliseconds longest = surroundings_.reporter.behind()      ? kSleepWhileBehind
                                            : paused                             ? surroundings_.pacer.again()
                                            : surroundings_.reporter.unhurried() ? protocol::kLongestUnhurried
                                            : down || connections_.waiting()     ? kSleepWhileCut
                                                                                 : kLongSleep;
  poll.wait(surroundings_.pacer.longest_sleep(std::min(longest, most)));
  if (shared) shared->hush();
  for (const auto& peer : peer_inbox_.shared()) peer->hush();
  surroundings_.peers.hush();
  if (poll.readable(offer)) serve_offer();
  if (poll.readable(control)) obey_starter();
  if (down || (first_peer && poll.readable_from(*first_peer))) tend_peers();
  if (reports && poll.readable(*reports)) look_at_reports();
  if (line || poll.readable(monitor_of_commands) || poll.readable(monitor_of_reports))
    handle_loss(connections_.look());
  const auto now = Clock::now();
  if (connections_.overdue(now)) throw SessionOver{"the client is gone, and did not come back in time"};
  if (!open_ && now > attach_deadline_)
    throw SessionOver{fmt::format("the client did not attach within {} seconds", kAttachSeconds)};
}

void Session::handle_loss(ClientConnections::Loss loss) {
  if (loss == ClientConnections::Loss::None) return;
  // The messages before the connection's end may contain a Goodbye.
  while (open_ && (client_lines_.receive() || (client_lines_.shares() && client_lines_.receive_shared()))) {
  }
  if (!connections_.resumable()) throw SessionOver{"the client is gone"};
  connections_.wait(loss);
}

}  // namespace clique::daemon
