// What the node tells Prometheus about itself. The part that speaks HTTP is a module, which is opened only if
// it is wanted: its libraries would make the start of every worker slower.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "daemon/common/measurements.hpp"
#include "protocol/messages/session.hpp"
#include "protocol/messages/status.hpp"

namespace clique::daemon {

/// Why the daemon refuses clients. The reasons in words contain what clients have sent; these are few.
enum class Refusal : std::uint8_t {
  Access,     ///< the node does not admit the client, or not for this
  Version,    ///< it speaks another version of the protocol
  Draining,   ///< the node accepts no new sessions
  Limit,      ///< the node, or the client, has as many sessions as it may have
  Exclusive,  ///< other sessions keep the devices
  Busy,       ///< too many clients wait
  Request,    ///< it asks for something that does not exist
  Failure     ///< the node cannot start the session's workers
};
inline constexpr std::size_t kRefusals = 8;
inline constexpr std::size_t kWishes = 6;

/// What the daemon counts from its begin.
struct ServerCounts {
  std::array<std::uint64_t, kWishes> admissions{};  ///< by Wish: clients whose requests were accepted
  std::array<std::uint64_t, kRefusals> refusals{};  ///< by Refusal
  std::uint64_t sessions = 0;                       ///< that were opened
  protocol::Usage usage;                            ///< of all sessions; without its memory
  Measured measured;                                ///< of all sessions
};

/// The sessions of one client that run.
struct ClientUsage {
  std::string client;  ///< Permit::client
  std::uint64_t sessions = 0;
  std::uint64_t memory = 0;  ///< bytes of their buffers and images
};

/// An NVIDIA GPU. protocol::kUnknown stands for what its driver does not tell.
struct GpuState {
  std::uint64_t index = 0;  ///< of its driver
  std::string uuid;
  std::uint64_t utilisation = protocol::kUnknown;   ///< percent
  std::uint64_t memory_total = protocol::kUnknown;  ///< bytes
  std::uint64_t memory_free = protocol::kUnknown;
};

/// The node's state at one moment.
struct MetricsSnapshot {
  std::string node;
  std::string host;              ///< its host's name
  std::string compiler_release;  ///< as in protocol::NodeHealth
  bool draining = false;
  std::uint64_t session_limit = 0;  ///< 0: none
  std::uint64_t waiting = 0;        ///< clients whose requests are not answered yet
  std::uint64_t sessions = 0;       ///< that run
  std::uint64_t queued = 0;         ///< commands that they have enqueued and that have not ended
  ServerCounts counts;
  /// With most memory first; the rest is added up in the last one if there are more than kMostClients.
  std::vector<ClientUsage> clients;
  std::vector<GpuState> gpus;
};

/// The most clients that Prometheus is told of by name. A site with more of them at a time sees the others
/// together.
inline constexpr std::size_t kMostClients = 100;
/// The name of all others together.
inline constexpr const char* kOtherClients = "others";

/// Keeps the first kMostClients by memory, and adds the others up.
std::vector<ClientUsage> bounded(std::vector<ClientUsage> clients);

/// Serves /metrics by HTTP, in threads of its own. Scrapes get the last snapshot that was published. One
/// thread.
class Metrics {
 public:
  Metrics() = default;
  virtual ~Metrics() = default;
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  /// HOST:PORT, with the port that was chosen.
  virtual std::string address() const = 0;
  virtual void publish(MetricsSnapshot snapshot) = 0;
};

/// The function that the module exports: listens. Throws std::exception, with the reason.
using MakeMetrics = Metrics*(const std::string& address);
inline constexpr const char* kMakeMetrics = "clique_make_metrics";

/// Opens the module, and listens. Throws std::runtime_error with what is wrong, where, and what to do.
/// @param address HOST:PORT; port 0 is any free one
std::unique_ptr<Metrics> open_metrics(const std::string& address);

}  // namespace clique::daemon
