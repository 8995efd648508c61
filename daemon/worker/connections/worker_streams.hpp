#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "daemon/worker/backend.hpp"
#include "daemon/worker/connections/peer_inbox.hpp"
#include "daemon/worker/dispatcher.hpp"
#include "protocol/fd.hpp"
#include "protocol/streams/batch_line.hpp"
#include "protocol/streams/stream_set.hpp"
#include "protocol/transport/authentication.hpp"

namespace clique::daemon {

/// Why a session ends whose client wants UCX although WorkerAddress::without_ucx says that there is none.
inline constexpr std::string_view kNoUcx = "large transfers through UCX, which this node does not offer";

/// The streams that others have to this worker: the client's, which carry messages and large transfers in
/// both directions, and those of the session's other workers, which carry what they send. The daemon hands
/// their connections over. Main thread, unless a function says otherwise.
class WorkerStreams {
 public:
  /// @param authenticator has the keys that admit
  /// @param peers takes the messages of other workers
  WorkerStreams(const protocol::Authenticator& authenticator, const Surroundings& surroundings,
                Backend& backend, Dispatcher& dispatcher, PeerInbox& peers);

  /// A number for WorkerAddress::streams, chosen at random.
  static protocol::Bytes new_address();

  /// The line of the client's messages.
  const std::shared_ptr<protocol::BatchLine>& client_line() const { return client_line_; }

  /// Takes a connection, and its first message. Closes it if whoever made it does not know the key; logs that
  /// with `address`. Throws DecodeError if somebody who knows it breaks the rules.
  /// @returns whether it is a connection of client_line()
  bool accept(Fd connection, const protocol::Bytes& request, const std::string& address);

  /// Whether the client has made any. Any thread.
  bool client_connected() const { return client_connected_.load(std::memory_order_relaxed); }
  /// The traffic of the parts from and to the client, and from other workers.
  protocol::StreamSet::Traffic client_traffic() { return to_client_.traffic(); }
  protocol::StreamSet::Traffic peer_traffic() { return peers_.traffic(); }
  /// Whether parts from and to the client, and from other workers, travel through UCX.
  bool client_uses_ucx() const { return client_ucx_; }
  bool peers_use_ucx() const { return peer_ucx_; }
  /// Sends a part to the client. Any thread.
  void send_to_client(protocol::PeerData&& part) { to_client_.send(std::move(part)); }
  /// Whether parts wait for a stream to the client.
  bool busy_with_client() { return to_client_.busy(); }

 private:
  /// Brings what arrives to the Dispatcher.
  class Inward final : public protocol::StreamSet::Owner {
   public:
    Inward(const Surroundings& surroundings, Backend& backend, Dispatcher& dispatcher,
           Dispatcher::Sender sender)
        : surroundings_(surroundings), backend_(backend), dispatcher_(dispatcher), sender_(sender) {}
    bool exposes_memory() const override { return false; }
    std::shared_ptr<std::byte> place(const protocol::RecordHeader& part) override;
    void arrived(protocol::PeerData&& part) override;
    void failed(const std::string& reason) override;

   private:
    const Surroundings surroundings_;
    Backend& backend_;
    Dispatcher& dispatcher_;
    const Dispatcher::Sender sender_;
  };

  const protocol::Authenticator& authenticator_;
  const bool ucx_;
  bool client_ucx_ = false;
  bool peer_ucx_ = false;
  LogLimit strangers_;
  std::atomic<bool> client_connected_{false};
  Inward from_client_;
  Inward from_peers_;
  PeerInbox& peer_inbox_;
  const std::shared_ptr<protocol::BatchLine> client_line_ = std::make_shared<protocol::BatchLine>();
  protocol::StreamSet to_client_;
  protocol::StreamSet peers_;
};

}  // namespace clique::daemon
