// Data from GPU to GPU of one host, without its memory in between: the sender leaves parts of pushes in a
// window, GPU memory of its own that others may read, and the receiver's GPU copies them from there, over
// NVLink where there is some.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include "daemon/backend/cuda/gpu/driver.hpp"
#include "daemon/worker/peer_links.hpp"
#include "protocol/messages.hpp"
#include "protocol/transport/free_ranges.hpp"

namespace clique::daemon::cuda {

/// This worker's window, for what it sends. Main thread, but where another is allowed.
class Window {
 public:
  Window(PeerLinks& peers, CUdevice device) : peers_(peers), device_(device) {}

  /// Whether the peer can read the window; the first call for a peer only asks it. Makes the window when it
  /// is first needed.
  bool open_to(protocol::PeerId peer);

  /// Room for a part on its way to a peer, free again when the last owner lets go of it.
  struct Room {
    CUdeviceptr address = 0;
    std::shared_ptr<std::byte> token;  ///< in memory shared with the peer: what is lent to it and given back
  };
  /// @returns null where there is none.
  std::shared_ptr<const Room> take(protocol::PeerId peer, std::uint64_t size);

  /// Tells the peer of a part of so many bytes in `room`. Any thread.
  /// @param taken let go of when the peer has copied it, from any thread, which may not use PeerLinks then
  /// @returns false where it cannot be told now
  bool send(protocol::PeerId peer, protocol::CommandId transfer, std::uint64_t offset,
            const std::shared_ptr<const Room>& room, std::uint64_t size,
            const std::shared_ptr<const void>& taken);

 private:
  /// @returns whether there is a window.
  bool make();

  PeerLinks& peers_;
  const CUdevice device_;
  bool tried_ = false;
  CUdeviceptr base_ = 0;  // 0: none
  protocol::OpenWindow offer_;
  std::map<protocol::PeerId, std::shared_ptr<std::atomic<bool>>> consents_;  // of those that were asked
  struct Rooms {
    explicit Rooms(std::uint64_t size) : free(size) {}
    std::mutex mutex;
    protocol::FreeRanges free;
  };
  std::shared_ptr<Rooms> rooms_;
};

/// The windows of others that this GPU reads. Main thread.
class PeerWindows {
 public:
  /// @returns whether this GPU can read it.
  bool open(const protocol::OpenWindow& offer);
  /// Where the part lies. Throws RuleBroken.
  CUdeviceptr address(const protocol::WindowData& part) const;

 private:
  struct Opened {
    CUdeviceptr base;
    std::size_t size;
  };
  std::map<protocol::WindowId, Opened> opened_;
};

}  // namespace clique::daemon::cuda
