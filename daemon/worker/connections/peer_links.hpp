#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "daemon/common/link_usage.hpp"
#include "daemon/common/log.hpp"
#include "daemon/worker/connections/traffic.hpp"
#include "protocol/batch.hpp"
#include "protocol/messages/peers.hpp"
#include "protocol/messages/transfers.hpp"
#include "protocol/streams/stream_set.hpp"
#include "protocol/transport/line.hpp"
#include "protocol/transport/repair.hpp"
#include "protocol/transport/shared_memory.hpp"

namespace clique::daemon {

/// A random number, for ids that have to differ from those that other processes choose.
std::uint64_t random_id();

/// The links to the client's other workers, for sending. Messages to a worker on this host go through memory
/// shared with it if there is room, otherwise through its socket: messages between workers need no order.
class PeerLinks {
 public:
  /// The route to the client, to which content can be pushed as to a worker. Any thread.
  class ClientLink {
   public:
    virtual ~ClientLink() = default;
    /// As PeerLinks::take().
    virtual std::shared_ptr<std::byte> take(std::size_t size) = 0;
    /// The round trip to the client; 0: unknown.
    virtual std::chrono::nanoseconds round_trip() const = 0;
    /// Whether the client shares memory with this worker.
    virtual bool shares() const = 0;
    /// Whether parts wait for a stream to the client.
    virtual bool busy() const = 0;
    virtual void send(protocol::PeerData&& part) = 0;
    /// As PeerLinks::segment().
    virtual std::shared_ptr<std::byte> segment(protocol::ObjectId id, std::uint64_t at,
                                               std::uint64_t size) = 0;
  };

  /// @param dialler makes the connections of streams
  /// @param patience how long a link may be down; 0: it ends with its connection
  /// @param ucx whether streams can go through UCX
  PeerLinks(zmq::context_t& context, protocol::Dialler dialler, std::chrono::milliseconds patience,
            protocol::Compression compression = protocol::Compression::Auto, bool ucx = false)
      : context_(context),
        dialler_(std::move(dialler)),
        patience_(patience),
        compression_(compression),
        ucx_(ucx) {}

  /// Opens a link to the peer. Throws RuleBroken unless the endpoint is tcp://HOST:PORT, or if UCX is wanted
  /// and cannot be used, and zmq::error_t if the endpoint cannot be used.
  void connect(const protocol::ConnectPeer& message);
  /// From now on messages to the peer go through this memory if there is room.
  void share(protocol::PeerId peer, std::shared_ptr<protocol::SharedMemory> memory);

  /// Sets the route of pushes to protocol::kClientPeer. To be called before the first one.
  void set_client(ClientLink& client) { client_ = &client; }
  /// Sets who takes what is pushed to protocol::kOwnPeer, on any thread. To be called before the first push.
  void set_own(std::function<void(protocol::PeerData&&)> take) { own_ = std::move(take); }

  bool known(protocol::PeerId peer);

  /// Whether the peer is a worker that shares memory with this one, and is not gone. Any thread.
  bool shares(protocol::PeerId peer);

  /// A block of shared memory for data to the peer, which reads it without another copy. Any thread.
  /// @returns null when the peer shares no memory or there is no room
  std::shared_ptr<std::byte> take(protocol::PeerId peer, std::size_t size);

  /// The size of the chunks in which a GPU should push `size` bytes; others, at most kPartSize. Main thread.
  std::uint64_t chunk_size(protocol::PeerId peer, std::uint64_t size);

  /// How many chunks of a push should be in flight at a time. Each is kept in memory until it has arrived.
  /// Main thread.
  /// @param chunk bytes of each
  unsigned chunks_ahead(protocol::PeerId peer, std::size_t chunk);

  /// A range of a segment that the client shares. Main thread. Throws RuleBroken if there is no such range.
  std::shared_ptr<std::byte> segment(protocol::ObjectId id, std::uint64_t at, std::uint64_t size) const {
    return client_->segment(id, at, size);
  }

  /// Sends to a known peer. Does nothing when the peer is gone, which its own session notices. Any thread.
  template <typename M>
  void send(protocol::PeerId peer, M message) {
    if constexpr (std::is_same_v<M, protocol::PeerData>) {
      if (peer == protocol::kClientPeer && client_ != nullptr) {
        client_->send(std::move(message));
        return;
      }
      if (peer == protocol::kOwnPeer && own_) {
        own_(std::move(message));
        return;
      }
    }
    const std::lock_guard lock(mutex_);
    const auto link = links_.find(peer);
    if (link == links_.end()) return;
    if constexpr (std::is_same_v<M, protocol::PeerData>) {
      if (try_stream(link->second, message)) return;
    }
    batch_.add(message);
    send_batch(link->second);
  }

  /// Sends through memory shared with the peer, or not at all. Payloads have to be blocks of take(); their
  /// owners are released when the peer has finished with them. Any thread. @returns whether the message was
  /// sent.
  template <typename M>
  bool send_shared(protocol::PeerId peer, const M& message) {
    const std::lock_guard lock(mutex_);
    const auto link = links_.find(peer);
    if (link == links_.end()) return false;
    batch_.add(message);
    const bool sent = try_shared(link->second);
    batch_.clear();
    if constexpr (std::is_same_v<M, protocol::WindowData>)
      if (sent) sent_.add(message.size);
    return sent;
  }

