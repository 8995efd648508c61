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
#include "icd/core/recordings/names.hpp"
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

/// Adds what a further command uses to what those before it use.
void use(std::vector<Access>& all, std::span<const Access> accesses) {
  for (const Access& access : accesses) {
    // An earlier access that covers this one has already brought the content that this one reads. If only
    // this one writes, the earlier access becomes one that reads and writes.
    const auto found = std::find_if(all.begin(), all.end(), [&](const Access& earlier) {
      if (!covers(earlier, access)) return false;
      return access.mode == Access::Read || earlier.mode != Access::Read || covers(access, earlier);
    });
    if (found == all.end())
      all.push_back(access);
    else if (found->mode == Access::Read && access.mode != Access::Read)
      found->mode = Access::ReadWrite;
  }
}

protocol::Bytes bytes_of(const protocol::Batch& batch) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(batch.records().data());
  return {bytes, bytes + batch.size()};
}

/// Adds a command's record with this wait list, which the record does not keep.
void add_record(protocol::Batch& batch, RecordedCommand& command, std::vector<protocol::CommandId> waits) {
  std::visit(
      [&](auto& message) {
        message.command.waits = std::move(waits);
        batch.add(message);
        message.command.waits.clear();
      },
      command.message);
}

}  // namespace

CommandBuffer::CommandBuffer(Queues queues, Traits traits)
    : queues_(std::move(queues)),
      traits_(std::move(traits)),
      sections_(queues_.size()),
      last_on_(queues_.size()) {}

CommandBuffer::~CommandBuffer() {
  for (std::size_t i = 0; i < parts_.size(); ++i)
    if (parts_[i].defined) queues_[sections_.all()[i].queue]->worker().release_object(parts_[i].id);
}

void CommandBuffer::abandoned() {
  const std::lock_guard lock(mutex_);
  for (const RecordedCommand& command : commands_)
    if (command.handle) command.handle->release();
}

