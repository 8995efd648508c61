#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "icd/core/object.hpp"
#include "icd/remote/link.hpp"

namespace clique::icd {

class Context;
class Event;

/// Takes the data of one read command as it arrives. Called on a receiving thread.
using DataSink = std::function<void(std::uint32_t part, std::span<const std::byte> data)>;

/// One worker of the cluster, as the client sees it: the link, its devices, and what is under way there.
class Worker final : public Reports {
 public:
  Worker(std::unique_ptr<Link> link, unsigned index);
  ~Worker() override;

  /// Position in Platform::workers(); names the worker in coherence and as a peer.
  unsigned index() const { return index_; }
  Link& link() const { return *link_; }

  /// From now on the event gets its state from this worker. To be called before the command is posted.
  void expect_event(const Ref<Event>& event);
  /// Data of `command` goes to `sink` until its event has ended. To be called after expect_event.
  void expect_data(protocol::CommandId command, DataSink sink);
  /// Events that are still to come and fulfil a condition.
  std::vector<Ref<Event>> pending(const std::function<bool(const Event&)>& condition) const;
  /// What failed() tells goes to the contexts' callbacks.
  void add_context(Context& context);
  void remove_context(Context& context);

  /// Commands here wait for an event of elsewhere; until forget_awaited().
  void note_awaited(Event& event);
  void forget_awaited(const Event& event);

  /// Makes the other worker reachable for this one, once. Its index becomes the PeerId.
  void connect_peer(const Worker& peer);
  /// This worker has been told to push what `arrival`, an event of another worker, waits for; it fails should
  /// this worker be lost.
  void expect_push(const Ref<Event>& arrival);

  /// Tells the worker that objects or events are needed no more.
  void release_object(protocol::ObjectId id);
  void release_event(protocol::CommandId id);

 private:
  struct Pending {
    Ref<Event> event;
    DataSink sink;
  };

  void event_state(protocol::EventState&& state) override;
  void data(protocol::Data&& data) override;
  void print(protocol::Print&& text) override;
  void failed(protocol::Failed&& failure) override;
  void lost(const std::string& reason) override;
  /// Events of a worker that is gone, which commands here wait for, are told by the client.
  void peer_lost(const Worker& peer);
  std::vector<Ref<Context>> contexts() const;

  std::unique_ptr<Link> link_;
  unsigned index_;
  mutable std::mutex mutex_;
  std::unordered_map<protocol::CommandId, Pending> pending_;
  std::vector<Context*> contexts_;
  std::unordered_map<protocol::CommandId, Event*> awaited_;
  std::vector<bool> peers_;
  std::vector<Ref<Event>> pushes_;
  bool lost_ = false;
};

}  // namespace clique::icd
