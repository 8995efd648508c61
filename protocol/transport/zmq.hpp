// Batches over ZeroMQ sockets. A ZeroMQ message is: [routing id, on ROUTER sockets] records, payload frames.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>
#include <zmq.hpp>

#include "protocol/codec.hpp"

namespace clique::protocol {

/// Time within which a dead connection is noticed: ZMTP heartbeats on every socket, which have to be
/// acknowledged by the other host, and answered by the other process, in time.
inline constexpr int kHeartbeatIntervalMs = 1000;
inline constexpr int kHeartbeatTimeoutMs = 4000;

/// Settings of every Clique socket: no lingering, no dropping at a high-water mark, heartbeats, bounded
/// messages. To be called before bind or connect.
void configure(zmq::socket_ref socket);

/// For sockets that payloads come through: over a slow link one may take longer than a heartbeat's answer
/// may, which comes after it. That the other host acknowledges is enough then.
void expect_payloads(zmq::socket_ref socket);

/// A way that takes longer than this, there and back, is worth several connections whatever there is of
/// processors: the system lets each hold only so much.
inline constexpr std::chrono::microseconds kLongWay{500};

/// Over how many connections this process spreads a large transfer, each direction.
unsigned bulk_connections(bool long_way);

/// Whether there should be another connection for large transfers. On a short way they come one after the
/// other: ZeroMQ gives each to the thread that has the fewest, and counts only those that are there already.
/// @param present how many there are
/// @param answered whether the last of them is known to be made
bool worth_another_connection(std::size_t present, bool answered, bool long_way);

/// How many threads ZeroMQ is to have here: as many as that, and more, so that commands and reports, whose
/// connections are made first, mostly have other threads than what is large.
int io_threads();

/// Has the C library keep what it needs for payloads that come, which ZeroMQ takes from it one by one: else
/// it gives memory that is let go back to the system at once, and the next payload costs a page fault for
/// every 4 KiB. It takes effect where the application has not said itself what is to be kept (mallopt), and
/// keeps some 32 MiB at most of what is let go. Any thread; once is enough.
void keep_payload_memory();

/// A batch as ZeroMQ's frames: records, then payloads, which are not copied.
using Frames = std::vector<zmq::message_t>;

/// One received message. Everything it holds stays alive as long as a payload's owner does.
struct Incoming {
  std::string routing_id;  ///< of the sender, on ROUTER sockets
  std::span<const std::byte> records;
  std::vector<Payload> frames;
  std::shared_ptr<const void> owner;
};

/// Sends the batch as one message and clears it. Payloads are sent without copying: their owner is let go, on
/// a thread of ZeroMQ's, once the bytes are out.
/// @param routing_id of the receiver, on ROUTER sockets; empty on others.
/// @returns false where the receiver is gone (ROUTER sockets with ZMQ_ROUTER_MANDATORY).
/// Throws zmq::error_t.
bool send(zmq::socket_ref socket, Batch& batch, std::string_view routing_id = {});
/// The same in two steps. The first clears the batch.
Frames frames_of(Batch& batch);
bool send(zmq::socket_ref socket, Frames frames, std::string_view routing_id = {});

/// Receives one message without waiting.
/// @returns false where there is none.
/// Throws zmq::error_t, and DecodeError for a message without records.
bool receive(zmq::socket_ref socket, Incoming& incoming);

/// The file descriptor of the connection that brought a message, as socket monitors name it; -1 where
/// unknown.
int connection_of(const Incoming& incoming);

}  // namespace clique::protocol
