#include "daemon/worker/connections/peer_links.hpp"

#include <algorithm>
#include <random>

#include "daemon/worker/connections/worker_streams.hpp"
#include "daemon/worker/errors.hpp"
#include "protocol/printable.hpp"
#include "protocol/streams/stream_line.hpp"
#include "protocol/transport/endpoint.hpp"
#include "protocol/transport/zmq_line.hpp"

namespace clique::daemon {

namespace {
/// The size from which messages are spread over several connections.
constexpr std::size_t kLarge = protocol::kLeastPartSize;

/// Why a line is down, without the place, which is told beside it.
std::string cause_of(const std::string& why) {
  constexpr std::string_view kBefore = " cannot be reached: ";
  const auto at = why.find(kBefore);
  return at == std::string::npos ? why : why.substr(at + kBefore.size());
}
}  // namespace

std::uint64_t random_id() {
  std::random_device random;
  return (std::uint64_t{random()} << 32U) | random();
}

void PeerLinks::connect(const protocol::ConnectPeer& message) {
  const std::string& endpoint = message.streams.empty() ? message.endpoint : message.daemon;
  Link link{.endpoint = message.endpoint,
            .pass = message.pass,
            .where = "node " + protocol::printable(message.node) + " at " + protocol::printable(endpoint)};
  if (message.streams.empty()) {
    if (!protocol::is_tcp_endpoint(message.endpoint))
      throw RuleBroken("endpoint '" + message.endpoint + "' of peer " + std::to_string(message.peer) +
                       " is not tcp://HOST:PORT");
    add_line(link);
  } else {
    add_streams(link, message);
  }
  const std::lock_guard lock(mutex_);
  links_.insert_or_assign(message.peer, std::move(link));
}

void PeerLinks::add_streams(Link& link, const protocol::ConnectPeer& message) {
  protocol::StreamTarget target{.endpoint = message.daemon,
                                .role = protocol::StreamRequest::Role::Peer,
                                .secret = message.pass.stream_key,
                                .encryption = message.pass.encryption(),
                                .known = message.pass.known_ciphers(),
                                .compression = compression_,
                                .ucx = message.ucx,
                                .dialler = dialler_};
  if (message.ucx && !ucx_) throw RuleBroken(std::string(kNoUcx));
  if (!protocol::is_tcp_endpoint(target.endpoint) || message.streams.size() != target.worker.size())
    throw RuleBroken("daemon '" + message.daemon + "' of peer " + std::to_string(message.peer) +
                     " is not tcp://HOST:PORT, or its address for streams does not have " +
                     std::to_string(target.worker.size()) + " bytes");
  std::copy(message.streams.begin(), message.streams.end(), target.worker.begin());
  // The receiver distinguishes its peers' lines by their ids.
  auto line = std::make_unique<protocol::StreamLine>(target, random_id(), protocol::StreamLine::Use{});
  line->set_resumable(patience_.count() > 0);
  link.lines.push_back({std::move(line)});
  link.streams = std::make_unique<PeerStreams>(link.where, patience_, std::move(target), sending_);
}

void PeerLinks::add_line(Link& link) {
  auto line = std::make_unique<protocol::ZmqLine>(context_, link.endpoint, link.pass, random_id(),
                                                  protocol::ZmqLine::Direction::Outward);
  line->set_resumable(patience_.count() > 0);
  link.lines.push_back({std::move(line)});
}

void PeerLinks::share(protocol::PeerId peer, std::shared_ptr<protocol::SharedMemory> memory) {
  const std::lock_guard lock(mutex_);
  links_.at(peer).shared = std::move(memory);
}

bool PeerLinks::known(protocol::PeerId peer) {
  if (peer == protocol::kClientPeer) return client_ != nullptr;
  if (peer == protocol::kOwnPeer) return static_cast<bool>(own_);
  const std::lock_guard lock(mutex_);
  return links_.contains(peer);
}

bool PeerLinks::shares(protocol::PeerId peer) {
  const std::lock_guard lock(mutex_);
  const auto link = links_.find(peer);
  return link != links_.end() && link->second.shares();
}

std::shared_ptr<std::byte> PeerLinks::take(protocol::PeerId peer, std::size_t size) {
  if (peer == protocol::kClientPeer) return client_->take(size);
  const std::lock_guard lock(mutex_);
  const auto link = links_.find(peer);
  return link != links_.end() && link->second.shares() ? link->second.shared->take(size) : nullptr;
}

std::uint64_t PeerLinks::chunk_size(protocol::PeerId peer, std::uint64_t size) {
  if (peer == protocol::kClientPeer && client_->shares()) {
    // Several threads of the client copy chunks out of shared memory. They wait less for each other with
    // larger chunks, but with few chunks nothing overlaps.
    constexpr std::uint64_t kChunks = 64;
    return std::clamp(size / kChunks / protocol::kPartSize * protocol::kPartSize, protocol::kPartSize,
                      protocol::kLargestSharedPart);
  }
  // Where other parts keep the streams busy, fewer parts cost less.
  const unsigned streams = idle_streams(peer);
  return streams > 0 ? protocol::part_size(size, streams) : protocol::kPartSize;
}

unsigned PeerLinks::idle_streams(protocol::PeerId peer) {
  if (peer == protocol::kClientPeer)
    return client_->busy() ? 0 : protocol::stream_count(client_->round_trip(), protocol::Encryption::All);
  const std::lock_guard lock(mutex_);
  const auto found = links_.find(peer);
  if (found == links_.end() || found->second.shares() || !found->second.streams) return 0;
  PeerStreams& streams = *found->second.streams;
  return streams.busy() ? 0 : streams.count(found->second.round_trip());
}

unsigned PeerLinks::chunks_ahead(protocol::PeerId peer, std::size_t chunk) {
  // Chunks: enough for the stages of a transfer to overlap, and a limit on the memory that they wait in.
  constexpr std::size_t kFewest = 6;
  constexpr std::size_t kMost = 64;
  // Bytes: shared memory is small.
  constexpr std::size_t kShared = 16U << 20U;
  std::chrono::nanoseconds round_trip{0};
  bool shared = false;
  if (peer == protocol::kClientPeer) {
    round_trip = client_->round_trip();
    shared = client_->shares();
  } else {
    const std::lock_guard lock(mutex_);
    const auto link = links_.find(peer);
    shared = link == links_.end() || link->second.shared;
    if (!shared) round_trip = link->second.lines.front().line->round_trip();
  }
  if (shared) return static_cast<unsigned>(std::min(kFewest, kShared / chunk));
  const std::size_t window = protocol::window_size(round_trip, protocol::Encryption::All);
  return static_cast<unsigned>(std::clamp(window / chunk, kFewest, kMost));
}

bool PeerLinks::try_shared(Link& link) {
  if (!link.shares()) return false;
  const bool payloads = !batch_.payloads().empty();
  const std::uint64_t bytes = bytes_of(batch_);
  if (link.shared->try_send(batch_) != protocol::SharedMemory::Sent::Yes) return false;
  sent_.add(bytes);
  if (payloads) lending_ = true;
  return true;
}

bool PeerLinks::try_stream(Link& link, protocol::PeerData& part) {
  if (!link.streams || link.gone || link.shares() || part.data.bytes.size() < kLarge) return false;
  sent_.add(part.data.bytes.size());
  link.streams->send(std::move(part), link.round_trip());
  return true;
}

void PeerLinks::PeerStreams::send(protocol::PeerData&& part, std::chrono::nanoseconds round_trip) {
  set_.open(count(round_trip), 0);
  set_.send(std::move(part));
}

std::shared_ptr<std::byte> PeerLinks::PeerStreams::place(const protocol::RecordHeader& /*part*/) {
  throw protocol::DecodeError("a worker sends data on a stream that it has accepted");
}

void PeerLinks::PeerStreams::arrived(protocol::PeerData&& /*part*/) {
  throw protocol::DecodeError("a worker sends a message on a stream that it has accepted");
}

void PeerLinks::PeerStreams::failed(const std::string& reason) {
  spdlog::warn("large transfers to {}: {}", where_, reason);
  lost_.store(true, std::memory_order_relaxed);
}

void PeerLinks::send_batch(Link& link) {
  if (try_shared(link)) return;
  if (!link.gone) sent_.add(bytes_of(batch_));
  with_lines(link, [&] {
    if (link.streams || batch_.payloads().empty() || batch_.payloads().front().bytes.size() < kLarge) {
      link.lines.front().line->send(batch_);
      return;
    }
    while (protocol::worth_another_connection(
        link.lines.size(), link.lines.back().line->round_trip().count() > 0, link.long_way()))
      add_line(link);
    Tended& next = link.lines[link.next++ % link.lines.size()];
    next.used = true;
    next.line->send(batch_);
  });
  batch_.clear();
}

template <typename F>
void PeerLinks::with_lines(Link& link, F&& action) {
  if (link.gone) return;
  try {
    action();
  } catch (const protocol::Line::Over&) {
    // The client learns it from its own link to the peer.
    end(link);
  }
}

LinkUsage PeerLinks::usage() {
  LinkUsage usage;
  const std::lock_guard lock(mutex_);
  for (auto& [peer, link] : links_) {
    usage.connections += static_cast<std::uint64_t>(
        std::count_if(link.lines.begin(), link.lines.end(), [](const Tended& one) { return one.used; }));
    if (link.streams) {
      const protocol::StreamSet::Traffic traffic = link.streams->traffic();
      usage.connections += traffic.lines;
      usage.bulk_out += traffic.sent;
    }
    ++(link.shared                ? usage.shared_memory
       : !link.streams            ? usage.zeromq
       : link.streams->uses_ucx() ? usage.ucx
                                  : usage.streams);
  }
  usage.bulk_out_us = whole_microseconds(sending_->total());
  return usage;
}

void PeerLinks::end(Link& link) {
  link.gone = true;
  for (const Tended& tended : link.lines) tended.line->close(0);
  if (link.streams) link.streams->close();
  // The peer gives no blocks back any more.
  if (link.shared) link.shared->forget_loans();
}

void PeerLinks::lose(protocol::PeerId peer, Link& link, bool exited, std::vector<Outage>& outages) const {
  end(link);
  if (patience_.count() > 0) outages.push_back({peer, link.where, link.reason, true, exited});
}

std::vector<PeerLinks::Outage> PeerLinks::tend(std::chrono::steady_clock::time_point now) {
  using Advice = protocol::Repair::Advice;
  std::vector<Outage> outages;
  const std::lock_guard lock(mutex_);
  down_ = false;
  for (auto& [peer, link] : links_) {
    if (link.streams && link.streams->lost() && !link.gone) lose(peer, link, false, outages);
    bool fine = true;
    for (Tended& tended : link.lines) {
      if (link.gone) break;
      const Advice advice = tended.repair.look(*tended.line, now, patience_);
      fine = fine && advice == Advice::Fine;
      // Another attempt forgets it.
      if (std::string why = tended.line->why(); !why.empty()) link.reason = cause_of(why);
      if (advice == Advice::GiveUp || (advice != Advice::Fine && patience_.count() == 0)) {
        lose(peer, link, tended.line->end() == protocol::ConnectionEnd::Gone, outages);
        break;
      }
      if (advice == Advice::Reconnect) tended.line->reconnect();
      with_lines(link, [&] { tended.line->listen(); });
      down_ = down_ || advice != Advice::Fine;
    }
    if (link.gone) continue;
    if (fine) {
      link.down_since = {};
      link.told = false;
      link.reason.clear();
      continue;
    }
    if (link.down_since == std::chrono::steady_clock::time_point{}) link.down_since = now;
    if (link.told || now - link.down_since < protocol::kSilence) continue;
    link.told = true;
    outages.push_back({peer, link.where, link.reason});
  }
  return outages;
}

void PeerLinks::collect() {
  if (!lending_) return;
  const std::lock_guard lock(mutex_);
  bool left = false;
  for (auto& [peer, link] : links_) left = (link.shared && link.shared->collect()) || left;
  lending_ = left;
}

bool PeerLinks::rest(std::vector<int>& descriptors) {
  const std::lock_guard lock(mutex_);
  bool nothing = true;
  for (auto& [peer, link] : links_) {
    if (!link.gone)
      for (const Tended& tended : link.lines) {
        descriptors.push_back(tended.line->descriptor());
        descriptors.push_back(tended.line->news());
      }
    if (!link.shared) continue;
    nothing = link.shared->arm_for_returns() && nothing;
    descriptors.push_back(link.shared->doorbell());
  }
  return nothing;
}

void PeerLinks::hush() {
  const std::lock_guard lock(mutex_);
  for (auto& [peer, link] : links_)
    if (link.shared) link.shared->hush();
}

}  // namespace clique::daemon
