#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "icd/core/commands/host_reads.hpp"
#include "icd/core/objects/device.hpp"
#include "icd/core/objects/object.hpp"
#include "icd/core/objects/svm_table.hpp"

namespace clique::icd {

class Event;
class Queue;

/// The workers that serve the devices, each once, in the devices' order.
std::vector<Worker*> workers_of(std::span<const Ref<Device>> devices);

/// Devices of any nodes that share objects. On each worker that has some of its devices there is a native
/// context with the same id.
class Context final : public Object<_cl_context, Kind::Context, CL_INVALID_CONTEXT> {
 public:
  using ErrorCallback = void(CL_CALLBACK*)(const char*, const void*, size_t, void*);
  using DestructorCallback = void(CL_CALLBACK*)(cl_context, void*);

  /// Opens the workers of the devices. Throws Error(CL_DEVICE_NOT_AVAILABLE).
  Context(std::vector<Ref<Device>> devices, std::vector<cl_context_properties> properties,
          ErrorCallback on_error, void* user_data);
  ~Context() override;

  protocol::ObjectId id() const { return id_; }
  const std::vector<Ref<Device>>& devices() const { return devices_; }
  bool has(const Device& device) const;
  const std::vector<cl_context_properties>& properties() const { return properties_; }
  /// workers_of(devices()).
  const std::vector<Worker*>& workers() const { return workers_; }
  /// The devices that are on `worker`.
  std::vector<protocol::DeviceId> devices_on(const Worker& worker) const;
  /// The queue on `worker` that coherence transfers run on; made when first asked for.
  protocol::ObjectId transfer_queue(Worker& worker);

  /// Guards the coherence state of all memory objects of the context: held from the decision what has to move
  /// until the commands are in their outboxes, so that all workers see one order.
  std::mutex& coherence_mutex() { return coherence_mutex_; }

  HostReads& host_reads() { return host_reads_; }
  SvmTable& svm() { return svm_; }

  /// Whether some event is Event::late().
  bool has_late_events() const { return has_late_events_.load(std::memory_order_relaxed); }
  void set_late_events() { has_late_events_.store(true, std::memory_order_relaxed); }
  /// Whether there has been some user event.
  bool has_user_events() const { return has_user_events_.load(std::memory_order_relaxed); }
  void set_user_events() { has_user_events_.store(true, std::memory_order_relaxed); }

  /// @returns what has to come before the queue's first command: the last write that returned early on its
  /// worker.
  std::optional<protocol::CommandId> add_queue(const Queue& queue);
  void remove_queue(const Queue& queue);
  /// For a write that returns before it is done: whatever the application enqueues afterwards has to come
  /// after it, which an in-order queue sees to as long as it is the only one on its worker.
  /// @returns a lock, during which no other queue is made, where that is so, else none.
  std::unique_lock<std::mutex> alone(const Queue& queue);
  /// Such a write was enqueued. To be called under the lock of alone().
  void returned_early(const Queue& queue, Event& write);

  /// Sends to all workers of the context what was enqueued for them.
  void flush() const;

  /// Tells the application's error callback, where there is one.
  void notify(const std::string& what) const;
  void add_destructor(DestructorCallback callback, void* user_data);

 private:
  protocol::ObjectId id_ = next_id();
  std::vector<Ref<Device>> devices_;
  std::vector<Worker*> workers_;
  std::vector<cl_context_properties> properties_;
  ErrorCallback on_error_;
  void* on_error_data_;
  std::mutex coherence_mutex_;
  HostReads host_reads_;
  SvmTable svm_;
  std::atomic<bool> has_late_events_ = false;
  std::atomic<bool> has_user_events_ = false;
  std::mutex mutex_;
  std::vector<std::pair<Worker*, protocol::ObjectId>> transfer_queues_;
  /// Held while a queue is made, or while none must be. Not while one goes, which may happen wherever an
  /// event is let go of.
  std::mutex gate_;
  std::mutex queues_mutex_;  // inside all others
  std::vector<const Queue*> queues_;
  /// Of each worker, the last write that returned early. Under gate_.
  std::map<Worker*, std::shared_ptr<const protocol::CommandId>> ahead_;
  std::vector<std::pair<DestructorCallback, void*>> destructors_;
};

}  // namespace clique::icd
