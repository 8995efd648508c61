#include "icd/core/workers/worker.hpp"

#include <cstdio>

#include <algorithm>

#include "icd/core/events/event.hpp"
#include "icd/core/objects/context.hpp"
#include "icd/core/transfers/host_segment.hpp"
#include "icd/remote/errand.hpp"
#include "icd/remote/threads.hpp"
#include "protocol/messages.hpp"

namespace clique::icd {

void HostRange::fill(std::byte* to, std::span<const std::byte> from, Through through) {
  const std::shared_lock lock(mutex_);
  if (!closed_) copy(to, from.data(), from.size(), through);
}

void HostRange::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

Worker::Worker(Node& node, std::size_t driver, unsigned index)
    : node_(node), driver_(driver), index_(index) {}

Worker::~Worker() {
  if (link_ != nullptr) link_->close();
}

void Worker::open() {
  const std::lock_guard lock(opening_);
  if (opened()) return;
  // Reports, which use it, may come before start() returns.
  link_ = &node_.link(driver_);
  link_->start(*this);
  opened_.store(true, std::memory_order_release);
}

void Worker::expect_event(const Ref<Event>& event) {
  {
    const std::lock_guard lock(mutex_);
    if (!lost_) {
      pending_[event->id()].event = event;
      return;
    }
  }
  event->advance(CL_DEVICE_NOT_AVAILABLE);
}

void Worker::expect_data(protocol::CommandId command, DataSink sink) {
  const std::lock_guard lock(mutex_);
  const auto found = pending_.find(command);
  if (found != pending_.end()) found->second.sink = std::move(sink);
}

void Worker::outrun(protocol::CommandId command) {
  const std::lock_guard lock(mutex_);
  const auto found = pending_.find(command);
  if (found == pending_.end()) return;
  found->second.outrun = true;
  ++outrun_;
}

bool Worker::nothing_to_come() const {
  const std::lock_guard lock(mutex_);
  return pending_.size() == outrun_;
}

void Worker::expect_bulk(protocol::CommandId command, Bulk bulk) {
  const std::lock_guard lock(mutex_);
  const auto found = pending_.find(command);
  if (found == pending_.end()) return;
  found->second.missing = bulk.fills.size();
  found->second.bulk = std::move(bulk);
}

void Worker::upload(const protocol::Command& header, protocol::ObjectId object, std::uint64_t offset,
                    protocol::Payload content) {
  if (const auto place = HostSegment::find(content.bytes, *this)) {
    link().expect_transfer(content.bytes.size());
    link().post(
        protocol::WriteFromSegment{header, object, offset, content.bytes.size(), place->segment, place->at});
    return;
  }
  Bulk bulk;
  bulk.upload = true;
  expect_bulk(header.id, std::move(bulk));
  link().post(protocol::Expect{header, object, offset, content.bytes.size()});
  link().upload(header.id, std::move(content));
}

std::vector<Ref<Event>> Worker::pending(const std::function<bool(const Event&)>& condition) const {
  std::vector<Ref<Event>> found;
  const std::lock_guard lock(mutex_);
  for (const auto& [id, pending] : pending_)
    if (condition(*pending.event)) found.push_back(pending.event);
  return found;
}

void Worker::add_context(Context& context) {
  const std::lock_guard lock(mutex_);
  contexts_.push_back(&context);
}

void Worker::remove_context(Context& context) {
  const std::lock_guard lock(mutex_);
  std::erase(contexts_, &context);
}

void Worker::connect_peer(const Worker& peer) {
  const std::lock_guard lock(mutex_);
  if (peers_.size() <= peer.index()) peers_.resize(peer.index() + 1);
  if (peers_[peer.index()]) return;
  peers_[peer.index()] = true;
  const WorkerEndpoint& to = peer.link().endpoint();
  link().post(protocol::ConnectPeer{peer.index(), to.peers, to.token, to.shared});
}

void Worker::expect_push(const Ref<Event>& arrival) {
  // Let go of after the lock: an event may be the last to hold its context, which says goodbye to its
  // workers.
  std::vector<Ref<Event>> ended;
  {
    const std::lock_guard lock(mutex_);
    if (!lost_) {
      const auto first = std::stable_partition(pushes_.begin(), pushes_.end(),
                                               [](const Ref<Event>& push) { return !push->ended(); });
      ended.assign(first, pushes_.end());
      pushes_.erase(first, pushes_.end());
      pushes_.push_back(arrival);
      return;
    }
  }
  arrival->settle(CL_DEVICE_NOT_AVAILABLE);
}

void Worker::release_object(protocol::ObjectId id) {
  link().post(protocol::Release{{id}, {}});
}

void Worker::release_event(protocol::CommandId id) {
  link().post(protocol::Release{{}, {id}});
}

void Worker::event_state(protocol::EventState&& state) {
  Pending pending;
  {
    const std::lock_guard lock(mutex_);
    const auto found = pending_.find(state.command);
    if (found == pending_.end()) return;
    if (state.status > CL_COMPLETE) {
      pending.event = found->second.event;
    } else if (found->second.copying > 0 || (state.status == CL_COMPLETE && found->second.missing > 0)) {
      found->second.told = state;
      return;
    } else {
      pending = std::move(found->second);
      pending_.erase(found);
      if (pending.outrun) --outrun_;
    }
  }
  if (state.status > CL_COMPLETE) {
    pending.event->advance(state.status, times(state));
  } else if (state.status < 0 && pending.bulk.upload) {
    // The application's memory may be read until the worker has taken, or dropped, what is under way.
    const protocol::CommandId transfer = pending.bulk.transfer ? pending.bulk.transfer->id() : state.command;
    const auto last = std::make_shared<Pending>(std::move(pending));
    link().cancel_upload(transfer, [this, last, state] { finish(*last, state); });
  } else {
    finish(pending, state);
  }
}

Event::Times Worker::times(const protocol::EventState& state) const {
  Event::Times times{};
  for (std::size_t i = 0; i < times.size(); ++i)
    if (state.times[i] != 0)
      times[i] =
          static_cast<std::uint64_t>(static_cast<std::int64_t>(state.times[i]) - link().clock_offset());
  return times;
}

void Worker::finish(const Pending& pending, const protocol::EventState& state) {
  Event::Times when = times(state);
  cl_int status = state.status;
  const Bulk& bulk = pending.bulk;
  if (bulk.turn && when.back() != 0) {
    const Event::Times& begin = bulk.turn->times();
    when = {begin[0], begin[1], begin[3], when.back()};
  }
  // What the marker behind it fails with says only that something before has.
  if (status < 0 && bulk.transfer && bulk.transfer->status() < 0) status = bulk.transfer->status();
  pending.event->end_in_turn(status, when);
}

void Worker::pushed(protocol::PeerData&& part) {
  std::span<std::byte> to;
  std::shared_ptr<HostRange> range;
  const std::size_t size = part.data.bytes.size();
  {
    const std::lock_guard lock(mutex_);
    const auto found = pending_.find(part.transfer);
    // Of a failed one the event tells.
    if (found == pending_.end() || part.status != 0) return;
    to = found->second.bulk.fills;
    if (size > found->second.missing || part.offset > to.size() || size > to.size() - part.offset) return;
    to = to.subspan(part.offset, size);
    range = found->second.bulk.range;
    found->second.missing -= size;
    ++found->second.copying;
  }
  const Through through = link().shares_memory() ? Through::Memory : Through::Network;
  link().run({[to, range, through, data = std::move(part.data)]() mutable {
                if (range)
                  range->fill(to.data(), data.bytes, through);
                else
                  copy(to.data(), data.bytes.data(), to.size(), through);
                data = {};
              },
              [this, transfer = part.transfer] { copied(transfer); }});
}

void Worker::copied(protocol::CommandId transfer) {
  Pending pending;
  {
    const std::lock_guard lock(mutex_);
    const auto found = pending_.find(transfer);
    if (found == pending_.end()) return;
    Pending& whole = found->second;
    if (--whole.copying > 0 || !whole.told || (whole.told->status == CL_COMPLETE && whole.missing > 0))
      return;
    pending = std::move(whole);
    pending_.erase(found);
  }
  const protocol::EventState state = *pending.told;
  finish(pending, state);
}

void Worker::data(protocol::Data&& data) {
  DataSink sink;
  {
    const std::lock_guard lock(mutex_);
    const auto found = pending_.find(data.command);
    if (found == pending_.end() || !found->second.sink) return;
    // Only this thread erases from pending_ while it handles messages, but others may insert.
    sink = found->second.sink;
  }
  sink(data.part, data.data.bytes);
}

void Worker::note_awaited(Event& event) {
  const std::lock_guard lock(mutex_);
  awaited_.emplace(event.id(), &event);
}

void Worker::forget_awaited(const Event& event) {
  const std::lock_guard lock(mutex_);
  awaited_.erase(event.id());
}

void Worker::print(protocol::Print&& text) {
  // What other nodes printed before has been sent before, but on other connections.
  for (const protocol::CommandId id : text.after) {
    Ref<Event> earlier;
    {
      const std::lock_guard lock(mutex_);
      const auto found = awaited_.find(id);
      if (found != awaited_.end() && found->second->try_add_ref()) earlier = Ref<Event>::adopt(found->second);
    }
    // Not for ever: two nodes' texts that were printed at the same time may each seem to come after the
    // other.
    if (earlier) earlier->wait_for(std::chrono::seconds(1));
  }
  // The application's stdout may be the C library's or the descriptor; what it wrote before has to come
  // before.
  std::fflush(stdout);
  std::fwrite(text.text.data(), 1, text.text.size(), stdout);
  std::fflush(stdout);
}

std::vector<Ref<Context>> Worker::contexts() const {
  std::vector<Ref<Context>> contexts;
  const std::lock_guard lock(mutex_);
  for (Context* context : contexts_)
    if (context->try_add_ref()) contexts.push_back(Ref<Context>::adopt(context));
  return contexts;
}

void Worker::failed(protocol::Failed&& failure) {
  const std::string what = "node " + node_.name() + ": " + failure.what;
  for (const Ref<Context>& context : contexts()) context->notify(what);
}

void Worker::unreachable(protocol::PeerId peer) {
  for (const Ref<Context>& context : contexts())
    for (Worker* other : context->workers())
      if (other->index() == peer) other->link().give_up("node " + node_.name() + " cannot reach it any more");
}

void Worker::peer_lost(const Worker& peer) {
  std::vector<Ref<Event>> awaited;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, event] : awaited_)
      if (event->worker() == &peer && event->try_add_ref()) awaited.push_back(Ref<Event>::adopt(event));
  }
  for (const Ref<Event>& event : awaited)
    event->then([this, id = event->id()](cl_int status) { link().post(protocol::SetRemote{id, status}); });
}

