#include "icd/core/worker.hpp"

#include <cstdio>

#include <algorithm>

#include "icd/core/context.hpp"
#include "icd/core/event.hpp"

namespace clique::icd {

Worker::Worker(std::unique_ptr<Link> link, unsigned index) : link_(std::move(link)), index_(index) {
  link_->start(*this);
}

Worker::~Worker() {
  link_->close();
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
  link_->post(protocol::ConnectPeer{peer.index(), to.peers, to.token, to.shared});
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
  link_->post(protocol::Release{{id}, {}});
}

void Worker::release_event(protocol::CommandId id) {
  link_->post(protocol::Release{{}, {id}});
}

void Worker::event_state(protocol::EventState&& state) {
  Pending pending;
  {
    const std::lock_guard lock(mutex_);
    const auto found = pending_.find(state.command);
    if (found == pending_.end()) return;
    if (state.status > CL_COMPLETE) {
      pending.event = found->second.event;
    } else {
      pending = std::move(found->second);
      pending_.erase(found);
    }
  }
  Event::Times times{};
  for (std::size_t i = 0; i < times.size(); ++i)
    if (state.times[i] != 0)
      times[i] =
          static_cast<std::uint64_t>(static_cast<std::int64_t>(state.times[i]) - link_->clock_offset());
  if (state.status > CL_COMPLETE) {
    pending.event->advance(state.status, times);
  } else {
    pending.event->end_in_turn(state.status, times);
  }
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
  const std::string what = "node " + link_->endpoint().node + ": " + failure.what;
  for (const Ref<Context>& context : contexts()) context->notify(what);
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
    pushes.swap(pushes_);
  }
  for (auto& [id, entry] : pending) entry.event->settle(CL_DEVICE_NOT_AVAILABLE);
  for (const Ref<Event>& arrival : pushes) arrival->settle(CL_DEVICE_NOT_AVAILABLE);
  // What it has told us it may not have told its peers.
  for (const Ref<Context>& context : contexts())
    for (Worker* other : context->workers())
      if (other != this) other->peer_lost(*this);
  failed({0, CL_DEVICE_NOT_AVAILABLE, "lost: " + reason});
}

}  // namespace clique::icd
