#include "icd/core/objects/context.hpp"

#include <algorithm>

#include "icd/core/coherence/coherence.hpp"
#include "icd/core/commands/queue.hpp"
#include "icd/core/events/event.hpp"
#include "icd/core/objects/memory.hpp"
#include "icd/core/workers/worker.hpp"
#include "icd/remote/link/link.hpp"
#include "icd/trace/trace.hpp"
#include "protocol/batch.hpp"
#include "protocol/messages.hpp"

namespace clique::icd {

namespace {

/// Bytes from which a buffer may be sparse: members map memory for 2 MiB and more at a time.
constexpr std::uint64_t kLeastSparse = std::uint64_t{16} << 20U;

std::vector<Ref<Device>> each_once(std::vector<Ref<Device>> devices) {
  std::vector<Ref<Device>> result;
  for (Ref<Device>& device : devices)
    if (std::find(result.begin(), result.end(), device) == result.end()) result.push_back(std::move(device));
  return result;
}

/// The part of the room on a member that can be counted on: memory is mapped in granules, commands that have
/// not ended use some, and so may other sessions.
std::uint64_t sure(std::uint64_t room) {
  return room - room / 8;
}

}  // namespace

std::vector<Ref<Device>> with_members(std::span<const Ref<Device>> devices) {
  std::vector<Ref<Device>> all(devices.begin(), devices.end());
  for (const Ref<Device>& device : devices)
    all.insert(all.end(), device->members().begin(), device->members().end());
  return each_once(std::move(all));
}

std::vector<Worker*> workers_of(std::span<const Ref<Device>> devices) {
  std::vector<Worker*> workers;
  for (const Ref<Device>& device : with_members(devices)) {
    Worker* worker = &device->worker();
    if (std::find(workers.begin(), workers.end(), worker) == workers.end()) workers.push_back(worker);
  }
  return workers;
}

Context::Context(std::vector<Ref<Device>> devices, std::vector<cl_context_properties> properties,
                 ErrorCallback on_error, void* user_data)
    : devices_(each_once(std::move(devices))),
      all_devices_(with_members(devices_)),
      workers_(workers_of(devices_)),
      properties_(std::move(properties)),
      on_error_(on_error),
      on_error_data_(user_data) {
  for (const Ref<Device>& device : devices_) {
    if (!device->is_combined() || !device->has_sparse_buffers()) continue;
    const std::uint64_t room = device->largest_on_one();
    room_on_member_ = room_on_member_ == 0 ? room : std::min(room_on_member_, room);
  }
  for (const std::string& failure : open_all(workers_))
    if (!failure.empty()) throw Error(CL_DEVICE_NOT_AVAILABLE, failure);
  for (Worker* worker : workers_) {
    worker->add_context(*this);
    worker->link().post(protocol::CreateContext{id_, devices_on(*worker)});
  }
}

Context::~Context() {
  for (auto it = destructors_.rbegin(); it != destructors_.rend(); ++it) it->first(this, it->second);
  for (Worker* worker : workers_) worker->remove_context(*this);
  for (const auto& [worker, queue] : transfer_queues_) worker->release_object(queue);
  for (Worker* worker : workers_) worker->release_object(id_);
}

bool Context::has(const Device& device) const {
  return std::any_of(devices_.begin(), devices_.end(),
                     [&](const Ref<Device>& mine) { return mine.get() == &device; });
}

bool Context::has_combined_devices() const {
  return std::any_of(devices_.begin(), devices_.end(),
                     [](const Ref<Device>& device) { return device->is_combined(); });
}

std::span<const Ref<Device>> Context::hidden_members() const {
  return std::span(all_devices_).subspan(devices_.size());
}

std::vector<protocol::DeviceId> Context::devices_on(const Worker& worker) const {
  std::vector<protocol::DeviceId> ids;
  // A combined device has the id of its first member.
  for (const Ref<Device>& device : all_devices_)
    if (&device->worker() == &worker && std::find(ids.begin(), ids.end(), device->id()) == ids.end())
      ids.push_back(device->id());
  return ids;
}

protocol::ObjectId Context::transfer_queue(Worker& worker) {
  const std::lock_guard lock(mutex_);
  const auto made = std::find_if(transfer_queues_.begin(), transfer_queues_.end(),
                                 [&](const auto& entry) { return entry.first == &worker; });
  if (made != transfer_queues_.end()) return made->second;
  const auto device = std::find_if(all_devices_.begin(), all_devices_.end(),
                                   [&](const Ref<Device>& mine) { return &mine->worker() == &worker; });
  const auto properties = (*device)->value<cl_command_queue_properties>(CL_DEVICE_QUEUE_ON_HOST_PROPERTIES) &
                          CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
  const cl_command_queue_properties timed = trace::on() ? CL_QUEUE_PROFILING_ENABLE : 0;
  const protocol::ObjectId id = next_id();
  worker.link().post(protocol::CreateQueue{id, id_, (*device)->id(), properties | timed, trace::on()});
  transfer_queues_.emplace_back(&worker, id);
  return id;
}

void Context::use_content(Worker& worker) {
  const Worker* const first = first_user_.load(std::memory_order_relaxed);
  if (first == nullptr) return first_user_.store(&worker, std::memory_order_relaxed);
  if (first != &worker && !shares_content()) share_content();
}

void Context::set_user_events() {
  if (has_user_events() || workers_.size() < 2) return has_user_events_.store(true);
  const std::lock_guard lock(coherence_mutex_);
  if (!shares_content()) share_content();
  has_user_events_.store(true);
}

void Context::share_content() {
  shares_content_.store(true, std::memory_order_release);
  const std::lock_guard lock(mutex_);
  for (const cl_command_queue handle : queues_) {
    const auto& queue = *static_cast<const Queue*>(handle);
    Worker& first = queue.worker();
    if (&first != first_user_.load() || first.link().lost()) continue;
    Ref<Event> end(new Event(Ref<Context>(this), first, CL_COMMAND_MARKER));
    first.expect_event(end);
    using protocol::Command;
    first.link().post(protocol::Marker{{end->id(), queue.id(), Command::kEvent | Command::kReport, {}}});
    {
      const std::lock_guard ends_lock(ends_mutex_);
      ends_of_writes_.push_back(end);
    }
    // An event keeps its context, so the context must not keep the event.
    end->then([this, event = end.get()](cl_int /*status*/) {
      Ref<Event> ended;
      const std::lock_guard ends_lock(ends_mutex_);
      const auto found = std::find_if(ends_of_writes_.begin(), ends_of_writes_.end(),
                                      [event](const Ref<Event>& each) { return each.get() == event; });
      if (found == ends_of_writes_.end()) return;
      ended = std::move(*found);
      ends_of_writes_.erase(found);
    });
  }
}

std::vector<Ref<Event>> Context::ends_of_writes(const Worker& worker) {
  if (&worker != first_user_.load()) return {};
  const std::lock_guard lock(ends_mutex_);
  return ends_of_writes_;
}

void Context::add_buffer(const Memory& buffer) {
  if (room_on_member_ == 0) return;
  const std::lock_guard lock(buffers_mutex_);
  all_bytes_ += buffer.size();
  if (all_bytes_ > room_on_member_) has_sparse_memory_.store(true, std::memory_order_relaxed);
}

bool Context::decide_sparse(Memory& buffer) {
  if (room_on_member_ == 0) return false;
  const std::lock_guard lock(buffers_mutex_);
  if (all_bytes_ > room_on_member_ && buffer.size() >= std::min(kLeastSparse, room_on_member_)) {
    sparse_.push_back(&buffer);
    return true;
  }
  whole_bytes_ += buffer.size();
  return false;
}

void Context::remove_buffer(const Memory& buffer, bool used) {
  if (room_on_member_ == 0) return;
  const std::lock_guard lock(buffers_mutex_);
  all_bytes_ -= buffer.size();
  if (std::erase(sparse_, &buffer) == 0 && used) whole_bytes_ -= buffer.size();
}

bool Context::has_sparse_buffers(const Worker& worker) const {
  return std::any_of(all_devices_.begin(), all_devices_.end(), [&](const Ref<Device>& device) {
    return !device->is_combined() && &device->worker() == &worker && device->has_sparse_buffers();
  });
}

void Context::make_room(Worker& worker, std::uint64_t more) {
  const std::lock_guard lock(buffers_mutex_);
  std::uint64_t used = whole_bytes_ + more;
  for (Memory* buffer : sparse_) used += buffer->coherence().occupied(worker);
  const bool tight = used > sure(room_on_member_);
  for (Memory* buffer : sparse_) buffer->coherence().trim(worker, tight);
}

std::uint64_t Context::sure_room() {
  const std::lock_guard lock(buffers_mutex_);
  const std::uint64_t room = sure(room_on_member_);
  return room - std::min(room, whole_bytes_);
}

void Context::flush() const {
  for (Worker* worker : workers_) worker->link().flush();
}

std::vector<cl_command_queue> Context::queues() {
  const std::lock_guard lock(mutex_);
  return queues_;
}

void Context::add_queue(cl_command_queue queue) {
  const std::lock_guard lock(mutex_);
  queues_.push_back(queue);
}

void Context::remove_queue(cl_command_queue queue) {
  const std::lock_guard lock(mutex_);
  std::erase(queues_, queue);
}

void Context::notify(const std::string& what) const {
  if (on_error_ != nullptr) on_error_(what.c_str(), nullptr, 0, on_error_data_);
}

void Context::add_destructor(DestructorCallback callback, void* user_data) {
  const std::lock_guard lock(mutex_);
  destructors_.emplace_back(callback, user_data);
}

}  // namespace clique::icd