  /// Releases the blocks that peers have finished with. Any thread.
  void collect();
  /// A peer that is out of reach.
  struct Outage {
    protocol::PeerId peer = 0;
    std::string where;    ///< its node and the endpoint there, to be printed
    std::string reason;   ///< why it cannot be reached, as far as that is known
    bool lost = false;    ///< the link is given up
    bool exited = false;  ///< because the peer's process has exited, as its daemon says
  };
  /// Receives acknowledgements and reconnects broken links. To be called now and then. Main thread.
  /// @returns the peers that have been out of reach for protocol::kSilence, or for too long, since the last
  /// call
  std::vector<Outage> tend(std::chrono::steady_clock::time_point now);
  /// Whether a link is down, so that tend() has to be called soon.
  bool down() const { return down_; }

  /// Before sleeping: adds the descriptors that become readable when there is something for collect() or
  /// tend(). Main thread.
  /// @returns false when there is something already
  bool rest(std::vector<int>& descriptors);
  /// After sleeping: peers need not ring any more.
  void hush();

  /// Bytes that were sent to other workers. Any thread.
  std::uint64_t sent() const { return sent_.value(); }
  /// The links, as far as this worker sends through them. Any thread.
  LinkUsage usage();

 private:
  /// The streams to a peer, which are opened when they are first needed.
  class PeerStreams final : private protocol::StreamSet::Owner {
   public:
    /// @param where as Outage::where
    PeerStreams(std::string where, std::chrono::milliseconds patience, protocol::StreamTarget target,
                std::shared_ptr<protocol::BusyTime> sending)
        : where_(std::move(where)),
          encryption_(target.encryption),
          ucx_(target.ucx),
          set_(*this, patience, std::move(target), std::move(sending)) {}
    void send(protocol::PeerData&& part, std::chrono::nanoseconds round_trip);
    /// How many there are.
    unsigned count(std::chrono::nanoseconds round_trip) const {
      return protocol::stream_count(round_trip, encryption_);
    }
    /// Whether they have failed, and the peer cannot be reached any more.
    bool lost() const { return lost_.load(std::memory_order_relaxed); }
    /// Ends the connections, and releases what was to be sent.
    void close() { set_.close(); }
    bool busy() { return set_.busy(); }
    bool uses_ucx() const { return ucx_; }
    protocol::StreamSet::Traffic traffic() { return set_.traffic(); }

   private:
    bool exposes_memory() const override { return false; }
    std::shared_ptr<std::byte> place(const protocol::RecordHeader& part) override;
    void arrived(protocol::PeerData&& part) override;
    void failed(const std::string& reason) override;

    const std::string where_;
    const protocol::Encryption encryption_;
    const bool ucx_;
    std::atomic<bool> lost_{false};
    protocol::StreamSet set_;
  };
  struct Tended {
    std::unique_ptr<protocol::Line> line;
    protocol::Repair repair = {};
    bool used = false;  ///< it has carried large messages, for which there are no streams
  };
  struct Link {
    std::string endpoint;
    protocol::Pass pass;
    std::string where;  ///< as Outage::where
    /// Since when it is down; the epoch: it is not.
    std::chrono::steady_clock::time_point down_since = {};
    bool told = false;        ///< of this outage
    std::string reason = {};  ///< why it was last down
    /// At least one. Without streams, large messages go through all of them in turn.
    std::vector<Tended> lines = {};
    std::size_t next = 0;
    bool gone = false;
    std::shared_ptr<protocol::SharedMemory> shared = nullptr;
    std::unique_ptr<PeerStreams> streams = nullptr;  ///< for large messages; null: the lines are over ZeroMQ
    std::chrono::nanoseconds round_trip() const { return lines.front().line->round_trip(); }
    bool long_way() const { return round_trip() > protocol::kLongWay; }
    /// Whether messages can go through shared memory.
    bool shares() const { return shared && !gone; }
  };
  /// Adds a line over ZeroMQ.
  void add_line(Link& link);
  void add_streams(Link& link, const protocol::ConnectPeer& message);
  void send_batch(Link& link);
  /// How many streams to the peer can carry a transfer at once; 0: there are none, or other parts keep them
  /// busy.
  unsigned idle_streams(protocol::PeerId peer);
  bool try_shared(Link& link);
  /// Sends a large part through streams if they are the way to the peer. @returns whether it did
  bool try_stream(Link& link, protocol::PeerData& part);
  /// Sends nothing more to the peer.
  static void end(Link& link);
  /// The same because it is out of reach. Adds that to the outages, unless the session ends anyway.
  void lose(protocol::PeerId peer, Link& link, bool exited, std::vector<Outage>& outages) const;
  /// Calls action(), which uses the link's lines, unless the link is gone.
  template <typename F>
  void with_lines(Link& link, F&& action);

  zmq::context_t& context_;
  const protocol::Dialler dialler_;
  const std::chrono::milliseconds patience_;
  const protocol::Compression compression_;
  const bool ucx_;
  bool down_ = false;
  ClientLink* client_ = nullptr;
  std::function<void(protocol::PeerData&&)> own_;
  std::atomic<bool> lending_ = false;
  std::mutex mutex_;  // guards the members below; one sender at a time
  std::map<protocol::PeerId, Link> links_;
  protocol::Batch batch_;
  Counter sent_;
  /// The time in which large transfers were sent through streams.
  const std::shared_ptr<protocol::BusyTime> sending_ = std::make_shared<protocol::BusyTime>();
};

}  // namespace clique::daemon
