#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "icd/common/node_address.hpp"
#include "protocol/pass.hpp"
#include "protocol/streams/dial.hpp"

namespace clique::icd {

/// By which host other nodes reach a node that this client calls `node`.
/// @param advertise protocol::Welcome::advertise of the node
inline const std::string& host_for_nodes(const NodeAddress& node, const std::string& advertise) {
  return advertise.empty() ? node.host : advertise;
}

/// The address of a worker, and the passes for it.
struct WorkerEndpoint {
  std::string node;                      ///< the node's own name, for messages to people
  std::string commands;                  ///< ZeroMQ endpoint for commands; empty: the worker has none
  std::string reports;                   ///< ZeroMQ endpoint for reports
  std::string peers;                     ///< ZeroMQ endpoint for the workers of other nodes
  protocol::Pass client;                 ///< for commands and reports
  protocol::Pass peer;                   ///< for peers
  std::string shared;                    ///< see protocol::WorkerAddress
  std::shared_ptr<const void> lifeline;  ///< keeps the worker running while the link exists. May be empty.
  std::uint32_t driver = 0;              ///< protocol::Driver::id
  protocol::Bytes streams = {};          ///< protocol::WorkerAddress::streams; empty: do not use streams
  std::string daemon = {};               ///< where streams connect to: see protocol::endpoint_of()
  std::string peers_daemon = {};         ///< the same for the workers of other nodes
  std::string memory = {};               ///< file of the memory that this virtual machine shares; empty: none
  std::uint64_t memory_at = 0;           ///< protocol::WorkerAddress::memory_at
  std::uint64_t segments_at = 0;         ///< the same of segments_at
  std::uint64_t segments_size = 0;       ///< the same of segments_size
  protocol::Compression compression = protocol::Compression::Auto;  ///< of what the client sends
  std::chrono::seconds build_timeout{0};                            ///< NodeSettings::build_timeout
  bool ucx = false;  ///< large transfers, also those to other workers, go through UCX

  /// Whether commands, reports and large transfers can go through streams.
  bool has_streams() const {
    return streams.size() == std::tuple_size_v<protocol::StreamAddress> && !daemon.empty();
  }
  /// For DaemonProbe.
  std::optional<protocol::StreamTarget> daemon_target() const {
    return has_streams() ? std::optional(stream_target()) : std::nullopt;
  }
  /// For the client's streams, if it has any.
  protocol::StreamTarget stream_target() const {
    protocol::StreamTarget target{.endpoint = daemon,
                                  .role = protocol::StreamRequest::Role::Client,
                                  .secret = client.stream_key,
                                  .encryption = client.encryption(),
                                  .known = client.known_ciphers(),
                                  .compression = compression,
                                  .ucx = ucx};
    std::copy_n(streams.begin(), target.worker.size(), target.worker.begin());
    return target;
  }
};

}  // namespace clique::icd
