#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "daemon/common/log.hpp"
#include "protocol/transport/line.hpp"
#include "protocol/transport/shared_memory.hpp"

namespace clique::daemon {

/// A number that nobody else will have chosen, for what is told apart by it.
std::uint64_t random_id();

/// The links to the client's other workers, for sending. What goes to one on this host goes through memory
/// shared with it where there is room, else through its socket: peers' messages need no order among them.
class PeerLinks {
 public:
  /// The way to the client, which may be pushed to like a worker. Any thread.
  class ClientLink {
   public:
    virtual ~ClientLink() = default;
    /// As PeerLinks::take().
    virtual std::shared_ptr<std::byte> take(std::size_t size) = 0;
    /// There and back; 0: unknown.
    virtual std::chrono::nanoseconds round_trip() const = 0;
    /// Whether there is memory shared with the client.
    virtual bool shares() const = 0;
    virtual void send(protocol::PeerData&& part) = 0;
    /// Main thread. Throws RuleBroken where there is no such place.
    virtual std::shared_ptr<std::byte> segment(protocol::ObjectId id, std::uint64_t at,
                                               std::uint64_t size) = 0;
  };

  /// @param patience how long a link may be down; 0: it is gone with its connection
  PeerLinks(zmq::context_t& context, std::chrono::milliseconds patience)
      : context_(context), patience_(patience) {}

  /// Opens the link and attaches. Throws zmq::error_t for an endpoint that is none.
  void connect(const protocol::ConnectPeer& message);
  /// From now on the memory goes before the socket.
  void share(protocol::PeerId peer, std::shared_ptr<protocol::SharedMemory> memory);

  /// Pushes to protocol::kClientPeer go there from now on. Before there are any.
  void set_client(ClientLink& client) { client_ = &client; }

  bool known(protocol::PeerId peer);

  /// Whether there is memory shared with the peer, a worker, which is not gone. Any thread.
  bool shares(protocol::PeerId peer);

  /// A block for data on its way to the peer, which gets it without another copy; null where there is none.
  /// Any thread.
  std::shared_ptr<std::byte> take(protocol::PeerId peer, std::size_t size);

  /// In chunks of how many bytes a GPU's push of `size` goes. Main thread.
  std::uint64_t chunk_size(protocol::PeerId peer, std::uint64_t size);

  /// How many chunks of a push, of so many bytes each, are worth being under way at a time: until they have
  /// come they are kept. Main thread.
  unsigned chunks_ahead(protocol::PeerId peer, std::size_t chunk);

  /// A place in a segment that the client shares. Main thread. Throws RuleBroken where there is none.
  std::shared_ptr<std::byte> segment(protocol::ObjectId id, std::uint64_t at, std::uint64_t size) const {
    return client_->segment(id, at, size);
  }

  /// Sends to a known peer; it is up to the peers' own sessions to notice one that is gone. Any thread.
  template <typename M>
  void send(protocol::PeerId peer, M message) {
    if constexpr (std::is_same_v<M, protocol::PeerData>) {
      if (peer == protocol::kClientPeer && client_ != nullptr) {
        client_->send(std::move(message));
        return;
      }
    }
    const std::lock_guard lock(mutex_);
    const auto link = links_.find(peer);
    if (link == links_.end()) return;
    batch_.add(message);
    send_batch(link->second);
  }

  /// Sends through memory shared with the peer, or not at all: payloads are to be blocks of take(), and their
  /// owners are let go of when the peer has done with them. Any thread. @returns whether it was sent.
  template <typename M>
  bool send_shared(protocol::PeerId peer, const M& message) {
    const std::lock_guard lock(mutex_);
    const auto link = links_.find(peer);
    if (link == links_.end()) return false;
    batch_.add(message);
    const bool sent = try_shared(link->second);
    batch_.clear();
    return sent;
  }

  /// Lets go of what peers have read. Any thread.
  void collect();
  /// Hears what peers have got, and connects again to those whose links broke. Main thread, now and then.
  /// @returns those that have been out of reach for too long, once.
  std::vector<protocol::PeerId> tend(std::chrono::steady_clock::time_point now);
  /// Whether a link is down, so that tend() is to be called soon.
  bool down() const { return down_; }

  /// Before sleeping: adds the descriptors that become readable when there is something for collect() or
  /// tend(). Main thread.
  /// @returns false where there is something to collect.
  bool rest(std::vector<int>& descriptors);
  /// After sleeping.
  void hush();

 private:
  struct Tended {
    std::unique_ptr<protocol::Line> line;
    protocol::Repair repair = {};
  };
  struct Link {
    std::string endpoint;
    std::string token;
    std::vector<Tended> lines = {};  ///< at least one; what is large goes through all of them in turn
    std::size_t next = 0;
    bool gone = false;
    std::shared_ptr<protocol::SharedMemory> shared = nullptr;
    bool long_way() const { return lines.front().line->round_trip() > protocol::kLongWay; }
    /// Whether something may go through it.
    bool shares() const { return shared && !gone; }
  };
  void add_line(Link& link);
  void send_batch(Link& link);
  bool try_shared(Link& link);
  /// Nothing goes to the peer any more.
  static void end(Link& link);
  /// Calls action(), which uses the link's lines, unless they are gone.
  template <typename F>
  void with_lines(Link& link, F&& action);

  zmq::context_t& context_;
  const std::chrono::milliseconds patience_;
  bool down_ = false;
  ClientLink* client_ = nullptr;
  std::atomic<bool> lending_ = false;
  std::mutex mutex_;  // guards what follows; one sender at a time
  std::map<protocol::PeerId, Link> links_;
  protocol::Batch batch_;
};

}  // namespace clique::daemon
