// Opening and ending sessions: client and daemon, then client and worker.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/messages/devices.hpp"
#include "protocol/messages/message.hpp"

namespace clique::protocol {

/// What a client asks a daemon for.
enum class Wish : std::uint64_t {
  Session = 0,  ///< answered by Welcome
  Devices = 1   ///< answered by Offer
};

/// Client to daemon, its only message. Answered as the wish says, or by Refused; Starting may come before.
/// These fields are the same in all versions, so that others can be told which one this is.
struct Hello {
  std::uint32_t version = 0;
  Wish wish = Wish::Session;
  std::string client;  ///< program, pid and host of the client, for logs
  CLIQUE_MESSAGE(Hello, version, wish, client)
};

/// How to reach one worker. A worker serves the devices of one driver of the node.
struct WorkerAddress {
  std::uint16_t commands = 0;  ///< port of the ROUTER socket that takes commands
  std::uint16_t reports = 0;   ///< port of the ROUTER socket that sends replies and reports
  std::uint16_t peers = 0;     ///< port of the ROUTER socket that takes other workers' messages
  std::string token;           ///< secret that Attach and AttachLine have to show
  std::string shared;          ///< name under which it offers shared memory on its host; empty: it does not
  std::uint32_t driver = 0;    ///< Driver::id
  CLIQUE_FIELDS(WorkerAddress, commands, reports, peers, token, shared, driver)
};

/// Daemon to client: a session is open; attach to its workers.
struct Welcome {
  std::uint32_t version = 0;
  std::string node;       ///< the node's own name
  std::string advertise;  ///< host by which other nodes reach this one; empty: the one that the client used
  std::vector<WorkerAddress> workers;
  CLIQUE_MESSAGE(Welcome, version, node, advertise, workers)
};

/// Daemon to client: no session, and why.
struct Refused {
  std::string reason;
  CLIQUE_MESSAGE(Refused, reason)
};

/// Daemon to client: there will be a session, but its workers are still being started, which takes as long as
/// the node's drivers do. Followed by Welcome or Refused.
struct Starting {
  std::uint8_t reserved = 0;
  CLIQUE_MESSAGE(Starting, reserved)
};

/// Daemon to client: what a session here would have.
struct Offer {
  std::uint32_t version = 0;
  std::string node;  ///< as in Welcome
  std::vector<Driver> drivers;
  CLIQUE_MESSAGE(Offer, version, node, drivers)
};

/// Client to worker, first message on each of its two sockets (commands and reports), where the session
/// begins.
struct Attach {
  std::string token;
  CLIQUE_MESSAGE(Attach, token)
};

/// First message of a connection, alone in its batch, to a worker's commands, reports or peers socket: a line
/// goes on here. One that the worker does not know begins: of a client, a line of PeerData. The worker
/// answers with Received, or with SessionEnded where there is no such session.
struct AttachLine {
  std::string token;
  LineId line = 0;
  bool to_client = false;      ///< the worker sends, as what is pushed to kClientPeer
  std::uint64_t received = 0;  ///< where the worker sends: how many batches of the line have come
  CLIQUE_MESSAGE(AttachLine, token, line, to_client, received)
};

/// From the receiving end of a line to the sending one, alone in its batch: so many batches have come since
/// it began. As an answer to AttachLine it is the connection's first, and 0 where it comes from the sending
/// end.
struct Received {
  std::uint64_t batches = 0;
  CLIQUE_MESSAGE(Received, batches)
};

/// Worker to client, on the reports socket, once both sockets are attached.
struct Attached {
  std::vector<Property> platform;  ///< clGetPlatformInfo of the node's driver
  std::vector<DeviceDescription> devices;
  std::int64_t clock = 0;  ///< the node's clock when this was sent, ns; see SyncClock
  /// How long the worker waits for lines that broke to be attached again, ms; 0: it ends with them.
  std::uint32_t resume_ms = 0;
  CLIQUE_MESSAGE(Attached, platform, devices, clock, resume_ms)
};

/// Client to worker: the session ends in good order.
struct Goodbye {
  std::uint8_t reserved = 0;
  CLIQUE_MESSAGE(Goodbye, reserved)
};

/// The worker ends the session, for a reason that is not the client's Goodbye.
struct SessionEnded {
  std::string reason;
  CLIQUE_MESSAGE(SessionEnded, reason)
};

}  // namespace clique::protocol
