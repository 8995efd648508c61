#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "icd/common/object.hpp"
#include "icd/core/programs/included_files.hpp"
#include "icd/remote/link/reports.hpp"
#include "protocol/ids.hpp"

namespace clique::protocol {
struct Driver;
}

namespace clique::icd {

class Context;
class Event;
class Link;
class Node;
class PendingCommands;

/// A worker of the cluster: the link to it, and what its reports concern. Any thread.
class Worker final : public Reports {
 public:
  /// The worker that serves node.drivers()[driver]. The node must outlive it.
  /// @param index its position in Platform::workers().
  Worker(Node& node, std::size_t driver, unsigned index);
  ~Worker() override;

  /// The position in Platform::workers(); names the worker as a holder of content and as a peer.
  unsigned index() const { return index_; }
  const Node& node() const { return node_; }
  Node& node() { return node_; }
  /// The position in node().drivers().
  std::size_t number() const { return driver_; }
  /// The node's description of its driver.
  const protocol::Driver& driver() const;
  /// The node's name, followed by the worker's number there if the node has several: for people.
  std::string label() const;
  /// Opens the link if it is not open, and waits for that. Throws Error(CL_DEVICE_NOT_AVAILABLE).
  void open();
  /// Only after open() has returned. Contexts open all of their workers.
  Link& link() const { return *link_; }
  bool opened() const { return opened_.load(std::memory_order_acquire); }
  /// Whether the link was opened and is lost.
  bool lost() const;
  /// Whether the worker can be expected to work: its link is not lost, or could be opened. May ask the node,
  /// and wait for the answer.
  bool available() const;

  /// Has the event follow this worker's reports. To be called before the command is posted. If the worker is
  /// lost, fails the event.
  void expect_event(const Ref<Event>& event);
  /// What the worker has yet to report.
  PendingCommands& pending() const { return *pending_; }

  /// Which texts of included files the worker has.
  KnownTexts& known_texts() { return known_texts_; }

  /// Adds a context, whose error callback gets the worker's messages until it is removed.
  void add_context(Context& context);
  void remove_context(Context& context);

  /// Notes that commands on this worker wait for an event of another worker, until forget_awaited().
  void note_awaited(Event& event);
  void forget_awaited(const Event& event);

  /// Connects this worker to another one. The other's index becomes its PeerId. Calls after the first one for
  /// a peer do nothing. @returns whether this was the first one
  bool connect_peer(const Worker& peer);
  /// Notes that this worker pushes the content for which `arrival`, an event of another worker, waits. If
  /// this worker is lost before `arrival` has ended, `arrival` fails.
  void expect_push(const Ref<Event>& arrival);

  /// Tells the worker that the client no longer refers to the object.
  void release_object(protocol::ObjectId id);
  /// Tells the worker that no later command waits for the event.
  void release_event(protocol::CommandId id);

 private:
  void event_state(protocol::EventState&& state) override;
  void data(protocol::Data&& data) override;
  void pushed(protocol::PeerData&& part) override;
  std::shared_ptr<std::byte> place(protocol::CommandId transfer, std::uint64_t offset,
                                   std::size_t size) override;
  void arrived(protocol::PeerData&& part) override;
  void print(protocol::Print&& text) override;
  void failed(protocol::Failed&& failure) override;
  void out_of_reach(protocol::PeerId peer, const std::string& why) override;
  void unreachable(const protocol::PeerLost& loss) override;
  /// The worker to which the number belongs; null: none has it.
  Worker* peer_with(protocol::PeerId peer) const;
  /// " at HOST:PORT: CAUSE": how this worker tries to reach another one in vain.
  static std::string place_and_cause(const Worker& peer, const std::string& why);
  /// What to do when it cannot.
  std::string remedy_for(const Worker& peer) const;
  void lost(const std::string& reason) override;
  /// Another worker is lost: from now on the client tells this one about the events of that worker.
  void peer_lost(const Worker& peer);
  std::vector<Ref<Context>> contexts() const;

  Node& node_;
  const std::size_t driver_;
  const unsigned index_;
  std::mutex opening_;
  Link* link_ = nullptr;                  // set before the link is started
  std::atomic<bool> said_limit_ = false;  // the user knows that memory does not suffice
  std::atomic<bool> opened_ = false;      // whether the link has been started
  const std::unique_ptr<PendingCommands> pending_;
  KnownTexts known_texts_;
  mutable std::mutex mutex_;  // guards all below
  std::vector<Context*> contexts_;
  std::unordered_map<protocol::CommandId, Event*> awaited_;
  std::vector<bool> peers_;
  std::vector<Ref<Event>> pushes_;
  bool lost_ = false;
};

/// Opens workers, all at the same time, and waits for that.
/// @returns for each worker why it cannot be used, or an empty text.
std::vector<std::string> open_all(std::span<Worker* const> workers);

}  // namespace clique::icd
