#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "daemon/common/link_usage.hpp"
#include "daemon/worker/connections/admission.hpp"
#include "daemon/worker/connections/inward_line.hpp"
#include "daemon/worker/connections/traffic.hpp"
#include "daemon/worker/dispatcher.hpp"
#include "protocol/streams/batch_line.hpp"
#include "protocol/streams/readiness.hpp"
#include "protocol/transport/shared_memory.hpp"

namespace clique::daemon {

/// What the client's other workers send: through lines over streams or on the peers socket, and through
/// shared memory. Main thread.
class PeerInbox {
 public:
  /// @param socket the ROUTER for peers
  /// @param acknowledge whether lines can be resumed, so that peers keep what they sent
  /// @param waiting counts what has come until it is used
  PeerInbox(zmq::socket_t socket, Admission& admission, Dispatcher& dispatcher, WaitingData& waiting,
            InwardLine::Acknowledge acknowledge);

  /// A worker on this host sends through this memory, too.
  void add(std::shared_ptr<protocol::SharedMemory> memory) { shared_.push_back(std::move(memory)); }

  /// A connection that carries one of the lines, whose request is authentic. Throws DecodeError.
  void accept(Fd connection, const protocol::StreamRequest& request, std::span<const std::uint8_t> secret);

  zmq::socket_ref socket() { return socket_; }
  /// Readable when something has come through a stream.
  int descriptor() const { return arrivals_.fd(); }
  /// Whether any worker has attached to the socket, or has a stream.
  bool attached() const { return !lines_.empty() || !streams_.empty(); }

  /// Handles what has come through streams and the socket, up to a limit. @returns whether there was
  /// anything.
  bool receive();
  /// Handles what has come through shared memory, up to a limit. @returns whether there was anything.
  bool receive_shared();

  const std::vector<std::shared_ptr<protocol::SharedMemory>>& shared() const { return shared_; }
  /// Before sleeping: has the doorbells ring. @returns false when there is something already.
  bool arm();

  /// Bytes that other workers have sent. Any thread.
  std::uint64_t received() const { return received_.value(); }
  /// The links, without what comes through streams.
  /// @param ucx large transfers through streams use UCX
  LinkUsage usage(bool ucx) const;

 private:
  bool receive_streams();
  void attach(const protocol::Incoming& incoming);
  void handle(protocol::Incoming&& incoming);

  zmq::socket_t socket_;
  Admission& admission_;
  Dispatcher& dispatcher_;
  WaitingData& waiting_;
  const InwardLine::Acknowledge acknowledge_;
  std::map<protocol::LineId, protocol::BatchLine> streams_;
  protocol::Readiness arrivals_;
  bool streams_drained_ = true;  // none of streams_ had anything more
  std::map<protocol::LineId, InwardLine> lines_;
  std::set<protocol::LineId> used_lines_;        // those of lines_ that have carried large transfers
  std::map<std::string, protocol::LineId> ids_;  // by routing id
  std::set<std::string> former_ids_;             // of connections that were replaced or came too late
  std::vector<std::shared_ptr<protocol::SharedMemory>> shared_;
  Counter received_;
};

}  // namespace clique::daemon
