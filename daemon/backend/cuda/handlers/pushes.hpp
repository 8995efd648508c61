#pragma once

#include <memory>
#include <vector>

#include "daemon/backend/cuda/execution/host_copies.hpp"
#include "daemon/backend/cuda/execution/pinned_memory.hpp"
#include "daemon/backend/cuda/gpu/window.hpp"
#include "daemon/backend/cuda/handlers/commands.hpp"
#include "daemon/worker/backend.hpp"

namespace clique::daemon::cuda {

/// Transfers between workers: Push reads and sends, Expect receives and writes. Main thread.
class Pushes {
 public:
  /// What transfers use.
  struct Uses {
    PeerLinks& peers;
    Tasks& tasks;
    Commands& commands;
    Scheduler& scheduler;
    PinnedMemory& pinned;
    HostCopies& host_copies;
    const Objects& objects;
  };
  /// @param device has this worker's window
  Pushes(const Uses& uses, CUdevice device) : uses_(uses), window_(uses.peers, device) {}
  Pushes(const Pushes&) = delete;
  Pushes& operator=(const Pushes&) = delete;

  void handle(protocol::Push&& message);
  /// As Backend::expect().
  std::unique_ptr<TransferSink> expect(protocol::Expect&& message);
  /// As Backend::open_window().
  bool open_window(const protocol::OpenWindow& window) { return peer_windows_.open(window); }

 private:
  class PushJob;
  class ExpectSink;

  const Uses uses_;
  Window window_;
  PeerWindows peer_windows_;
};

}  // namespace clique::daemon::cuda
