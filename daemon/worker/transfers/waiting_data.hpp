#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "protocol/payload.hpp"
#include "protocol/transport/zmq.hpp"

namespace clique::daemon {

/// Counts the host memory of data that waits in the worker: the data of commands that have not run yet, data
/// from other workers that arrived before it was expected, replies that the client has not received yet,
/// program sources, and recordings. Without a limit, a client could make a worker keep any amount. Any
/// thread, unless a function says otherwise.
class WaitingData {
 public:
  /// Data that is counted until the last copy is destroyed.
  using Share = std::shared_ptr<const void>;

  /// The smallest limit in bytes: transfers overlap, and each direction has its window.
  static constexpr std::uint64_t kLeast = 128U << 20U;

  /// @param session_memory bytes that the session may allocate on devices, and may have waiting here; 0: no
  /// limit
  explicit WaitingData(std::uint64_t session_memory);

  Share count(std::uint64_t bytes);
  /// Counts a payload until its last owner releases it.
  void count(protocol::Payload& payload);
  /// Counts a batch until nothing refers to it.
  void count(protocol::Incoming& incoming);

  /// Throws DeviceFailed if more data waits than the session may have. Main thread.
  void check() const;

 private:
  /// An owner that keeps `owner` alive, and counts these bytes until it is destroyed.
  Share counted(Share owner, std::uint64_t bytes);

  const std::uint64_t limit_;  // 0: none
  const std::shared_ptr<std::atomic<std::uint64_t>> bytes_;
};

}  // namespace clique::daemon
