#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "daemon/backend/cuda/execution/fill.hpp"
#include "daemon/backend/cuda/execution/host_copies.hpp"
#include "daemon/backend/cuda/execution/pinned_memory.hpp"
#include "daemon/backend/cuda/execution/small_reads.hpp"
#include "daemon/backend/cuda/handlers/commands.hpp"
#include "daemon/worker/connections/peer_links.hpp"

namespace clique::daemon::cuda {

/// Commands that read, write, copy and fill buffers. Main thread.
class Buffers {
 public:
  /// @param memory the session's buffers
  Buffers(Reporter& reporter, PeerLinks& peers, Commands& commands, PinnedMemory& pinned, Filler& filler,
          HostCopies& host_copies, const MemoryTable<Memory>& memory)
      : reporter_(reporter),
        peers_(peers),
        commands_(commands),
        pinned_(pinned),
        filler_(filler),
        host_copies_(host_copies),
        memory_(memory) {}
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;

  /// From now on, small reads are done by a kernel. Any thread whose current context is the GPU's.
  void load_small_reads() { small_reads_.load(); }

  void handle(protocol::ReadBuffer&& message);
  void handle(protocol::WriteBuffer&& message);
  void handle(protocol::ReadToSegment&& message);
  void handle(protocol::WriteFromSegment&& message);
  void handle(protocol::ReadBufferRect&& message);
  void handle(protocol::WriteBufferRect&& message);
  void handle(protocol::CopyBuffer&& message);
  void handle(protocol::CopyBufferRect&& message);
  void handle(protocol::FillBuffer&& message);

 private:
  /// Makes the work a read of the buffer.
  /// @param destination called when the read is submitted; @returns pinned memory
  /// @param early if it has a place, SmallReads fills that instead of the destination
  void read(Work& work, const Memory& memory, std::uint64_t offset, std::size_t size,
            std::function<std::byte*()> destination, SmallReads::Place early = {});
  /// Where the client watches for the data of a read; no place if it does not. Throws RuleBroken.
  SmallReads::Place early_place(const protocol::ReadBuffer& message) const;
  Work write(protocol::ObjectId buffer, std::uint64_t offset, const protocol::Payload& data);

  Reporter& reporter_;
  PeerLinks& peers_;
  Commands& commands_;
  PinnedMemory& pinned_;
  Filler& filler_;
  HostCopies& host_copies_;
  const MemoryTable<Memory>& memory_;
  SmallReads small_reads_;
};

}  // namespace clique::daemon::cuda
