// How a session's data have travelled, for the daemon's log.
#pragma once

#include <chrono>
#include <cstdint>

#include "protocol/messages/message.hpp"

namespace clique::daemon {

/// The links between one worker and the client, or its other workers. All numbers can be added up. Large
/// transfers are those that have connections of their own.
struct LinkUsage {
  /// How many links large transfers go through in each of these ways.
  std::uint64_t streams = 0;
  std::uint64_t zeromq = 0;
  std::uint64_t ucx = 0;
  std::uint64_t shared_memory = 0;
  std::uint64_t connections = 0;  ///< that have carried large transfers
  std::uint64_t bulk_in = 0;      ///< bytes of large transfers that were received through streams or UCX
  std::uint64_t bulk_in_us = 0;   ///< how long any of them was arriving: see StreamSet::Traffic::receiving
  std::uint64_t bulk_out = 0;     ///< bytes that were sent
  std::uint64_t bulk_out_us = 0;  ///< see StreamSet::Traffic::sending
  CLIQUE_FIELDS(LinkUsage, streams, zeromq, ucx, shared_memory, connections, bulk_in, bulk_in_us, bulk_out,
                bulk_out_us)
};

/// A time as LinkUsage has it.
inline std::uint64_t whole_microseconds(std::chrono::nanoseconds time) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(time).count());
}

/// All links of a worker's session.
struct SessionLinks {
  LinkUsage client;
  LinkUsage peers;
  CLIQUE_FIELDS(SessionLinks, client, peers)
};

}  // namespace clique::daemon
