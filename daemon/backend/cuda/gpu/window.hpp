// Transfers from GPU to GPU of one host, without the host's memory in between: the sender leaves parts of
// pushes in a window, a part of its GPU's memory that other GPUs can read. The receiver's GPU copies them
// from there, over NVLink if there is one.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include "daemon/backend/cuda/gpu/driver.hpp"
#include "daemon/worker/connections/peer_links.hpp"
#include "protocol/messages/transfers.hpp"
#include "protocol/transport/free_ranges.hpp"

namespace clique::daemon::cuda {

/// This worker's window, for what it sends. Main thread, unless said otherwise.
class Window {
 public:
  Window(PeerLinks& peers, CUdevice device) : peers_(peers), device_(device) {}

  /// Whether the peer can read the window. The first call for a peer only offers it the window, and makes the
  /// window if there is none yet.
  bool open_to(protocol::PeerId peer);

  /// Room in the window for a part on its way to a peer. It is free again when the last owner releases it.
  struct Room {
    CUdeviceptr address = 0;
    std::shared_ptr<std::byte> token;  ///< a block in memory shared with the peer, which the peer returns
  };
  /// @returns null if there is no room.
  std::shared_ptr<const Room> take(protocol::PeerId peer, std::uint64_t size);

  /// Tells the peer of a part of `size` bytes in `room`. Any thread.
  /// @param taken released when the peer has copied the part, on any thread, which must not use PeerLinks
  /// then
  /// @returns false if the peer cannot be told now.
  bool send(protocol::PeerId peer, protocol::CommandId transfer, std::uint64_t offset,
            const std::shared_ptr<const Room>& room, std::uint64_t size,
            const std::shared_ptr<const void>& taken);

 private:
  /// Makes the window, if that was not tried yet. @returns whether there is one.
  bool make();

  PeerLinks& peers_;
  const CUdevice device_;
  bool tried_ = false;
  CUdeviceptr base_ = 0;  // 0: there is no window
  protocol::OpenWindow offer_;
  std::map<protocol::PeerId, std::shared_ptr<std::atomic<bool>>>
      consents_;  // of the peers that were offered it
  struct Rooms {
    explicit Rooms(std::uint64_t size) : free(size) {}
    std::mutex mutex;
    protocol::FreeRanges free;
  };
  std::shared_ptr<Rooms> rooms_;
};

/// The windows of other GPUs that this one reads. Main thread.
class PeerWindows {
 public:
  /// @returns whether this GPU can read the window.
  bool open(const protocol::OpenWindow& offer);
  /// The address of a part. Throws RuleBroken if it is not in an open window.
  CUdeviceptr address(const protocol::WindowData& part) const;

 private:
  struct Opened {
    CUdeviceptr base;
    std::size_t size;
  };
  std::map<protocol::WindowId, Opened> opened_;
};

}  // namespace clique::daemon::cuda
