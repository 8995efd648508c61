#pragma once

#include <atomic>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "icd/common/object.hpp"
#include "icd/core/division/movement_meter.hpp"
#include "icd/core/objects/device.hpp"
#include "icd/core/objects/early_writes.hpp"
#include "icd/core/objects/svm_table.hpp"
#include "icd/core/transfers/host_reads.hpp"
#include "protocol/ids.hpp"

namespace clique::icd {

class Memory;
class Worker;

/// The devices, each once, and after them the members of combined devices that are not among them.
std::vector<Ref<Device>> with_members(std::span<const Ref<Device>> devices);
/// The workers that serve the devices and the members of combined devices: each once.
std::vector<Worker*> workers_of(std::span<const Ref<Device>> devices);

/// OpenCL 3.0, section 4.4: devices of any nodes, and the objects that they share. Each worker that serves
/// some of the devices has a native context with the same id. Any thread.
class Context final : public Object<_cl_context, Kind::Context, CL_INVALID_CONTEXT> {
 public:
  using ErrorCallback = void(CL_CALLBACK*)(const char*, const void*, size_t, void*);
  using DestructorCallback = void(CL_CALLBACK*)(cl_context, void*);

  /// Opens the workers of the devices and waits for that. Throws Error(CL_DEVICE_NOT_AVAILABLE).
  Context(std::vector<Ref<Device>> devices, std::vector<cl_context_properties> properties,
          ErrorCallback on_error, void* user_data);
  ~Context() override;

  protocol::ObjectId id() const { return id_; }
  const std::vector<Ref<Device>>& devices() const { return devices_; }
  bool has(const Device& device) const;
  const std::vector<cl_context_properties>& properties() const { return properties_; }
  /// workers_of(devices()).
  const std::vector<Worker*>& workers() const { return workers_; }
  /// The members of combined devices that the application has not named.
  std::span<const Ref<Device>> hidden_members() const;
  /// The ids of the devices, and of the members of combined devices, that `worker` serves.
  std::vector<protocol::DeviceId> devices_on(const Worker& worker) const;
  /// The queue on `worker` for coherence's transfers. The first call creates it.
  protocol::ObjectId transfer_queue(Worker& worker);

  /// Guards the coherence state of all memory objects of the context. A command holds it from the decision
  /// which content has to move until its messages are in their outboxes, so that all workers see the same
  /// order.
  std::mutex& coherence_mutex() { return coherence_mutex_; }
  /// Whether commands of more than one worker have used memory objects of the context, or user events may
  /// hold commands back. Until then, commands that write need no events: the end of all commands is early
  /// enough for other workers. Changes under coherence_mutex().
  bool shares_content() const { return shares_content_.load(std::memory_order_acquire); }
  /// A command of the worker, or a transfer to it, is about to use memory objects. To be called before their
  /// coherence is asked what has to move. Under coherence_mutex().
  void use_content(Worker& worker);
  /// Events that have not ended, after which everything is there that the worker has written without events
  /// of its commands.
  std::vector<Ref<Event>> ends_of_writes(const Worker& worker);

  // Buffers that are larger than one member of a combined device has room for: combined-devices.md.

  /// Counts a buffer with memory of its own.
  void add_buffer(const Memory& buffer);
  /// The buffer is used for the first time. @returns whether it is sparse: it is large, and no member of the
  /// combined device has room for all buffers of the context
  bool decide_sparse(Memory& buffer);
  /// A buffer that was counted is about to be destroyed. @param used whether decide_sparse() was called
  void remove_buffer(const Memory& buffer, bool used);
  /// Whether there may have been a sparse buffer.
  bool has_sparse_memory() const { return has_sparse_memory_.load(std::memory_order_relaxed); }
  /// Whether the worker's devices can have sparse buffers.
  bool has_sparse_buffers(const Worker& worker) const;
  /// Has a worker, which is about to need memory for `more` bytes of sparse buffers, free what it has for
  /// content of sparse buffers that it does not hold any more; if there may not be room otherwise, also what
  /// others hold, too. Under coherence_mutex().
  void make_room(Worker& worker, std::uint64_t more);

  bool has_combined_devices() const;
  /// How fast content moves among its workers. @param near whether all of these are on the client's host
  MovementMeter& movement(bool near) { return near ? movement_near_ : movement_; }

  /// Bytes of sparse buffers for which each member of the combined devices has room in any case.
  std::uint64_t sure_room();

  HostReads& host_reads() { return host_reads_; }
  EarlyWrites& early_writes() { return early_writes_; }
  SvmTable& svm() { return svm_; }

  /// Whether the context has had an event whose completion is reported out of order (EventOrder::late()).
  bool has_late_events() const { return has_late_events_.load(std::memory_order_relaxed); }
  void set_late_events() { has_late_events_.store(true, std::memory_order_relaxed); }
  /// Whether the context has had a user event.
  bool has_user_events() const { return has_user_events_.load(std::memory_order_relaxed); }
  /// To be called before the context has its first user event.
  void set_user_events();

  /// Sends what is in the outboxes of all workers of the context.
  void flush() const;
  /// The handles of the context's queues. A queue adds itself, and removes itself when it is destroyed.
  std::vector<cl_command_queue> queues();
  void add_queue(cl_command_queue queue);
  void remove_queue(cl_command_queue queue);

  /// Calls the application's error callback, if it gave one.
  void notify(const std::string& what) const;
  void add_destructor(DestructorCallback callback, void* user_data);

 private:
  /// From now on, commands that write have events. Under coherence_mutex().
  void share_content();

  protocol::ObjectId id_ = next_id();
  std::vector<Ref<Device>> devices_;
  std::vector<Ref<Device>> all_devices_;  ///< with_members(devices_)
  std::vector<Worker*> workers_;
  std::vector<cl_context_properties> properties_;
  ErrorCallback on_error_;
  void* on_error_data_;
  std::mutex coherence_mutex_;
  std::atomic<bool> shares_content_ = false;
  std::atomic<const Worker*> first_user_ = nullptr;
  std::mutex ends_mutex_;
  std::vector<Ref<Event>> ends_of_writes_;  ///< of the first user; guarded by ends_mutex_
  MovementMeter movement_near_{MovementMeter::kAssumedNear};
  MovementMeter movement_{MovementMeter::kAssumed};
  HostReads host_reads_;
  EarlyWrites early_writes_;
  SvmTable svm_;
  /// Bytes that a member of the combined devices has room for; 0: no buffer is sparse.
  std::uint64_t room_on_member_ = 0;
  std::mutex buffers_mutex_;
  std::uint64_t all_bytes_ = 0;    ///< of buffers; guarded by buffers_mutex_, as the next
  std::uint64_t whole_bytes_ = 0;  ///< of used buffers that are not sparse
  std::vector<Memory*> sparse_;    ///< buffers
  std::atomic<bool> has_sparse_memory_ = false;
  std::atomic<bool> has_late_events_ = false;
  std::atomic<bool> has_user_events_ = false;
  std::mutex mutex_;
  std::vector<std::pair<Worker*, protocol::ObjectId>> transfer_queues_;
  std::vector<std::pair<DestructorCallback, void*>> destructors_;
  std::vector<cl_command_queue> queues_;
};

}  // namespace clique::icd
