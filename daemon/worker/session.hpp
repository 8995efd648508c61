#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "daemon/common/control.hpp"
#include "daemon/common/usage_page.hpp"
#include "daemon/worker/backend.hpp"
#include "daemon/worker/connections/admission.hpp"
#include "daemon/worker/connections/client_connections.hpp"
#include "daemon/worker/connections/client_lines.hpp"
#include "daemon/worker/connections/dial_requests.hpp"
#include "daemon/worker/connections/peer_inbox.hpp"
#include "daemon/worker/connections/worker_streams.hpp"
#include "daemon/worker/dispatcher.hpp"
#include "daemon/worker/transfers/files.hpp"
#include "daemon/worker/transfers/segments.hpp"
#include "protocol/transport/authentication.hpp"
#include "protocol/transport/shared_offer.hpp"

namespace clique::daemon {

/// One client's session in a worker: waits for the client, hands what the client and its other workers send
/// to the Dispatcher, and notices the end. Everything runs on the thread that calls run().
class Session {
 public:
  /// A worker's sockets for what it receives; see protocol/README.md. The Reporter has the third.
  struct Sockets {
    zmq::socket_t commands;
    zmq::socket_t peers;
  };

  /// @param dials of the links to other workers
  /// @param authenticator that guards the sockets
  /// @param offer of memory, for a client on this host
  /// @param patience how long a client on another host may be cut off; 0: its session ends with its
  /// connections
  Session(zmq::context_t& context, Sockets sockets, const ControlChannel& control, DialRequests& dials,
          const protocol::Authenticator& authenticator, std::unique_ptr<protocol::SharedOffer> offer,
          std::chrono::milliseconds patience, const Surroundings& surroundings, Backend& backend);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Serves the session until its end, logs why it ended, and sends its record to the starter. The caller has
  /// to leave the process at once afterwards.
  void run();

 private:
  using Clock = std::chrono::steady_clock;

  void loop();
  /// What the session has used so far.
  protocol::Usage usage();
  /// How its data have travelled.
  SessionLinks links();
  /// Sends SessionRecord. @param end why the session has ended
  void send_record(const std::string& end);
  /// Brings the UsagePage up to date.
  void write_usage(Clock::time_point now);
  /// Before the session is open: the client attaches its reports connection. @returns whether anything came.
  bool receive_reports();
  /// The client has made, or made again, the connection that carries its line.
  void take_client_line();
  /// Opens the session if the client's line, or both of its connections, are attached.
  void try_open();
  /// Afterwards: what comes through the reports connection, or tries to replace it.
  void look_at_reports();
  std::optional<std::uint64_t> resume_reports(const protocol::Incoming& incoming);
  /// The client, in a virtual machine, may use the parts of the file that the notice names.
  void use_guest_memory(const Fd& file, const Notice& notice);
  /// Hands memory to a process of this host that has connected to the offer, or takes its segment.
  /// @returns whether one had connected
  bool serve_offer();
  /// Maps the client's segment, and tells the client whether that has succeeded.
  void take_segment(protocol::SharedOffer::Segment&& segment);
  /// Does what the starter has said in the meantime. Does not wait.
  void look_at_starter();
  void obey_starter();
  /// Keeps up the links to other workers.
  void tend_peers();
  /// Waits until there may be something to do, for `most` at the longest.
  void sleep(std::chrono::milliseconds most);
  /// The client's connections were lost.
  void handle_loss(ClientConnections::Loss loss);

  const ControlChannel& control_;
  DialRequests& dials_;
  const protocol::Authenticator& authenticator_;
  const Surroundings surroundings_;
  Backend& backend_;
  const std::chrono::milliseconds patience_;
  std::unique_ptr<protocol::SharedOffer> offer_;
  std::shared_ptr<protocol::SharedMemory> guest_memory_;  // null: the client is no virtual machine's
  Admission admission_;
  Segments segments_;
  Files files_;
  Dispatcher dispatcher_;
  ClientConnections connections_;
  ClientLines client_lines_;
  PeerInbox peer_inbox_;
  WorkerStreams streams_;
  Clock::time_point next_round_trip_;
  std::optional<UsagePage> usage_page_;  // none: private workers have none
  std::string reports_id_;               // routing id of the first reports connection; empty before
  Attempts report_attempts_;
  bool open_ = false;
  std::string client_ = "a client";  // for logs
  Clock::time_point attach_deadline_ = Clock::time_point::max();
};

}  // namespace clique::daemon
