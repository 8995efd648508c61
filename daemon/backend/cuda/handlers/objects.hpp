#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "daemon/backend/common/command_reports.hpp"
#include "daemon/backend/common/memory_table.hpp"
#include "daemon/backend/common/table.hpp"
#include "daemon/backend/cuda/execution/scheduler.hpp"
#include "daemon/backend/cuda/gpu/image_store.hpp"
#include "daemon/backend/cuda/gpu/sparse_memory.hpp"
#include "daemon/worker/backend.hpp"

namespace clique::daemon::cuda {

/// A context has no state here: there is one device with one CUDA context, and the client keeps the rest.
struct Context {};

struct Queue : QueueState {
  std::shared_ptr<Lane> lane;
  /// In order: the last command. Out of order: the last barrier.
  TaskRef last;
  /// Out of order: tasks that may not have ended.
  std::vector<TaskRef> pending;
};

struct Memory {
  std::uint64_t size = 0;   ///< bytes; of an image, of its pixels without gaps
  CUdeviceptr address = 0;  ///< of a buffer
  bool placed = false;      ///< whether the client chose the address
  bool in_host = false;     ///< whether a buffer is in a segment, and not in the GPU's memory
  /// Keeps the memory: the GPU's, or that of a segment. A sub-buffer and an image over a buffer share the
  /// buffer's.
  std::shared_ptr<const void> allocation;
  std::unique_ptr<ImageStore> image;     ///< null for a buffer
  MemoryBudget::Share share;             ///< of `allocation`; a segment and a sparse buffer have their own
  std::shared_ptr<SparseMemory> sparse;  ///< of a sparse buffer, and of its sub-buffers; null for others
  std::uint64_t sparse_begin = 0;        ///< where a sub-buffer begins in it
  bool is_part = false;                  ///< whether it is a sub-buffer

  bool is_image() const { return image != nullptr; }
  std::uint64_t transfer_unit() const { return image ? image->shape().element_size : 1; }
};

/// Gives bytes of a memory object their memory, for a command. Main thread. Throws
/// ClError(CL_MEM_OBJECT_ALLOCATION_FAILURE) if a sparse buffer gets none.
/// @param offset, size within the object
/// @returns what the command has to keep until it has ended
std::shared_ptr<const void> hold(const std::shared_ptr<Memory>& memory, std::uint64_t offset,
                                 std::uint64_t size);

struct Sampler {
  std::uint32_t number = 0;  ///< CLIQUE_SAMPLER_* (daemon/compiler/library/abi.h)
};

/// The contexts, queues, buffers, images and samplers of the session. Main thread.
class Objects {
 public:
  Objects(const Surroundings& surroundings, DeviceMemory& device_memory, Scheduler& scheduler)
      : reporter_(surroundings.reporter),
        peers_(surroundings.peers),
        budget_(surroundings.memory),
        device_memory_(device_memory),
        scheduler_(scheduler) {}
  Objects(const Objects&) = delete;
  Objects& operator=(const Objects&) = delete;

  const Table<Context>& contexts() const { return contexts_; }
  const Table<Queue>& queues() const { return queues_; }
  const MemoryTable<Memory>& memory() const { return memory_; }
  const Table<Sampler>& samplers() const { return samplers_; }

  void handle(protocol::CreateContext&& message);
  void handle(protocol::CreateSubDevices&& message);
  void handle(protocol::CreateQueue&& message);
  void handle(protocol::CreateBuffer&& message);
  void handle(protocol::CreateSubBuffer&& message);
  void handle(protocol::TrimBuffer&& message);
  void handle(protocol::CreateImage&& message);
  void handle(protocol::CreateSampler&& message);
  /// @returns whether it was one of these objects.
  bool release(protocol::ObjectId id);

 private:
  /// Frees the memory of a sparse buffer that is about to be released: what knows the object, such as a push
  /// whose data is still on its way, may live longer.
  void free_sparse(protocol::ObjectId id);

  Reporter& reporter_;
  PeerLinks& peers_;
  MemoryBudget& budget_;
  DeviceMemory& device_memory_;
  Scheduler& scheduler_;
  Table<Context> contexts_{"context"};
  Table<Queue> queues_{"queue"};
  MemoryTable<Memory> memory_;
  Table<Sampler> samplers_{"sampler"};
};

/// Rule: the worker's only device is 0. Throws RuleBroken.
void check_device(protocol::DeviceId id);
void check_devices(const std::vector<protocol::DeviceId>& ids);

}  // namespace clique::daemon::cuda
