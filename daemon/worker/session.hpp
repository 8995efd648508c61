#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "daemon/common/control.hpp"
#include "daemon/worker/backend.hpp"
#include "daemon/worker/recordings.hpp"
#include "daemon/worker/transfers.hpp"
#include "daemon/worker/watchdog.hpp"
#include "protocol/spin.hpp"
#include "protocol/transport/line.hpp"
#include "protocol/transport/shared_offer.hpp"

namespace clique::daemon {

/// One client's session in a worker: admits the client and the client's other workers, hands their messages
/// to the backend, and notices the end. Everything runs on the thread that calls run().
class Session final : private PeerLinks::ClientLink {
 public:
  /// A worker's sockets; see protocol/README.md. The Reporter has the third.
  struct Sockets {
    zmq::socket_t commands;
    zmq::socket_t peers;
  };

  /// @param offer of memory, for a client on this host
  /// @param patience how long a client on another may be away; 0: its session ends with its connections
  Session(zmq::context_t& context, Sockets sockets, const ControlChannel& control, std::string token,
          std::unique_ptr<protocol::SharedOffer> offer, std::chrono::milliseconds patience,
          Surroundings surroundings, Backend& backend);
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Serves the session until its end, and logs why it ended. The process is to be left at once afterwards.
  void run();

 private:
  /// A message's way to its handler. handle() of the backend, except for what the session knows itself.
  struct Dispatch;
  friend struct Dispatch;

  /// Why the session is over; empty for an end in good order.
  struct Ended {
    std::string reason;
  };

  void loop();
  bool take_commands();
  bool take_shared_commands();
  void serve_offer();
  template <typename List>
  void take(List list, const protocol::Incoming& incoming, bool from_client);
  bool take_peers();
  bool take_shared_peers();
  bool take_reports();
  void attach(const protocol::Incoming& incoming, std::string& identity, const char* socket);
  /// A line of somebody's who is attached, and the routing id of its present connection.
  struct InwardLine {
    std::string id = {};
    protocol::LineReceiver receiver = {};
  };
  struct OutwardLine {
    std::string id = {};
    protocol::LineSender sender = {};
  };
  void attach_line(const protocol::Incoming& incoming);
  void take_bulk(protocol::LineId id, protocol::Incoming&& incoming);
  /// Handles one of the large parts that have come. @returns whether there was any.
  bool take_part();
  /// The same for the reports. @returns what Reporter::receive() wants to know.
  std::optional<std::uint64_t> attach_reports(const protocol::Incoming& incoming);
  /// The message, where it is a right one. Throws DecodeError.
  protocol::AttachLine checked_line(const protocol::Incoming& incoming);
  /// The line goes on with this message's sender, who is told where.
  static void attach_inward(zmq::socket_ref socket, InwardLine& line, const protocol::Incoming& incoming);
  /// To be called after every batch.
  void count_in(zmq::socket_ref socket, InwardLine& line, const protocol::Incoming& incoming) const;
  bool resumable() const { return open_ && !shared_ && patience_.count() > 0; }
  /// One of the client's own connections is gone; and, later, there are both.
  /// @param closed by its side
  void cut(bool closed);
  void back();
  void tend_peers();
  /// Drops a message of somebody who is not attached, and says so in the log.
  void drop(const char* socket, const protocol::DecodeError& error);

  // What is pushed to the client.
  std::shared_ptr<std::byte> take(std::size_t size) override;
  std::chrono::nanoseconds round_trip() const override { return round_trip_; }
  bool shares() const override { return shared_ != nullptr; }
  void send(protocol::PeerData&& part) override;
  std::shared_ptr<std::byte> segment(protocol::ObjectId id, std::uint64_t at, std::uint64_t size) override;
  void add_segment(protocol::ObjectId id, std::shared_ptr<protocol::SharedSegment> segment);
  void open();
  void watch_control();
  /// @returns whether one of the client's own connections was lost.
  static bool lost(zmq::socket_ref monitor, int connection);
  void sleep();

  Sockets sockets_;
  const ControlChannel& control_;
  const std::string token_;
  Surroundings surroundings_;
  Backend& backend_;
  std::unique_ptr<protocol::SharedOffer> offer_;
  std::shared_ptr<protocol::SharedMemory> shared_;  // null: the client is elsewhere
  std::deque<protocol::Incoming> from_socket_;      // batches that the client could not send through it
  unsigned due_from_socket_ = 0;                    // of these, how many come before what is in it
  struct Part {
    protocol::Incoming incoming;
    bool from_client;  ///< else from another worker
  };
  /// Large parts that have come, and are handled one at a time: who asks for little waits for one of them at
  /// most.
  std::deque<Part> parts_;
  protocol::Vigil vigil_;
  Transfers transfers_;
  Recordings recordings_;
  zmq::socket_t commands_monitor_;
  zmq::socket_t reports_monitor_;

  protocol::BatchReader reader_;
  std::string client_ = "a client";  // for logs
  // Of the attached client; ids are empty before.
  InwardLine commands_;
  std::string reports_id_;  // that of the first connection
  std::map<protocol::LineId, InwardLine> uplinks_;
  std::map<protocol::LineId, OutwardLine> downlinks_;
  std::size_t next_downlink_ = 0;
  std::map<std::string, protocol::LineId> bulk_ids_;  // of the two
  std::set<std::string> former_ids_;                  // of connections that others have taken the place of
  struct Segment {
    std::span<std::byte> bytes;
    std::shared_ptr<const void> life;  ///< of commands that use it, too
  };
  std::map<protocol::ObjectId, Segment> segments_;
  std::atomic<bool> pushing_ = false;  // through shared memory, which gives blocks back
  /// One of its own two connections.
  struct Connection {
    int descriptor = -1;  ///< as ZeroMQ's; -1 where there is none
    Fd kept;              ///< the same connection, which tells how it ended
    void set(int connected);
    /// It is gone. @returns whether the other side has closed it, as the system does where a process ends.
    bool drop();
  };
  Connection commands_connection_;
  Connection reports_connection_;
  const std::chrono::milliseconds patience_;
  std::optional<ConnectionWatch> watch_;
  /// While the client is away: until when.
  std::optional<std::chrono::steady_clock::time_point> away_until_;
  std::map<protocol::LineId, InwardLine> peer_lines_;
  std::map<std::string, protocol::LineId> peer_ids_;
  std::vector<std::shared_ptr<protocol::SharedMemory>> shared_peers_;
  std::vector<protocol::Payload> withheld_;  // consents to windows that cannot be opened
  /// The shortest time in which the client answered an answer to its SyncClock with another one.
  std::chrono::nanoseconds round_trip_{0};
  std::chrono::steady_clock::time_point clock_told_;
  bool open_ = false;
  std::chrono::steady_clock::time_point attach_deadline_ = std::chrono::steady_clock::time_point::max();
  /// Ends that were told before AwaitRemote announced their commands.
  std::map<protocol::CommandId, std::int32_t> early_ends_;
  std::set<protocol::CommandId> awaited_;
  std::set<protocol::CommandId> released_;  // of the awaited ones, those to be forgotten at their end
  LogLimit strangers_;
};

}  // namespace clique::daemon
