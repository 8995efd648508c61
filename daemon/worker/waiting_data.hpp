#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "protocol/payload.hpp"
#include "protocol/transport/zmq.hpp"

namespace clique::daemon {

/// Counts the host memory of what waits in the worker: the data of commands that have not run, what other
/// workers have sent before it is expected, replies that the client has not received, and sources of
/// programs. A client could otherwise have a worker keep any amount of it. Any thread, unless a function says
/// otherwise.
class WaitingData {
 public:
  /// Data that is counted until the last copy is destroyed.
  using Share = std::shared_ptr<const void>;

  /// The least that a session may have: transfers overlap, and each way has its window.
  static constexpr std::uint64_t kLeast = 128U << 20U;

  /// @param session_memory bytes that the session may have on devices, and once more here; 0: no limit
  explicit WaitingData(std::uint64_t session_memory);

  Share count(std::uint64_t bytes);
  /// Counts a payload until its last owner releases it.
  void count(protocol::Payload& payload);
  /// Counts a batch until nothing refers to it any more.
  void count(protocol::Incoming& incoming);

  /// Throws DeviceFailed when more waits than the session may have. Main thread.
  void check() const;

 private:
  /// An owner that counts these bytes, and is `owner` otherwise.
  Share counted(Share owner, std::uint64_t bytes);

  const std::uint64_t limit_;  // 0: none
  const std::shared_ptr<std::atomic<std::uint64_t>> bytes_;
};

}  // namespace clique::daemon
