#include "icd/core/workers/worker.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <map>
#include <utility>

#include "icd/common/say.hpp"
#include "icd/core/commands/queue.hpp"
#include "icd/core/events/event.hpp"
#include "icd/core/objects/context.hpp"
#include "icd/core/workers/pending_commands.hpp"
#include "icd/remote/link/link.hpp"
#include "icd/remote/nodes/nodes.hpp"
#include "icd/remote/threads.hpp"
#include "icd/trace/trace.hpp"
#include "protocol/batch.hpp"
#include "protocol/messages.hpp"

namespace clique::icd {

namespace {

/// How long text of a kernel waits for text that another node printed before.
constexpr std::chrono::seconds kPrintPatience{1};

/// Opens those of the workers with these positions, which are of one node.
void open_of_node(std::span<Worker* const> workers, std::span<const std::size_t> positions,
                  std::span<std::string> failures) {
  try {
    std::vector<std::size_t> drivers;
    for (const std::size_t position : positions) drivers.push_back(workers[position]->number());
    const std::vector<std::string> of_drivers = workers[positions[0]]->node().open(drivers);
    for (std::size_t i = 0; i < positions.size(); ++i) {
      failures[positions[i]] = of_drivers[i];
      if (of_drivers[i].empty()) workers[positions[i]]->open();
    }
  } catch (const std::exception& error) {
    for (const std::size_t position : positions)
      if (!workers[position]->opened() && failures[position].empty()) failures[position] = error.what();
  }
}

}  // namespace

Worker::Worker(Node& node, std::size_t driver, unsigned index)
    : node_(node), driver_(driver), index_(index), pending_(std::make_unique<PendingCommands>()) {}

Worker::~Worker() {
  if (link_ != nullptr) link_->close();
}

std::string Worker::label() const {
  return node_.drivers().size() > 1 ? node_.name() + "/" + std::to_string(driver_) : node_.name();
}

void Worker::open() {
  const std::lock_guard lock(opening_);
  if (opened()) return;
  // Reports use link_, and may come before start() returns.
  link_ = &node_.link(driver_);
  link_->start(*this);
  opened_.store(true, std::memory_order_release);
}

bool Worker::lost() const {
  return opened() && link_->lost();
}

const protocol::Driver& Worker::driver() const {
  return node_.drivers()[driver_];
}

bool Worker::available() const {
  return opened() ? !link_->lost() : node_.available(driver_);
}

void Worker::expect_event(const Ref<Event>& event) {
  if (!pending_->add(event)) event->advance(CL_DEVICE_NOT_AVAILABLE);
}

void Worker::add_context(Context& context) {
  const std::lock_guard lock(mutex_);
  contexts_.push_back(&context);
}

void Worker::remove_context(Context& context) {
  const std::lock_guard lock(mutex_);
  std::erase(contexts_, &context);
}

std::vector<Ref<Context>> Worker::contexts() const {
  std::vector<Ref<Context>> contexts;
  const std::lock_guard lock(mutex_);
  for (Context* context : contexts_)
    if (context->try_add_ref()) contexts.push_back(Ref<Context>::adopt(context));
  return contexts;
}

void Worker::note_awaited(Event& event) {
  const std::lock_guard lock(mutex_);
  awaited_.emplace(event.id(), &event);
}

void Worker::forget_awaited(const Event& event) {
  const std::lock_guard lock(mutex_);
  awaited_.erase(event.id());
}

bool Worker::connect_peer(const Worker& peer) {
  const std::lock_guard lock(mutex_);
  if (peers_.size() <= peer.index()) peers_.resize(peer.index() + 1);
  if (peers_[peer.index()]) return false;
  peers_[peer.index()] = true;
  const WorkerEndpoint& to = peer.link().endpoint();
  link().post(protocol::ConnectPeer{peer.index(), to.peers, to.peer, to.shared, to.peers_daemon, to.streams,
                                    to.ucx && link().endpoint().ucx, peer.node().name()});
  return true;
}

void Worker::expect_push(const Ref<Event>& arrival) {
  // Released after the lock: an event may hold the last reference to its context, whose destructor calls
  // remove_context().
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
  pending_->event_state(link(), state);
}

void Worker::data(protocol::Data&& data) {
  pending_->data(data);
}

void Worker::pushed(protocol::PeerData&& part) {
  pending_->pushed(link(), std::move(part));
}

std::shared_ptr<std::byte> Worker::place(protocol::CommandId transfer, std::uint64_t offset,
                                         std::size_t size) {
  return pending_->place(link(), transfer, offset, size);
}

void Worker::arrived(protocol::PeerData&& part) {
  pending_->arrived(link(), std::move(part));
}

void Worker::print(protocol::Print&& text) {
  // Other nodes have sent what they printed before, but through other connections.
  const auto deadline = std::chrono::steady_clock::now() + kPrintPatience;
  for (const protocol::CommandId id : text.after) {
    Ref<Event> earlier;
    {
      const std::lock_guard lock(mutex_);
      const auto found = awaited_.find(id);
      if (found != awaited_.end() && found->second->try_add_ref()) earlier = Ref<Event>::adopt(found->second);
    }
    // With a limit: if two nodes print at the same time, the text of each may seem to come after the other's.
    if (earlier) earlier->wait_until(deadline);
  }
  // The application may print through the C library or through the descriptor. What it printed before has to
  // come first.
  std::fflush(stdout);
  if (!text.text.empty()) std::fwrite(text.text.data(), 1, text.text.size(), stdout);
  std::fflush(stdout);
}

void Worker::failed(protocol::Failed&& failure) {
  const std::string what = "node " + node_.name() + ": " + failure.what;
  // The status alone does not say which of a program's files it is about.
  if (protocol::is_file_status(failure.status)) say(what);
  // Nor which limit was hit. Programs that try how much fits hit it again and again.
  if (failure.status == CL_MEM_OBJECT_ALLOCATION_FAILURE && !said_limit_.exchange(true)) say(what);
  for (const Ref<Context>& context : contexts()) {
    context->notify(what);
    if (failure.command == 0) continue;
    for (const cl_command_queue handle : context->queues())
      if (const Ref<Queue> queue = find<Queue>(handle);
          queue && &queue->worker() == this && queue->id() == failure.object)
        queue->keep_failure(failure.status, failure.command);
  }
}

Worker* Worker::peer_with(protocol::PeerId peer) const {
  for (const Ref<Context>& context : contexts())
    for (Worker* other : context->workers())
      if (other->index() == peer) return other;
  return nullptr;
}

std::string Worker::place_and_cause(const Worker& peer, const std::string& why) {
  const WorkerEndpoint& to = peer.link().endpoint();
  const std::string& endpoint = to.peers_daemon.empty() ? to.peers : to.peers_daemon;
  return " at " + endpoint.substr(endpoint.find("://") + 3) + ": " + (why.empty() ? "no answer" : why);
}

std::string Worker::remedy_for(const Worker& peer) const {
  return "Open this port on the host of " + peer.node().name() +
         ", and on firewalls on the way, for connections from " + node_.name() +
         ". 'clique doctor' checks the ways between nodes";
}

void Worker::out_of_reach(protocol::PeerId peer, const std::string& why) {
  const Worker* const other = peer_with(peer);
  if (other == nullptr) return;
  say_once("node " + node_.name() + " cannot reach node " + other->node().name() +
           place_and_cause(*other, why) +
           ". Commands on one that need data of the other wait, until the node's resume-timeout is over. " +
           remedy_for(*other));
}

void Worker::unreachable(const protocol::PeerLost& loss) {
  Worker* const other = peer_with(loss.peer);
  if (other == nullptr) return;
  if (loss.exited)
    other->link().give_up("node " + node_.name() +
                          " says that its worker has exited. The node's log may say why");
  else
    other->link().give_up("node " + node_.name() + " cannot reach it" + place_and_cause(*other, loss.reason) +
                          ". " + remedy_for(*other));
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
  // First, because the program may end as soon as it notices.
  node_.say_lost(reason);
  pending_->lose();
  std::vector<Ref<Event>> pushes;
  {
    const std::lock_guard lock(mutex_);
    lost_ = true;
    pushes.swap(pushes_);
  }
  for (const Ref<Event>& arrival : pushes) arrival->settle(CL_DEVICE_NOT_AVAILABLE);
  // The worker may have reported to the client what it has not told its peers.
  for (const Ref<Context>& context : contexts())
    for (Worker* other : context->workers())
      if (other != this) other->peer_lost(*this);
  failed({0, CL_DEVICE_NOT_AVAILABLE, "lost: " + reason});
}

std::vector<std::string> open_all(std::span<Worker* const> workers) {
  std::vector<std::string> failures(workers.size());
  std::map<const Node*, std::vector<std::size_t>> closed;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    if (workers[i]->lost()) failures[i] = "the connection to node " + workers[i]->node().name() + " is lost";
    if (!workers[i]->opened()) closed[&workers[i]->node()].push_back(i);
  }
  std::vector<std::vector<std::size_t>> of_nodes;
  of_nodes.reserve(closed.size());
  for (auto& [node, positions] : closed) of_nodes.push_back(std::move(positions));
  const trace::Wait waiting([] { return std::string("sessions with nodes"); });
  in_parallel(of_nodes.size(), [&](std::size_t i) { open_of_node(workers, of_nodes[i], failures); });
  return failures;
}

}  // namespace clique::icd
