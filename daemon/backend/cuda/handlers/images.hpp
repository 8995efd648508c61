#pragma once

#include "daemon/backend/cuda/execution/fill.hpp"
#include "daemon/backend/cuda/execution/pinned_memory.hpp"
#include "daemon/backend/cuda/handlers/commands.hpp"

namespace clique::daemon::cuda {

/// Commands that read, write, copy and fill images. Main thread.
class Images {
 public:
  /// @param memory the session's images and buffers
  Images(Commands& commands, PinnedMemory& pinned, Filler& filler, DeviceMemory& device_memory,
         const MemoryTable<Memory>& memory)
      : commands_(commands),
        pinned_(pinned),
        filler_(filler),
        device_memory_(device_memory),
        memory_(memory) {}
  Images(const Images&) = delete;
  Images& operator=(const Images&) = delete;

  void handle(protocol::ReadImage&& message);
  void handle(protocol::WriteImage&& message);
  void handle(protocol::CopyImage&& message);
  void handle(protocol::CopyImageToBuffer&& message);
  void handle(protocol::CopyBufferToImage&& message);
  void handle(protocol::FillImage&& message);

 private:
  Commands& commands_;
  PinnedMemory& pinned_;
  Filler& filler_;
  DeviceMemory& device_memory_;
  const MemoryTable<Memory>& memory_;
};

}  // namespace clique::daemon::cuda
