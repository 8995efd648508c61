#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "daemon/log.hpp"
#include "protocol/transport/shared_memory.hpp"

namespace clique::daemon {

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
    virtual void send(protocol::PeerData&& part) = 0;
  };

  explicit PeerLinks(zmq::context_t& context) : context_(context) {}

  /// Opens the link and attaches. Throws zmq::error_t for an endpoint that is none.
  void connect(const protocol::ConnectPeer& message);
  /// From now on the memory goes before the socket.
  void share(protocol::PeerId peer, std::shared_ptr<protocol::SharedMemory> memory);

  /// Pushes to protocol::kClientPeer go there from now on. Before there are any.
  void set_client(ClientLink& client) { client_ = &client; }

  bool known(protocol::PeerId peer);

  /// A block for data on its way to the peer, which gets it without another copy; null where there is none.
  /// Any thread.
  std::shared_ptr<std::byte> take(protocol::PeerId peer, std::size_t size);

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

  /// Lets go of what peers have read. Any thread.
  void collect();
  /// Before sleeping: adds the descriptors that become readable when peers have read something. Main thread.
  /// @returns false where there is something to collect.
  bool rest(std::vector<int>& descriptors);
  /// After sleeping.
  void hush();

 private:
  struct Link {
    zmq::socket_t socket;
    std::shared_ptr<protocol::SharedMemory> shared;
  };
  void send_batch(Link& link);

  zmq::context_t& context_;
  ClientLink* client_ = nullptr;
  std::atomic<bool> lending_ = false;
  std::mutex mutex_;  // guards what follows; one sender at a time
  std::map<protocol::PeerId, Link> links_;
  protocol::Batch batch_;
};

}  // namespace clique::daemon
