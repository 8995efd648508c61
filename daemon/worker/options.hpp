#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "daemon/common/control.hpp"
#include "daemon/common/log.hpp"
#include "daemon/common/port_range.hpp"
#include "daemon/confinement/confine.hpp"
#include "daemon/worker/transfers/cufile_use.hpp"
#include "protocol/encryption.hpp"
#include "protocol/streams/packing.hpp"

namespace clique::daemon {

/// Whether sessions may use UCX (docs/decisions/0037).
enum class UcxUse : std::uint8_t { Refused, Offered };

/// The settings of cliqued that hold for each of its sessions.
struct SessionOptions {
  PortRange ports;                         ///< for the worker's three ZeroMQ sockets
  std::chrono::seconds kernel_timeout{0};  ///< how long a kernel may run; 0: no limit
  std::chrono::seconds resume_timeout{0};  ///< how long a client may be cut off; 0: not at all
  std::uint64_t memory = 0;  ///< bytes in buffers and images on each driver's devices; 0: no limit
  protocol::Compression compression = protocol::Compression::Auto;  ///< of what workers send
  UcxUse ucx = UcxUse::Refused;
  CuFileUse cufile = CuFileUse::Auto;
  /// Names this node in the UUIDs of its devices. No other node has this name.
  std::string node;
  /// Where each session's processes get folders of their own; empty: their drivers use their user's caches.
  std::string folders;
};

/// Which setting of sessions needs sockets that their processes make themselves, in words; empty: none.
std::string needs_sockets(const SessionOptions& session);

/// WorkerOptions::platform of a worker that is started before it is known which GPU it serves.
inline constexpr std::uint32_t kAnyGpu = ~std::uint32_t{0};

/// Options of `cliqued worker`.
struct WorkerOptions {
  LogOptions log;
  PlatformKind kind = PlatformKind::OpenCl;
  std::uint32_t platform = 0;          ///< ListedPlatform::index; kAnyGpu: a Notice::Kind::Serve says it
  std::vector<std::uint32_t> devices;  ///< positions in the platform; empty: all of its devices
  std::string bind = "127.0.0.1";      ///< numeric address for the sockets; IPv6 without brackets
  protocol::Encryption encryption = protocol::Encryption::None;
  SessionOptions session;
  std::string folder;  ///< of this process alone, in session.folders; empty: none
  confinement::Start start = confinement::Start::WithoutNamespaces;
  /// Unless the session needs sockets of its own.
  confinement::Network network = confinement::Network::HandedOver;
};

/// The network that the worker has.
confinement::Network network_of(const WorkerOptions& options);

/// The options as arguments of `cliqued worker`.
std::vector<std::string> worker_arguments(const WorkerOptions& options);
/// Reads what worker_arguments() wrote. Throws std::invalid_argument.
WorkerOptions parse_worker_arguments(std::span<char* const> arguments);

}  // namespace clique::daemon
