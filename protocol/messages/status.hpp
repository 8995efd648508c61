// Looking at a node, and steering it: client and daemon.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "protocol/encryption.hpp"
#include "protocol/messages/message.hpp"
#include "protocol/payload.hpp"

namespace clique::protocol {

/// Stands for a number that the node does not know.
inline constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();

/// What a session has used since its begin, in bytes where nothing else is said. What the transport adds to
/// messages does not count.
struct Usage {
  std::uint64_t network_in = 0;   ///< from the client, through connections
  std::uint64_t network_out = 0;  ///< to the client
  std::uint64_t shared_in = 0;    ///< the same through shared memory
  std::uint64_t shared_out = 0;
  std::uint64_t peers_in = 0;  ///< from and to the session's other workers
  std::uint64_t peers_out = 0;
  std::uint64_t kernels = 0;      ///< how many were enqueued
  std::uint64_t memory = 0;       ///< that buffers and images have now
  std::uint64_t peak_memory = 0;  ///< the most that they had at a time
  CLIQUE_FIELDS(Usage, network_in, network_out, shared_in, shared_out, peers_in, peers_out, kernels, memory,
                peak_memory)
};

/// A device of the node.
struct DeviceStatus {
  std::string name;
  std::uint64_t type = 0;      ///< cl_device_type
  std::string backend;         ///< "cuda" or "opencl"
  std::string driver;          ///< name of the driver's platform
  std::string driver_version;  ///< empty: unknown
  std::uint64_t memory_total = kUnknown;
  std::uint64_t memory_free = kUnknown;
  std::uint64_t utilisation = kUnknown;  ///< percent of the last moments in which a kernel ran
  std::string pci = {};                  ///< address on the PCI bus, such as 0000:3b:00.0; empty: unknown
  CLIQUE_FIELDS(DeviceStatus, name, type, backend, driver, driver_version, memory_total, memory_free,
                utilisation, pci)
};

/// A session that runs on the node.
struct SessionStatus {
  std::uint64_t id = 0;
  std::string client;   ///< as whom the node has admitted it
  std::string user;     ///< of the program, if the node knows it
  std::string address;  ///< ADDRESS:PORT of the program
  std::string program;  ///< Hello::client
  std::uint64_t age_ms = 0;
  std::vector<std::string> devices;  ///< their names
  Usage usage;
  bool own = false;         ///< the client that asks may end it although it is no administrator
  std::uint32_t share = 0;  ///< of devices, relative to the shares of other sessions
  /// Percent of the last moments in which its kernels were on the device of which it had most.
  std::uint64_t load = kUnknown;
  CLIQUE_FIELDS(SessionStatus, id, client, user, address, program, age_ms, devices, usage, own, share, load)
};

/// A wall around the processes of sessions that the node does without.
struct MissingWall {
  std::string name;
  std::string reason;
  std::string remedy;
  CLIQUE_FIELDS(MissingWall, name, reason, remedy)
};

/// The space of the disk, or of the memory, that has a folder.
struct FolderSpace {
  std::string folder;  ///< empty: the node has none
  std::uint64_t total = kUnknown;
  std::uint64_t free = kUnknown;
  CLIQUE_FIELDS(FolderSpace, folder, total, free)
};

/// What the node's host has and lacks.
struct NodeHealth {
  bool confined = false;  ///< there are to be walls around sessions
  std::vector<MissingWall> missing_walls;
  FolderSpace cache;             ///< for what drivers compile
  FolderSpace shared_memory;     ///< for transfers to programs on the node's own host
  std::string compiler;          ///< path of clique-compiler, which GPUs of NVIDIA need; empty: there is none
  std::string without_compiler;  ///< why
  std::string compiler_release;  ///< of Clique, of which the compiler is a part; empty: not known
  CLIQUE_FIELDS(NodeHealth, confined, missing_walls, cache, shared_memory, compiler, without_compiler,
                compiler_release)
};

/// Daemon to client: the node's state. Texts may contain anything; protocol::printable() escapes them.
struct Status {
  std::uint32_t version = 0;
  std::string node;             ///< as in Welcome
  std::string release;          ///< of Clique
  std::uint64_t uptime_ms = 0;  ///< since the daemon began to listen, when this was sent
  bool draining = false;
  std::string cause;                         ///< why it drains
  std::uint64_t sessions = 0;                ///< that run
  std::uint64_t session_limit = 0;           ///< 0: none
  Encryption encryption = Encryption::None;  ///< of the traffic with workers
  bool administrator = false;                ///< the client that asks is one
  std::vector<DeviceStatus> devices;
  /// All sessions if the client is an administrator, otherwise its own; kMostListedSessions at most.
  std::vector<SessionStatus> listed;
  std::string advertise = {};  ///< as in Welcome
  NodeHealth health = {};
  CLIQUE_MESSAGE(Status, version, node, release, uptime_ms, draining, cause, sessions, session_limit,
                 encryption, administrator, devices, listed, advertise, health)
};

/// Client to daemon, behind a Hello with Wish::Reach in the same batch: whether this node can reach other
/// ones, as the workers of sessions have to. Answered by Reached or Refused.
struct Reach {
  std::vector<std::string> endpoints;  ///< of their daemons, tcp://HOST:PORT; kMostReached at most
  std::uint32_t patience_ms = 0;       ///< how long the daemon may take; kLongestReachMs at most
  CLIQUE_MESSAGE(Reach, endpoints, patience_ms)
};

/// What came of the attempt to reach a node.
struct ReachedNode {
  enum class Outcome : std::uint8_t {
    Reached = 0,
    Refused = 1,     ///< nobody listens at the port, or a firewall rejects the connection
    Silent = 2,      ///< no answer in time
    Unresolved = 3,  ///< the name has no address there
    Foreign = 4,     ///< what listens there is no daemon
    Other = 5
  };
  Outcome outcome = Outcome::Other;
  std::string reason;               ///< in words, unless it was reached
  Bytes key = {};                   ///< PublicKey::Bytes that the daemon there has proven, if it was reached
  std::uint64_t round_trip_us = 0;  ///< of the connection, if it was reached
  CLIQUE_FIELDS(ReachedNode, outcome, reason, key, round_trip_us)
};

/// Daemon to client: one answer for each endpoint of Reach, in the same order.
struct Reached {
  std::uint32_t version = 0;
  std::vector<ReachedNode> nodes;
  CLIQUE_MESSAGE(Reached, version, nodes)
};

/// Client to daemon, behind a Hello with Wish::Steer in the same batch. Answered by Steered or Refused.
struct Steer {
  enum class Act : std::uint8_t {
    EndSession = 0,  ///< which `session` names
    Drain = 1        ///< as SIGTERM does
  };
  Act act = Act::EndSession;
  std::uint64_t session = 0;
  std::string reason;  ///< for the program's user, or for the clients that the node refuses; may be empty
  CLIQUE_MESSAGE(Steer, act, session, reason)
};

/// Daemon to client: the node does what Steer asks for. It does not wait until that is done.
struct Steered {
  std::uint32_t version = 0;
  std::string node;  ///< as in Welcome
  CLIQUE_MESSAGE(Steered, version, node)
};

}  // namespace clique::protocol
