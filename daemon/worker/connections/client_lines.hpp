#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "daemon/worker/backend.hpp"
#include "daemon/worker/connections/admission.hpp"
#include "daemon/worker/connections/client_connections.hpp"
#include "daemon/worker/connections/inward_line.hpp"
#include "daemon/worker/connections/traffic.hpp"
#include "daemon/worker/dispatcher.hpp"
#include "protocol/streams/batch_line.hpp"
#include "protocol/transport/shared_memory.hpp"
#include "protocol/transport/zmq_line.hpp"

namespace clique::daemon {

class Segments;
class WorkerStreams;

/// What the client sends: commands, through its line, its commands connection over ZeroMQ or shared memory,
/// and large transfers over ZeroMQ, through lines of their own on the same socket. Also the route for what is
/// pushed to the client. Main thread, unless a function says otherwise.
class ClientLines final : public PeerLinks::ClientLink {
 public:
  /// @param socket the ROUTER for commands
  /// @param acknowledge whether lines can be resumed, so that the client keeps what it sent
  ClientLines(zmq::socket_t socket, Admission& admission, ClientConnections& connections,
              Dispatcher& dispatcher, Segments& segments, const Surroundings& surroundings,
              InwardLine::Acknowledge acknowledge);

  /// Before open(): the client uses this memory.
  void share(std::shared_ptr<protocol::SharedMemory> memory) { shared_ = std::move(memory); }
  const std::shared_ptr<protocol::SharedMemory>& shared() const { return shared_; }

  /// From now on large transfers to the client go through streams if it has any.
  void use(WorkerStreams& streams) { streams_ = &streams; }

  /// Before open(): the client sends through this line, instead of the socket.
  void use(std::shared_ptr<protocol::BatchLine> line) { line_ = std::move(line); }
  /// The line, or null.
  const std::shared_ptr<protocol::BatchLine>& line() const { return line_; }

  /// Whether the client has attached its line or its commands connection.
  bool attached() const { return line_ || !commands_.routing_id().empty(); }
  /// Both connections are attached: from now on commands are handled.
  void open() { open_ = true; }

  zmq::socket_ref socket() { return socket_; }
  /// Whether batches are due that have to come through the socket before what is in the shared memory.
  bool waits_for_socket() const { return due_from_socket_ > 0; }

  /// Handles what has come through the line or the socket, up to a limit. @returns whether there was
  /// anything.
  bool receive();
  /// Handles what has come through the shared memory, up to a limit. @returns whether there was anything.
  bool receive_shared();

  /// Takes back the blocks of shared memory that the client has read.
  void collect();
  /// Before sleeping: has the doorbell ring for commands and for blocks that are given back.
  /// @returns false when there is something already
  bool arm();

  /// Bytes that the client has sent, and that were pushed to it through connections. Any thread.
  std::uint64_t received_through_network() const { return from_network_.value(); }
  std::uint64_t received_through_memory() const { return from_memory_.value(); }
  std::uint64_t pushed_through_network() const { return to_network_.value(); }
  /// How many connections over ZeroMQ have carried large transfers.
  std::size_t used_connections() const;

  // For pushes to the client: see PeerLinks::ClientLink.
  std::shared_ptr<std::byte> take(std::size_t size) override;  // any thread
  std::chrono::nanoseconds round_trip() const override { return dispatcher_.round_trip(); }
  bool shares() const override { return shared_ != nullptr; }
  bool busy() const override;
  void send(protocol::PeerData&& part) override;  // any thread
  std::shared_ptr<std::byte> segment(protocol::ObjectId id, std::uint64_t at, std::uint64_t size) override;

 private:
  struct OutwardLine {
    std::string routing_id;
    Attempts attempts;
    protocol::LineSender sender;
    bool used = false;  ///< it has carried data
  };

  /// While a kernel waits for its turn on the device, what follows it stays where it is, so that the client
  /// cannot send without end.
  bool may_receive() const { return !dispatcher_.paused(); }
  /// A batch of commands that has come through the line or the socket.
  void take_commands(protocol::Incoming&& incoming);
  bool receive_line();
  void attach_line(const protocol::Incoming& incoming);
  /// Whether the message is about a line for large transfers that this session has.
  bool knows_bulk(const protocol::AttachLine& message) const;
  void attach_bulk(const protocol::AttachLine& message, const protocol::Incoming& incoming);
  /// Sends what the client has not received of the line, on its new connection.
  void resume_downlink(OutwardLine& line, std::uint64_t received);
  void receive_bulk(protocol::LineId id, protocol::Incoming&& incoming);
  void count(InwardLine& line, const protocol::Incoming& incoming);

  zmq::socket_t socket_;
  Admission& admission_;
  ClientConnections& connections_;
  Dispatcher& dispatcher_;
  Segments& segments_;
  const Surroundings surroundings_;
  const InwardLine::Acknowledge acknowledge_;
  protocol::BatchReader reader_;
  bool open_ = false;

  std::shared_ptr<protocol::BatchLine> line_;
  InwardLine commands_;
  std::map<protocol::LineId, InwardLine> uplinks_;
  std::set<protocol::LineId> used_uplinks_;  // those that have carried data
  std::map<protocol::LineId, OutwardLine> downlinks_;
  std::size_t next_downlink_ = 0;
  WorkerStreams* streams_ = nullptr;
  std::map<std::string, protocol::LineId> bulk_ids_;  // uplinks and downlinks by their routing ids
  std::set<std::string> former_ids_;                  // of connections that were replaced or came too late
  Counter from_network_;
  Counter from_memory_;
  Counter to_network_;

  std::shared_ptr<protocol::SharedMemory> shared_;  // null: the client is on another host
  std::deque<protocol::Incoming> from_socket_;      // batches that did not fit into the shared memory
  unsigned due_from_socket_ = 0;                    // how many of them precede what is in it
  std::atomic<bool> lent_ = false;                  // blocks that the client gives back
};

}  // namespace clique::daemon
