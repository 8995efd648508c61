#include "icd/core/recordings/command_buffer.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "icd/core/commands/queue.hpp"
#include "icd/core/commands/work.hpp"
#include "icd/core/objects/memory.hpp"
#include "icd/core/objects/sampler.hpp"
#include "icd/core/programs/kernel.hpp"
#include "icd/core/programs/program.hpp"
#include "icd/core/workers/worker.hpp"
#include "protocol/batch.hpp"
#include "protocol/messages.hpp"

namespace clique::icd {

namespace {

/// Bytes of all commands: half of what a message may have.
constexpr std::size_t kMaxBytes = protocol::Limits::kBatchBytes / 2;

bool covers(const Access& outer, const Access& inner) {
  return outer.memory == inner.memory && outer.begin <= inner.begin &&
         inner.begin + inner.size <= outer.begin + outer.size;
}

}  // namespace

CommandBuffer::CommandBuffer(Ref<Queue> queue, cl_command_buffer_flags_khr flags,
                             std::vector<cl_command_buffer_properties_khr> properties)
    : queue_(std::move(queue)),
      simultaneous_((flags & CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR) != 0),
      properties_(std::move(properties)),
      batch_(std::make_unique<protocol::Batch>()) {}

CommandBuffer::~CommandBuffer() {
  if (defined_) queue_->worker().release_object(id_);
}

std::vector<Ref<Event>> CommandBuffer::take_ended() const {
  std::vector<Ref<Event>> ended;
  while (!runs_.empty() && runs_.front()->ended()) {
    ended.push_back(std::move(runs_.front()));
    runs_.pop_front();
  }
  return ended;
}

cl_command_buffer_state_khr CommandBuffer::state() const {
  std::vector<Ref<Event>> ended;
  const std::lock_guard lock(mutex_);
  if (!finalised_) return CL_COMMAND_BUFFER_STATE_RECORDING_KHR;
  ended = take_ended();
  return runs_.empty() ? CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR : CL_COMMAND_BUFFER_STATE_PENDING_KHR;
}

void CommandBuffer::require_recording() const {
  const std::lock_guard lock(mutex_);
  require(!finalised_, CL_INVALID_OPERATION, "the command buffer is finalised");
}

void CommandBuffer::require_sync_points(SyncPoints points) const {
  const std::lock_guard lock(mutex_);
  for (const cl_sync_point_khr point : points)
    require(point != 0 && point <= points_.size(), CL_INVALID_SYNC_POINT_WAIT_LIST_KHR, "sync point ", point,
            " does not exist; the command buffer has ", points_.size());
}

void CommandBuffer::require_room() const {
  require(!finalised_, CL_INVALID_OPERATION, "the command buffer is finalised");
  require(commands_ < protocol::DefineRecording::kMaxCommands && batch_->size() < kMaxBytes,
          CL_OUT_OF_RESOURCES, "the command buffer is full: ", commands_, " commands with ", batch_->size(),
          " bytes; allowed are ", protocol::DefineRecording::kMaxCommands, " commands and ", kMaxBytes,
          " bytes");
}

CommandBuffer::Commands CommandBuffer::all_of(SyncPoints waits) const {
  if (queue_->in_order()) return {};
  Commands all = barrier_;
  for (const cl_sync_point_khr point : waits) {
    const Commands& more = points_[point - 1];
    all.insert(all.end(), more.begin(), more.end());
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

protocol::CommandId CommandBuffer::add_command(const Commands& before) {
  const protocol::CommandId number = commands_++;
  if (queue_->in_order()) return number;
  Commands last;
  std::set_difference(last_.begin(), last_.end(), before.begin(), before.end(), std::back_inserter(last));
  last.push_back(number);
  last_ = std::move(last);
  return number;
}

cl_sync_point_khr CommandBuffer::add_point(Commands commands) {
  points_.push_back(std::move(commands));
  return static_cast<cl_sync_point_khr>(points_.size());
}

void CommandBuffer::use(std::span<const Access> accesses, std::span<const Ref<Memory>> memory) {
  for (const Ref<Memory>& object : memory)
    if (std::find(memory_.begin(), memory_.end(), object) == memory_.end()) memory_.push_back(object);
  for (const Access& access : accesses) {
    // An earlier access that covers this one has already brought the content that this one reads. If only
    // this one writes, the earlier access becomes one that reads and writes.
    const auto found = std::find_if(accesses_.begin(), accesses_.end(), [&](const Access& earlier) {
      if (!covers(earlier, access)) return false;
      return access.mode == Access::Read || earlier.mode != Access::Read || covers(access, earlier);
    });
    if (found == accesses_.end())
      accesses_.push_back(access);
    else if (found->mode == Access::Read && access.mode != Access::Read)
      found->mode = Access::ReadWrite;
  }
}

Kernel& CommandBuffer::own(Kernel& kernel) {
  const auto found = std::find_if(kernels_.begin(), kernels_.end(), [&](const Ref<Kernel>& known) {
    return known->program() == kernel.program() && &known->function() == &kernel.function();
  });
  return found != kernels_.end() ? **found : *kernels_.emplace_back(kernel.clone());
}

template <typename M>
cl_sync_point_khr CommandBuffer::add(Work<M> work, SyncPoints waits) {
  require_room();
  Commands before = all_of(waits);
  if (work.empty) return add_point(std::move(before));
  work.message.command.waits = before;
  batch_->add(work.message);
  use(work.accesses, work.memory);
  return add_point({add_command(before)});
}

template <typename M>
cl_sync_point_khr CommandBuffer::record(Work<M> work, SyncPoints waits) {
  const std::lock_guard lock(mutex_);
  return add(std::move(work), waits);
}

template cl_sync_point_khr CommandBuffer::record(Work<protocol::CopyBuffer>, SyncPoints);
template cl_sync_point_khr CommandBuffer::record(Work<protocol::CopyBufferRect>, SyncPoints);
template cl_sync_point_khr CommandBuffer::record(Work<protocol::FillBuffer>, SyncPoints);
template cl_sync_point_khr CommandBuffer::record(Work<protocol::CopyImage>, SyncPoints);
template cl_sync_point_khr CommandBuffer::record(Work<protocol::CopyImageToBuffer>, SyncPoints);
template cl_sync_point_khr CommandBuffer::record(Work<protocol::CopyBufferToImage>, SyncPoints);
template cl_sync_point_khr CommandBuffer::record(Work<protocol::FillImage>, SyncPoints);

cl_sync_point_khr CommandBuffer::record(Kernel& kernel, const NdRange& range, SyncPoints waits) {
  Kernel::Captured captured = kernel.capture(*queue_->device(), range);
  const std::lock_guard lock(mutex_);
  captured.work.message.kernel = own(kernel).id();
  samplers_.insert(samplers_.end(), captured.samplers.begin(), captured.samplers.end());
  return add(std::move(captured.work), waits);
}

cl_sync_point_khr CommandBuffer::record_barrier(SyncPoints waits) {
  const std::lock_guard lock(mutex_);
  require_room();
  barrier_ = waits.empty() ? last_ : all_of(waits);
  return add_point(barrier_);
}

void CommandBuffer::finalise() {
  const std::lock_guard lock(mutex_);
  require(!finalised_, CL_INVALID_OPERATION, "the command buffer is already finalised");
  finalised_ = true;
}

Ref<Event> CommandBuffer::enqueue(Queue& queue, std::span<const Ref<Event>> waits) {
  std::vector<Ref<Event>> ended;
  const std::lock_guard lock(mutex_);
  require(finalised_, CL_INVALID_OPERATION, "the command buffer is not finalised");
  ended = take_ended();
  require(simultaneous_ || runs_.empty(), CL_INVALID_OPERATION,
          "the command buffer is pending, and was created without CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR");
  const CommandInfo command{CL_COMMAND_COMMAND_BUFFER_KHR, waits};
  Ref<Event> event;
  if (commands_ == 0) {
    event = queue.nothing(command, EventUse::Report);
  } else {
    if (!defined_) {
      for (const Ref<Kernel>& kernel : kernels_) kernel->ensure_on(queue.worker());
      for (const Ref<Sampler>& sampler : samplers_) sampler->ensure_on(queue.worker());
    }
    event = queue.submit({.command = command, .accesses = accesses_, .event = EventUse::Report},
                         [&](protocol::Batch& outbox, protocol::Command& header) {
                           if (!defined_) {
                             const auto* bytes =
                                 reinterpret_cast<const std::uint8_t*>(batch_->records().data());
                             outbox.add(protocol::DefineRecording{id_, {bytes, bytes + batch_->size()}});
                             batch_.reset();
                             defined_ = true;
                           }
                           outbox.add(protocol::RunRecording{std::move(header), id_});
                         });
  }
  runs_.push_back(event);
  return event;
}

}  // namespace clique::icd