void Worker::lost(const std::string& reason) {
  std::unordered_map<protocol::CommandId, Pending> pending;
  std::vector<Ref<Event>> pushes;
  {
    const std::lock_guard lock(mutex_);
    lost_ = true;
    pending.swap(pending_);
    outrun_ = 0;
    pushes.swap(pushes_);
  }
  for (auto& [id, entry] : pending) {
    if (entry.bulk.range) entry.bulk.range->close();
    entry.event->settle(CL_DEVICE_NOT_AVAILABLE);
  }
  for (const Ref<Event>& arrival : pushes) arrival->settle(CL_DEVICE_NOT_AVAILABLE);
  // What it has told us it may not have told its peers.
  for (const Ref<Context>& context : contexts())
    for (Worker* other : context->workers())
      if (other != this) other->peer_lost(*this);
  failed({0, CL_DEVICE_NOT_AVAILABLE, "lost: " + reason});
}

std::vector<std::string> open_all(std::span<Worker* const> workers) {
  std::vector<std::string> failures(workers.size());
  std::vector<std::size_t> closed;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    if (workers[i]->lost()) failures[i] = "the connection to the device's node is lost";
    if (!workers[i]->opened()) closed.push_back(i);
  }
  in_parallel(closed.size(), [&](std::size_t i) {
    try {
      workers[closed[i]]->open();
    } catch (const std::exception& error) {
      failures[closed[i]] = error.what();
    }
  });
  return failures;
}

}  // namespace clique::icd
