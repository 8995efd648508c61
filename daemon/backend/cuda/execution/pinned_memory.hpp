#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_set>

#include "daemon/backend/common/staging.hpp"
#include "daemon/backend/cuda/gpu/driver.hpp"
#include "daemon/worker/reports/reporter.hpp"
#include "protocol/messages.hpp"

namespace clique::daemon::cuda {

/// Page-locked ("pinned") host memory for data on its way to and from the GPU: memory that is shared with
/// other processes and was registered with the driver, and staging blocks.
class PinnedMemory {
 public:
  explicit PinnedMemory(Reporter& reporter);

  /// Registers memory that is shared with another process. If the driver refuses, its data is copied through
  /// staging blocks. Main thread.
  void share(std::span<std::byte> memory);
  /// Registers memory in which the GPU is to work, at the same address as the host. Throws ClError if that is
  /// not possible. Main thread.
  void share_in_place(std::span<std::byte> memory);
  /// The memory is about to go away. Main thread.
  void unshare(std::span<std::byte> memory);
  /// Whether the bytes lie in shared memory that is registered, or are those of an incoming() block.
  bool is_pinned(std::span<const std::byte> bytes) const;

  // The following throw ClError if the driver has no more memory.

  /// A staging block. Waits a while if too many are in use.
  std::shared_ptr<std::byte> staging(std::size_t size) { return staging_.take(size); }
  /// A block for data on its way to the client: in memory shared with it, or a staging block.
  std::shared_ptr<std::byte> outgoing(std::size_t size);
  /// A block for one chunk of a push: `shared`, or a staging block if that is null or not pinned. Never
  /// waits, since only few chunks are under way at a time.
  std::shared_ptr<std::byte> chunk(const std::shared_ptr<std::byte>& shared, std::size_t size);
  /// A block for a part of a transfer that is about to arrive, which pinned() needs not copy. Never waits.
  /// Any thread with the GPU's context.
  std::shared_ptr<std::byte> incoming(std::size_t size);
  /// The data itself if the driver can read it in place, else a staging block with a copy.
  std::shared_ptr<std::byte> pinned(const protocol::Payload& data);
  /// Whether the block that pinned() has returned for the data is page-locked.
  bool is_pinned(const std::byte* block, const protocol::Payload& data) const {
    return block != data.bytes.data() || is_pinned(data.bytes);
  }

 private:
  CUresult pin(std::span<std::byte> memory);

  Reporter& reporter_;
  Staging staging_;
  std::map<const std::byte*, std::size_t> registered_;  ///< sizes by the first bytes
  /// The incoming() blocks that are in use. Shared with them.
  struct Incoming {
    std::mutex mutex;
    std::unordered_set<const std::byte*> blocks;
  };
  const std::shared_ptr<Incoming> incoming_ = std::make_shared<Incoming>();
};

}  // namespace clique::daemon::cuda