cl_command_buffer_state_khr CommandBuffer::state() const {
  const std::lock_guard lock(mutex_);
  if (!finalised_) return CL_COMMAND_BUFFER_STATE_RECORDING_KHR;
  return incomplete_ == 0 ? CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR : kStateFinalized;
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

void CommandBuffer::require_room(std::size_t bytes) const {
  require(!finalised_, CL_INVALID_OPERATION, "the command buffer is finalised");
  require(commands_.size() < protocol::DefineRecording::kMaxCommands && bytes_ + bytes <= kMaxBytes,
          CL_OUT_OF_RESOURCES, "the command buffer is full: ", commands_.size(), " commands with ", bytes_,
          " bytes; allowed are ", protocol::DefineRecording::kMaxCommands, " commands and ", kMaxBytes,
          " bytes");
}

std::size_t CommandBuffer::size_of(const RecordedCommand& command, std::size_t waits) {
  // A number of a command takes at most 5 bytes, their list as many again.
  protocol::Batch batch;
  std::visit([&](const auto& message) { batch.add(message); }, command.message);
  return batch.size() + 5 * (waits + 1);
}

CommandBuffer::Commands CommandBuffer::all_of(std::size_t queue, SyncPoints waits) const {
  Commands all = barrier_;
  for (const cl_sync_point_khr point : waits) {
    const Commands& more = points_[point - 1];
    all.insert(all.end(), more.begin(), more.end());
  }
  if (queues_[queue]->in_order() && last_on_[queue]) {
    // The last command follows all others of the queue.
    std::erase_if(all, [&](std::uint64_t command) { return queue_of_[command] == queue; });
    all.push_back(*last_on_[queue]);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

cl_sync_point_khr CommandBuffer::add_point(Commands commands) {
  points_.push_back(std::move(commands));
  return static_cast<cl_sync_point_khr>(points_.size());
}

std::size_t CommandBuffer::add_after(std::size_t queue, RecordedCommand command, Commands before) {
  const std::size_t bytes = size_of(command, before.size());
  require_room(bytes);
  const std::size_t number = commands_.size();
  const std::size_t section = sections_.add(queue, before);
  if (section == parts_.size()) parts_.emplace_back();
  bytes_ += bytes;
  if (!command.complete) ++incomplete_;
  if (command.handle) command.handle->place(this, number);
  commands_.push_back(std::move(command));
  queue_of_.push_back(queue);
  Commands last;
  std::set_difference(last_.begin(), last_.end(), before.begin(), before.end(), std::back_inserter(last));
  last.push_back(number);
  last_ = std::move(last);
  last_on_[queue] = number;
  before_.push_back(std::move(before));
  return number;
}

cl_sync_point_khr CommandBuffer::add(std::size_t queue, RecordedCommand command, SyncPoints waits) {
  return add_point({add_after(queue, std::move(command), all_of(queue, waits))});
}

template <typename M>
cl_sync_point_khr CommandBuffer::record(std::size_t queue, Work<M> work, SyncPoints waits) {
  const std::lock_guard lock(mutex_);
  require_room(0);
  if (work.empty) return add_point(all_of(queue, waits));
  require_not_sparse(work.accesses);
  RecordedCommand command;
  command.message = std::move(work.message);
  command.accesses = std::move(work.accesses);
  command.memory = std::move(work.memory);
  return add(queue, std::move(command), waits);
}

template cl_sync_point_khr CommandBuffer::record(std::size_t, Work<protocol::CopyBuffer>, SyncPoints);
template cl_sync_point_khr CommandBuffer::record(std::size_t, Work<protocol::CopyBufferRect>, SyncPoints);
template cl_sync_point_khr CommandBuffer::record(std::size_t, Work<protocol::FillBuffer>, SyncPoints);
template cl_sync_point_khr CommandBuffer::record(std::size_t, Work<protocol::CopyImage>, SyncPoints);
template cl_sync_point_khr CommandBuffer::record(std::size_t, Work<protocol::CopyImageToBuffer>, SyncPoints);
template cl_sync_point_khr CommandBuffer::record(std::size_t, Work<protocol::CopyBufferToImage>, SyncPoints);
template cl_sync_point_khr CommandBuffer::record(std::size_t, Work<protocol::FillImage>, SyncPoints);

Kernel& CommandBuffer::own(Kernel& kernel) {
  const auto found = std::find_if(kernels_.begin(), kernels_.end(), [&](const Ref<Kernel>& known) {
    return known->program() == kernel.program() && &known->function() == &kernel.function();
  });
  return found != kernels_.end() ? **found : *kernels_.emplace_back(kernel.clone());
}

RecordedCommand CommandBuffer::launch_of(const Queue& queue, Kernel& kernel, const NdRange& range) {
  RecordedCommand command;
  command.range = range;
  command.kernel = Ref<Kernel>(&own(kernel));
  command.complete = kernel.all_set();
  protocol::RunKernel message;
  if (command.complete) {
    Kernel::Captured captured = kernel.capture(*queue.device(), range);
    message = std::move(captured.work.message);
    command.accesses = std::move(captured.work.accesses);
    command.memory = std::move(captured.work.memory);
    command.samplers = std::move(captured.samplers);
  }
  message.kernel = command.kernel->id();
  command.message = std::move(message);
  return command;
}

cl_sync_point_khr CommandBuffer::record(std::size_t queue, Kernel& kernel, const NdRange& range,
                                        SyncPoints waits, bool may_lack_arguments,
                                        const Ref<MutableCommand>& handle) {
  if (!may_lack_arguments) kernel.require_args();
  const std::lock_guard lock(mutex_);
  require_room(0);
  RecordedCommand command = launch_of(*queues_[queue], kernel, range);
  // An empty launch that can be changed keeps its place among the commands.
  if (range.empty() && !handle) return add_point(all_of(queue, waits));
  command.handle = handle;
  const cl_sync_point_khr point = add(queue, std::move(command), waits);
  if (handle) handle->give_out();
  return point;
}

cl_sync_point_khr CommandBuffer::record_barrier(std::size_t queue, SyncPoints waits) {
  const std::lock_guard lock(mutex_);
  require_room(0);
  barrier_ = waits.empty() ? last_ : all_of(queue, waits);
  return add_point(barrier_);
}

void CommandBuffer::finalise() {
  const std::lock_guard lock(mutex_);
  require(!finalised_, CL_INVALID_OPERATION, "the command buffer is already finalised");
  finalised_ = true;
}

void CommandBuffer::update(std::vector<Update> updates) {
  // Replaced objects are released without the lock, since that may call back into the application.
  std::vector<RecordedCommand> commands;
  const std::lock_guard lock(mutex_);
  std::size_t bytes = bytes_;
  for (const Update& update : updates) {
    RecordedCommand& changed = commands.emplace_back(
        launch_of(*update.command->traits().queue, *update.launch.arguments, update.launch.range));
    changed.handle = update.command;
    bytes += size_of(changed, 0) - size_of(commands_[update.command->number()], 0);
  }
  require(bytes <= kMaxBytes, CL_OUT_OF_RESOURCES, "the commands have ", bytes, " bytes with this update; ",
          kMaxBytes, " are allowed");
  bytes_ = bytes;
  for (std::size_t i = 0; i < updates.size(); ++i) {
    const std::size_t number = updates[i].command->number();
    updates[i].launch = updates[i].command->replace(std::move(updates[i].launch));
    RecordedCommand& known = commands_[number];
    incomplete_ += commands[i].complete ? 0 : 1;
    incomplete_ -= known.complete ? 0 : 1;
    std::swap(known, commands[i]);
    Part& part = parts_[sections_.section_of(number)];
    part.accesses_known = false;
    if (part.defined && std::find(part.changed.begin(), part.changed.end(), number) == part.changed.end())
      part.changed.push_back(number);
  }
}

const std::vector<Access>& CommandBuffer::accesses_of(std::size_t section) {
  Part& part = parts_[section];
  if (!std::exchange(part.accesses_known, true)) {
    part.accesses.clear();
    for (const std::uint64_t number : sections_.all()[section].commands)
      use(part.accesses, commands_[number].accesses);
  }
  return part.accesses;
}

void CommandBuffer::prepare_on_worker(std::size_t section) {
  const Part& part = parts_[section];
  const auto& numbers = part.defined ? part.changed : sections_.all()[section].commands;
  Worker& worker = queues_[sections_.all()[section].queue]->worker();
  for (const std::uint64_t number : numbers) {
    if (const Ref<Kernel>& kernel = commands_[number].kernel) kernel->ensure_on(worker);
    for (const Ref<Sampler>& sampler : commands_[number].samplers) sampler->ensure_on(worker);
  }
}

void CommandBuffer::send_commands(std::size_t section, protocol::Batch& outbox) {
  Part& part = parts_[section];
  if (part.defined && part.changed.empty()) return;
  protocol::Batch records;
  if (!part.defined) {
    for (const std::uint64_t number : sections_.all()[section].commands)
      add_record(records, commands_[number], sections_.within_section(number, before_[number]));
    outbox.add(protocol::DefineRecording{part.id, bytes_of(records)});
    part.defined = true;
    return;
  }
  protocol::UpdateRecording update{part.id, {}, {}};
  for (const std::uint64_t number : part.changed) {
    add_record(records, commands_[number], {});
    update.numbers.push_back(sections_.number_in_section(number));
  }
  update.commands = bytes_of(records);
  outbox.add(update);
  part.changed.clear();
}

Ref<Event> CommandBuffer::run(std::size_t section, Queue& queue, const CommandInfo& command) {
  prepare_on_worker(section);
  return queue.submit({.command = command, .accesses = accesses_of(section), .event = EventUse::Report},
                      [&](protocol::Batch& outbox, protocol::Command& header) {
                        send_commands(section, outbox);
                        outbox.add(protocol::RunRecording{std::move(header), parts_[section].id});
                      });
}

Ref<Event> CommandBuffer::enqueue(const Queues& queues, std::span<const Ref<Event>> waits) {
  const std::lock_guard lock(mutex_);
  require(finalised_, CL_INVALID_OPERATION, "the command buffer is not finalised");
  require(incomplete_ == 0, CL_INVALID_OPERATION, incomplete_,
          " commands of the command buffer lack arguments");
  const CommandInfo command{CL_COMMAND_COMMAND_BUFFER_KHR, waits};
  const auto& sections = sections_.all();
  if (sections.empty() && queues.size() == 1) return queues.front()->nothing(command, EventUse::Report);
  if (sections.size() == 1 && queues.size() == 1) return run(0, *queues.front(), command);

  std::vector<Ref<Event>> ends;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    std::vector<Ref<Event>> followed;
    for (const std::size_t earlier : sections[i].after) followed.push_back(ends[earlier]);
    // The wait list of the call holds back the sections that follow no others, and these the rest.
    const CommandInfo part{command.type, followed.empty() ? waits : followed};
    ends.push_back(run(i, *queues[sections[i].queue], part));
  }
  const Ref<Event> first = ends.empty() ? queues.front()->nothing(command, EventUse::Report) : ends.front();
  if (ends.empty()) ends.push_back(first);
  Ref<Event> whole = queues.front()->join(first, std::move(ends), command.type);
  whole->set_several_queues(
      std::all_of(queues.begin(), queues.end(), [](const Ref<Queue>& queue) { return queue->profiling(); }));
  return whole;
}

Ref<CommandBuffer> CommandBuffer::remapped(
    Queues queues, std::span<const std::size_t> to,
    const std::function<void(const RecordedCommand&, const Queue&)>& check,
    std::vector<Ref<MutableCommand>>& handles) {
  Ref<CommandBuffer> copy(new CommandBuffer(std::move(queues), traits_));
  const std::lock_guard lock(mutex_);
  const std::lock_guard copy_lock(copy->mutex_);
  for (std::size_t number = 0; number < commands_.size(); ++number) {
    const RecordedCommand& known = commands_[number];
    const std::size_t queue = to[queue_of_[number]];
    const Ref<Queue>& target = copy->queues_[queue];
    check(known, *target);
    RecordedCommand command = known;
    if (known.kernel) {
      command.kernel = Ref<Kernel>(&copy->own(*known.kernel));
      std::get<protocol::RunKernel>(command.message).kernel = command.kernel->id();
    }
    if (known.handle) {
      MutableCommand::Traits traits = known.handle->traits();
      traits.queue = target;
      command.handle = Ref<MutableCommand>(new MutableCommand(std::move(traits), known.handle->launch()));
    }
    copy->add_after(queue, std::move(command), before_[number]);
  }
  for (Ref<MutableCommand>& handle : handles) handle = copy->commands_[handle->number()].handle;
  for (const RecordedCommand& command : copy->commands_)
    if (command.handle) command.handle->give_out();
  copy->points_ = points_;
  copy->barrier_ = barrier_;
  copy->finalised_ = finalised_;
  return copy;
}

}  // namespace clique::icd
