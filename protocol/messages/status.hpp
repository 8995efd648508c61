// Looking at a node, and steering it: client and daemon.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "protocol/encryption.hpp"
#include "protocol/messages/message.hpp"

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
  CLIQUE_FIELDS(DeviceStatus, name, type, backend, driver, driver_version, memory_total, memory_free,
                utilisation)
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
  CLIQUE_FIELDS(SessionStatus, id, client, user, address, program, age_ms, devices, usage, own, share)
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
  CLIQUE_MESSAGE(Status, version, node, release, uptime_ms, draining, cause, sessions, session_limit,
                 encryption, administrator, devices, listed)
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
