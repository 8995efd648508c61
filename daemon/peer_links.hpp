#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "daemon/log.hpp"
#include "protocol/transport/zmq.hpp"

namespace clique::daemon {

/// The links to the client's other workers, for sending.
class PeerLinks {
 public:
  explicit PeerLinks(zmq::context_t& context) : context_(context) {}

  /// Opens the link and attaches. Throws zmq::error_t for an endpoint that is none.
  void connect(const protocol::ConnectPeer& message);

  bool known(protocol::PeerId peer);

  /// Sends to a known peer; it is up to the peers' own sessions to notice one that is gone. Any thread.
  template <typename M>
  void send(protocol::PeerId peer, const M& message) {
    const std::lock_guard lock(mutex_);
    const auto link = links_.find(peer);
    if (link == links_.end()) return;
    batch_.add(message);
    protocol::send(link->second, batch_);
  }

 private:
  zmq::context_t& context_;
  std::mutex mutex_;  // guards what follows; one sender at a time
  std::map<protocol::PeerId, zmq::socket_t> links_;
  protocol::Batch batch_;
};

}  // namespace clique::daemon
