#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "icd/common/object.hpp"
#include "icd/core/events/event.hpp"
#include "icd/remote/copy.hpp"
#include "icd/remote/nodes.hpp"
#include "icd/remote/reports.hpp"

namespace clique::icd {

class Context;

/// Takes the data of one read command as it arrives. Called on a receiving thread.
using DataSink = std::function<void(std::uint32_t part, std::span<const std::byte> data)>;

/// Host memory that several workers fill for one command. Any thread.
class HostRange {
 public:
  /// Fills a part of it, unless it is closed.
  void fill(std::byte* to, std::span<const std::byte> from, Through through);
  /// The command has ended without waiting for all of it: the memory is the application's again.
  void close();

 private:
  std::shared_mutex mutex_;
  bool closed_ = false;
};

/// A command that moves a large content beside the commands: in the queue it is a marker, the event's own,
/// which waits for a transfer on the transfer queue, which in turn waits for another marker, where the queue
/// is in order.
struct Bulk {
  /// Reported like the event, and before it. The first may be empty.
  Ref<Event> turn;
  Ref<Event> transfer;
  /// Host memory that a read fills; empty for a write.
  std::span<std::byte> fills = {};
  bool upload = false;
  /// Where the memory is filled by other workers, too.
  std::shared_ptr<HostRange> range = {};
};

/// One worker of the cluster, as the client sees it: the link, and what is under way there.
class Worker final : public Reports {
 public:
  /// The worker that serves node.drivers()[driver].
  Worker(Node& node, std::size_t driver, unsigned index);
  ~Worker() override;

  /// Position in Platform::workers(); names the worker in coherence and as a peer.
  unsigned index() const { return index_; }
  const Node& node() const { return node_; }
  /// Opens the link, where that has not been done. Throws Error(CL_DEVICE_NOT_AVAILABLE).
  void open();
  /// open() has to have returned: a context sees to it that all its workers have been opened.
  Link& link() const { return *link_; }
  bool opened() const { return opened_.load(std::memory_order_acquire); }
  /// Whether it was opened, and is lost.
  bool lost() const { return opened() && link_->lost(); }
  /// Whether it may be expected to work: it is not lost, or could be opened.
  bool available() const { return opened() ? !lost() : node_.available(); }

  /// From now on the event gets its state from this worker. To be called before the command is posted.
  void expect_event(const Ref<Event>& event);
  /// Data of `command` goes to `sink` until its event has ended. To be called after expect_event.
  void expect_data(protocol::CommandId command, DataSink sink);
  /// Who waited for the event has got what it was waiting for, and nobody else has the event.
  void outrun(protocol::CommandId command);
  /// Whether no event is still to come but such that were outrun.
  bool nothing_to_come() const;
  /// The command is a large transfer. To be called after expect_event.
  void expect_bulk(protocol::CommandId command, Bulk bulk);
  /// Posts a large transfer from host memory as a command of its own. To be called after expect_event.
  void upload(const protocol::Command& header, protocol::ObjectId object, std::uint64_t offset,
              protocol::Payload content);
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
    Bulk bulk = {};
    std::size_t missing = 0;  // bytes of bulk.fills that have not come
    unsigned copying = 0;     // parts that have come, and are being put there
    bool outrun = false;
    /// What was told before all was there.
    std::optional<protocol::EventState> told = {};
  };
  void finish(const Pending& pending, const protocol::EventState& state);
  /// A part of what was pushed is in place.
  void copied(protocol::CommandId transfer);
  Event::Times times(const protocol::EventState& state) const;

  void event_state(protocol::EventState&& state) override;
  void data(protocol::Data&& data) override;
  void pushed(protocol::PeerData&& part) override;
  void print(protocol::Print&& text) override;
  void failed(protocol::Failed&& failure) override;
  void unreachable(protocol::PeerId peer) override;
  void lost(const std::string& reason) override;
  /// Events of a worker that is gone, which commands here wait for, are told by the client.
  void peer_lost(const Worker& peer);
  std::vector<Ref<Context>> contexts() const;

  Node& node_;
  const std::size_t driver_;
  const unsigned index_;
  std::mutex opening_;
  Link* link_ = nullptr;              // written before it is started
  std::atomic<bool> opened_ = false;  // link_ has been started
  mutable std::mutex mutex_;
  std::unordered_map<protocol::CommandId, Pending> pending_;
  std::size_t outrun_ = 0;  // of these
  std::vector<Context*> contexts_;
  std::unordered_map<protocol::CommandId, Event*> awaited_;
  std::vector<bool> peers_;
  std::vector<Ref<Event>> pushes_;
  bool lost_ = false;
};

/// Opens workers, all at the same time.
/// @returns for each of them why it cannot be used, being lost or not to be opened; else empty.
std::vector<std::string> open_all(std::span<Worker* const> workers);

}  // namespace clique::icd
