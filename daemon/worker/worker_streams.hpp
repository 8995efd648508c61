#pragma once

#include <atomic>
#include <string>

#include "daemon/worker/backend.hpp"
#include "daemon/worker/dispatcher.hpp"
#include "protocol/fd.hpp"
#include "protocol/streams/stream_set.hpp"
#include "protocol/transport/authentication.hpp"

namespace clique::daemon {

/// The streams that others have to this worker: the client's, which carry large transfers in both directions,
/// and those of the session's other workers, which carry what they push. The daemon hands their connections
/// over. Main thread, unless a function says otherwise.
class WorkerStreams {
 public:
  /// @param authenticator has the keys that admit
  WorkerStreams(const protocol::Authenticator& authenticator, const Surroundings& surroundings,
                Backend& backend, Dispatcher& dispatcher);

  /// A number for WorkerAddress::streams, chosen at random.
  static protocol::Bytes new_address();

  /// Takes a connection, and its first message. Closes it if whoever made it does not know the key; logs that
  /// with `address`. Throws DecodeError if somebody who knows it breaks the rules.
  void accept(Fd connection, const protocol::Bytes& request, const std::string& address);

  /// Whether the client has made any. Any thread.
  bool client_connected() const { return client_connected_.load(std::memory_order_relaxed); }
  /// Bytes of the parts from and to the client, and from other workers.
  protocol::StreamSet::Traffic client_traffic() { return to_client_.traffic(); }
  protocol::StreamSet::Traffic peer_traffic() { return peers_.traffic(); }
  /// Sends a part to the client. Any thread.
  void send_to_client(protocol::PeerData&& part) { to_client_.send(std::move(part)); }

 private:
  /// Brings what arrives to the Dispatcher.
  class Inward final : public protocol::StreamSet::Owner {
   public:
    Inward(const Surroundings& surroundings, Backend& backend, Dispatcher& dispatcher,
           Dispatcher::Sender sender)
        : surroundings_(surroundings), backend_(backend), dispatcher_(dispatcher), sender_(sender) {}
    std::shared_ptr<std::byte> place(const protocol::RecordHeader& part, bool sealed) override;
    void arrived(protocol::PeerData&& part) override;
    void failed(const std::string& reason) override;

   private:
    const Surroundings surroundings_;
    Backend& backend_;
    Dispatcher& dispatcher_;
    const Dispatcher::Sender sender_;
  };

  const protocol::Authenticator& authenticator_;
  LogLimit strangers_;
  std::atomic<bool> client_connected_{false};
  Inward from_client_;
  Inward from_peers_;
  protocol::StreamSet to_client_;
  protocol::StreamSet peers_;
};

}  // namespace clique::daemon
