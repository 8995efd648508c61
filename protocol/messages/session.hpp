// Opening and ending sessions: client and daemon, then client and worker.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/descriptions.hpp"
#include "protocol/messages/message.hpp"
#include "protocol/pass.hpp"
#include "protocol/version.hpp"

namespace clique::protocol {

/// What a client asks a daemon for.
enum class Wish : std::uint64_t {
  Session = 0,  ///< answered by Welcome
  Devices = 1,  ///< answered by Offer
  Status = 2,   ///< answered by Status
  Steer = 3,    ///< what Steer says, which follows in the same batch; answered by Steered
  Reserve = 4,  ///< the devices of the Choice that follows in the same batch; answered by Loads
  Reach = 5     ///< the nodes of the Reach that follows in the same batch; answered by Reached
};

/// Client to daemon, once on each connection; no other message but Steer, Choice or Reach goes there.
/// Answered according to `wish`, or by Refused; Starting may precede the answer, and comes again while the
/// client waits. All versions of the protocol understand it, so that a peer of another version can be told
/// which versions this one works with.
struct Hello {
  std::uint32_t version = 0;
  Wish wish = Wish::Session;
  std::string client;  ///< program, pid and host of the client, for logs
  /// Of MUNGE, made for this connection (protocol/security/munge.hpp); empty: none.
  std::string credential = {};
  std::uint32_t oldest = kOldestVersion;  ///< the oldest version that the client works with
  CLIQUE_MESSAGE(Hello, version, wish, client, credential, oldest)
};

/// A device of an Offer that a client chooses.
struct ChosenDevice {
  std::uint32_t driver = 0;  ///< Driver::id
  std::uint32_t device = 0;  ///< position in Driver::devices
  std::uint32_t users = 0;   ///< to reserve it: DeviceLoad::users, more of which the client does not want
  CLIQUE_FIELDS(ChosenDevice, driver, device, users)
};

/// Client to daemon, behind a Hello in the same batch: with Wish::Session, the devices that the session is
/// for; it gets the workers of their drivers only. With Wish::Reserve, the devices to reserve until such a
/// session, for kReservationSeconds at most; each of them is reserved if its users have not become more.
struct Choice {
  std::vector<ChosenDevice> devices;  ///< empty: all devices; to reserve: none
  bool exclusive = false;             ///< no other session may use the drivers of these devices meanwhile
  /// Chosen by the client at random, to find its reservations again; 0: it has none.
  std::uint64_t reservation = 0;
  /// The GuestMemoryId of memory that the client shares with the node's host; empty: there is none.
  Bytes memory = {};
  CLIQUE_MESSAGE(Choice, devices, exclusive, reservation, memory)
};

/// How long devices stay reserved for a session.
inline constexpr int kReservationSeconds = 10;

/// How much a device has to do.
struct DeviceLoad {
  std::uint32_t driver = 0;  ///< Driver::id
  std::uint32_t device = 0;  ///< position in Driver::devices
  std::uint32_t users = 0;   ///< sessions that use it, and reservations
  std::uint32_t busy =
      0;                  ///< percent of time in which kernels ran, plus percent of memory in use; 0: unknown
  bool taken = false;     ///< the client could have no session with it
  bool reserved = false;  ///< the answered Choice has reserved it
  CLIQUE_FIELDS(DeviceLoad, driver, device, users, busy, taken, reserved)
};

/// Daemon to client: the load of all devices that the client may use, after it has reserved what it can.
struct Loads {
  std::uint32_t version = 0;
  std::vector<DeviceLoad> devices;
  CLIQUE_MESSAGE(Loads, version, devices)
};

/// How to reach one worker. A worker serves the devices of one driver of the node.
struct WorkerAddress {
  std::uint16_t commands = 0;  ///< port of the ROUTER socket that takes commands; 0: it has no such sockets
  std::uint16_t reports = 0;   ///< port of the ROUTER socket that sends replies and reports
  std::uint16_t peers = 0;     ///< port of the ROUTER socket that takes other workers' messages
  Pass client;                 ///< for the client
  Pass peer;                   ///< for other workers of the session
  std::string shared;          ///< name of its shared-memory offer on its host; empty: it makes none
  std::uint32_t driver = 0;    ///< Driver::id
  /// By which the daemon's port finds the worker for a stream (StreamAddress); empty: it has no streams.
  Bytes streams = {};
  /// Where the session's region (SharedMemory::kBytes) begins in the memory that Choice names; 0: it has
  /// none.
  std::uint64_t memory_at = 0;
  /// Why the worker cannot use UCX, and what to do; empty: it can.
  std::string without_ucx = {};
  /// Where in the memory that Choice names the session can place segments (PlaceSegment).
  std::uint64_t segments_at = 0;
  std::uint64_t segments_size = 0;  ///< bytes there; 0: it has no place for segments
  CLIQUE_FIELDS(WorkerAddress, commands, reports, peers, client, peer, shared, driver, streams, memory_at,
                without_ucx, segments_at, segments_size)
};

/// A worker is ready for a session: its driver is loaded, and its sockets are bound. Between processes of one
/// host: worker to daemon or to `cliqued embedded`.
struct WorkerReady {
  std::string platform;  ///< the driver's platform name
  std::string vendor;    ///< the driver's platform vendor
  WorkerAddress address;
  CLIQUE_FIELDS(WorkerReady, platform, vendor, address)
};

/// A driver of which a session gets no worker.
struct Withheld {
  std::uint32_t driver = 0;  ///< Driver::id
  std::string reason;
  CLIQUE_FIELDS(Withheld, driver, reason)
};

/// A program to its `cliqued embedded`: it needs the workers of these drivers. Each is answered by a
/// WorkersStarted, in any order.
struct StartWorkers {
  std::vector<std::uint32_t> drivers;  ///< Driver::id
  CLIQUE_FIELDS(StartWorkers, drivers)
};

/// `cliqued embedded` to its program: private workers that wait for it, and drivers that cannot be used.
struct WorkersStarted {
  std::vector<WorkerAddress> workers;
  std::vector<Withheld> withheld = {};
  CLIQUE_FIELDS(WorkersStarted, workers, withheld)
};

/// Daemon to client: a session is open; attach to its workers.
struct Welcome {
  std::uint32_t version = 0;
  std::string node;  ///< the node's own name
  std::string
      advertise;  ///< host name or address for other nodes to use; empty: the one that the client used
  std::vector<WorkerAddress> workers;
  std::vector<Withheld> withheld = {};  ///< because other sessions use them exclusively
  CLIQUE_MESSAGE(Welcome, version, node, advertise, workers, withheld)
};

/// Daemon to client: the request is refused.
struct Refused {
  std::string reason;
  CLIQUE_MESSAGE(Refused, reason)
};

/// Daemon to client: the session's workers are still starting, which takes as long as the node's drivers
/// need. Followed by Welcome or Refused.
struct Starting {
  std::uint8_t reserved = 0;
  CLIQUE_MESSAGE(Starting, reserved)
};

/// Daemon to client: the devices that a session with this node would have.
struct Offer {
  std::uint32_t version = 0;
  std::string node;  ///< as in Welcome
  std::vector<Driver> drivers;
  std::int64_t time = 0;  ///< the node's CLOCK_REALTIME when this was sent, in ns
  /// Whether the client's connection comes from the node's host and the daemon's user. They can share memory,
  /// unless a process there passes the connection on for the client: ssh, or the client's virtual machine.
  bool same_user = false;
  std::string host = {};  ///< with same_user: host_id() of the node; empty: not known
  CLIQUE_MESSAGE(Offer, version, node, drivers, time, same_user, host)
};

/// Client to worker, over ZeroMQ: the first message on each of its two sockets (commands and reports) when
/// the session begins.
struct Attach {
  std::uint8_t reserved = 0;
  CLIQUE_MESSAGE(Attach, reserved)
};

/// First message of a connection to a worker's commands, reports or peers socket, alone in its batch: a line
/// continues on this connection. A line that the worker does not know begins here; a client's new line
/// carries PeerData. The worker answers with Received, or with SessionEnded if there is no such session.
struct AttachLine {
  LineId line = 0;
  bool to_client = false;      ///< the worker sends: it carries pushes to kClientPeer
  std::uint64_t received = 0;  ///< if the worker sends: batches of the line received so far
  /// Counts the line's connections. The worker ignores an AttachLine that is not newer than the connection it
  /// has, because one of an abandoned connection may arrive late.
  std::uint32_t attempt = 0;
  CLIQUE_MESSAGE(AttachLine, line, to_client, received, attempt)
};

/// From the receiving end of a line to the sending end, alone in its batch: how many batches have arrived
/// since the line began. It also answers AttachLine, as the connection's first message; the sending end
/// answers with 0.
struct Received {
  std::uint64_t batches = 0;
  CLIQUE_MESSAGE(Received, batches)
};

/// Worker to client: the first message, when the session is open.
struct Attached {
  std::vector<Property> platform;  ///< clGetPlatformInfo of the node's driver
  std::vector<DeviceDescription> devices;
  std::int64_t clock = 0;  ///< the node's clock when this was sent, ns; see SyncClock
  /// Resume timeout in ms: how long the worker waits for a broken line to be attached again. 0: the session
  /// ends when a connection breaks.
  std::uint32_t resume_ms = 0;
  CLIQUE_MESSAGE(Attached, platform, devices, clock, resume_ms)
};

/// Client to worker: the client ends the session.
struct Goodbye {
  std::uint8_t reserved = 0;
  CLIQUE_MESSAGE(Goodbye, reserved)
};

/// Worker to client: the worker ends the session for another reason than the client's Goodbye.
struct SessionEnded {
  std::string reason;
  CLIQUE_MESSAGE(SessionEnded, reason)
};

}  // namespace clique::protocol
