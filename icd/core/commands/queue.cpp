#include "icd/core/commands/queue.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "icd/core/coherence/coherence.hpp"
#include "icd/core/commands/sparse_transfers.hpp"
#include "icd/core/commands/work.hpp"
#include "icd/core/division/launch_gate.hpp"
#include "icd/core/objects/early_writes.hpp"
#include "icd/core/objects/memory.hpp"
#include "icd/core/tracing/note.hpp"
#include "icd/core/transfers/early_read.hpp"
#include "icd/core/workers/pending_commands.hpp"
#include "icd/core/workers/worker.hpp"
#include "icd/remote/link/link.hpp"
#include "icd/remote/nodes/nodes.hpp"
#include "protocol/batch.hpp"
#include "protocol/messages.hpp"

namespace clique::icd {

namespace {

/// Posts a message that is nothing but a command's header.
template <typename Message>
constexpr auto kPostHeader =
    [](protocol::Batch& outbox, protocol::Command& header) { outbox.add(Message{std::move(header)}); };

bool ended(const Ref<Event>& event) {
  return event->ended();
}

/// The status of a command that waits for one that has failed.
cl_int failure_of_waits(const Submission& submission) {
  for (const Ref<Event>& part : submission.parts)
    if (part->status() < 0) return part->status();
  return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
}

/// A sink that passes data on once other reads have ended, whose data may arrive later through other
/// connections. The event of the sink's own read has to follow theirs.
DataSink after(std::vector<Ref<Event>> reads, DataSink sink) {
  return [reads = std::move(reads), sink = std::move(sink)](std::uint32_t part,
                                                            std::span<const std::byte> data) {
    if (std::all_of(reads.begin(), reads.end(), ended)) {
      sink(part, data);
      return;
    }
    struct Later {
      DataSink sink;
      std::uint32_t part;
      std::vector<std::byte> data;
      std::atomic<std::size_t> left;
    };
    const std::shared_ptr<Later> later(new Later{sink, part, {data.begin(), data.end()}, reads.size()});
    for (const Ref<Event>& read : reads)
      read->then([later](cl_int /*status*/) {
        if (--later->left == 0) later->sink(later->part, later->data);
      });
  };
}

/// The first byte of an access in the map of its content.
std::uint64_t begin_of(const Access& access) {
  return access.memory->coherence_begin() + access.begin;
}

// The parts of commands that members execute on their own.

/// The members by the bytes that the command overwrites, and the first of these.
std::pair<std::vector<Coherence::Placed>, std::uint64_t> placed_work(Queue& queue,
                                                                     const Work<protocol::CopyBuffer>& work) {
  const protocol::CopyBuffer& message = work.message;
  return {placed_writes(queue, *work.accesses[1].memory, message.destination_offset, message.size),
          message.destination_offset};
}
std::pair<std::vector<Coherence::Placed>, std::uint64_t> placed_work(Queue& queue,
                                                                     const Work<protocol::FillBuffer>& work) {
  return {placed_writes(queue, *work.accesses[0].memory, work.message.offset, work.message.size),
          work.message.offset};
}
template <typename M>
std::pair<std::vector<Coherence::Placed>, std::uint64_t> placed_work(Queue& /*queue*/,
                                                                     const Work<M>& /*work*/) {
  return {};
}

/// Leaves `size` bytes of the command, from byte `at` on.
void narrow(Work<protocol::CopyBuffer>& work, std::uint64_t at, std::uint64_t size) {
  work.message.source_offset += at;
  work.message.destination_offset += at;
  work.message.size = size;
  for (Access& access : work.accesses) {
    access.begin += at;
    access.size = size;
  }
}
void narrow(Work<protocol::FillBuffer>& work, std::uint64_t at, std::uint64_t size) {
  work.message.offset += at;
  work.message.size = size;
  work.accesses[0].begin += at;
  work.accesses[0].size = size;
}
template <typename M>
void narrow(Work<M>& /*work*/, std::uint64_t /*at*/, std::uint64_t /*size*/) {}

}  // namespace

Queue::Queue(Ref<Context> context, Ref<Device> device, cl_command_queue_properties properties,
             std::vector<cl_queue_properties> property_list, bool timed)
    : context_(std::move(context)),
      device_(std::move(device)),
      properties_(properties),
      property_list_(std::move(property_list)),
      order_(in_order()) {
  if (trace::on()) {
    const std::string device = device_text(*device_);
    traced_device_ = trace::kept(device);
    track_ = trace::make_track("Device " + device, "queue " + std::to_string(id_));
  }
  // The application sees properties_; a trace needs times of all queues, and a combined device those of
  // launches.
  // Where somebody other than the trace sees the times, they are exact.
  const bool all = (properties_ & CL_QUEUE_PROFILING_ENABLE) != 0;
  const bool exact = all || timed || device_->is_combined();
  const bool traced = trace::on() && !exact;
  const cl_command_queue_properties measured = exact || traced ? CL_QUEUE_PROFILING_ENABLE : 0;
  times_some_ = device_->is_combined() && !all && !trace::on();
  link().post(protocol::CreateQueue{id_, context_->id(), device_->id(), properties_ | measured, traced});
  if (const auto ahead = context_->early_writes().add_queue(worker()))
    link().post(protocol::Barrier{{next_id(), id_, 0, {*ahead}}});
  context_->add_queue(this);
}

Queue::~Queue() {
  context_->remove_queue(this);
  context_->early_writes().remove_queue(worker());
  worker().release_object(id_);
}

Link& Queue::link() const {
  return worker().link();
}

Queue::Prepared Queue::prepare(Submission& submission) {
  Prepared prepared = begin(submission);
  if (prepared.doomed) {
    if (prepared.event) prepared.event->advance(failure_of_waits(submission));
    return prepared;
  }
  prepared.transfers = bring_content(submission, prepared);
  const std::vector<Ref<Event>>& transfers = prepared.transfers;
  if (trace::on()) note(submission, prepared, transfers);
  std::vector<Ref<Event>> followed = wait_for(submission, transfers, prepared.header);

  std::vector<Ref<Event>> gates;
  if (context_->has_user_events()) gates = order_.gates_of(submission.command.waits, submission.place);
  order_.add_gates(gates, submission.place);
  if (!submission.fills.empty()) order_data(submission, gates, followed);
  if (prepared.event) prepared.event->order().set_gates(std::move(gates));

  const bool reported = submission.event == EventUse::Report;
  // If a transfer fails, so does the command. The transfer's status says why: the command's event gets it or,
  // if the worker does not report that event, the next finish().
  if (submission.turn)
    prepared.event->order().set_launch_parts(submission.turn,
                                             {submission.parts.begin(), submission.parts.end()});
  else if (!submission.parts.empty())
    prepared.event->order().set_parts({submission.parts.begin(), submission.parts.end()});
  else if (reported && !transfers.empty())
    prepared.event->order().set_parts(transfers);
  else
    for (const Ref<Event>& transfer : transfers)
      transfer->then([queue = Ref<Queue>(this), command = prepared.header.id](cl_int status) {
        queue->keep_failure(status, command);
      });
  if (context_->workers().size() > 1 || context_->has_late_events())
    followed = order_.follow(std::move(followed), reported ? prepared.event : Ref<Event>(), submission.place);
  if (reported) {
    if (in_order() && (!submission.fills.empty() || submission.sink)) prepared.event->set_follows_failures();
    if (!followed.empty()) prepared.event->order().follow(std::move(followed));
    expect_reports(submission, prepared.event);
  }
  return prepared;
}

Queue::Prepared Queue::begin(Submission& submission) {
  if (link().lost())
    throw Error(CL_OUT_OF_RESOURCES, "the connection to node ", worker().node().name(),
                " of the queue's device is lost");
  Prepared prepared;
  if (device_->is_combined()) {
    prepared.together = keep_together();
    ++commands_;
  }
  for (const Ref<Event>& wait : submission.command.waits) {
    prepared.doomed = prepared.doomed || wait->status() < 0;
    prepared.may_fail = prepared.may_fail || !wait->ended();
  }
  const auto& accesses = submission.accesses;
  // If other workers may use what it writes, they have to know whether it has failed.
  prepared.shared_write =
      context_->workers().size() > 1 &&
      std::any_of(accesses.begin(), accesses.end(), [](const Access& a) { return a.mode != Access::Read; });
  prepared.keeps_memory = std::any_of(accesses.begin(), accesses.end(),
                                      [](const Access& a) { return a.memory->outlives_commands(); });
  if (prepared.keeps_memory || (prepared.shared_write && prepared.may_fail))
    submission.event = EventUse::Report;
  bool unhurried = false;
  if (trace::on() && !prepared.doomed) {
    unhurried = submission.event != EventUse::Report;
    // Others need no event to be traced.
    if (submission.event == EventUse::Order || submission.moves.bytes > 0)
      submission.event = EventUse::Report;
  }

  using protocol::Command;
  prepared.header.queue = id_;
  if (submission.event == EventUse::None)
    prepared.header.id = next_id();
  else
    give_event(submission, prepared);
  if (unhurried) prepared.header.flags |= Command::kReport | Command::kUnhurried;
  if (times_some_ && !submission.command.timed) prepared.header.flags |= Command::kUntimed;
  return prepared;
}

void Queue::give_event(const Submission& submission, Prepared& prepared) {
  using protocol::Command;
  prepared.event = Ref<Event>(new Event(Ref<Queue>(this), submission.command.type, submission.traits));
  prepared.header.id = prepared.event->id();
  prepared.header.flags |= Command::kEvent;
  if (submission.event == EventUse::Report) prepared.header.flags |= Command::kReport;
  // As long as launches run whole, other members rarely need what they write.
  if (device_->is_combined() && submission.event == EventUse::Order)
    prepared.header.flags |= Command::kUnhurried;
}

void Queue::note(const Submission& submission, const Prepared& prepared,
                 std::span<const Ref<Event>> transfers) {
  if (prepared.event) {
    note_command(submission, transfers, *prepared.event);
    return;
  }
  const protocol::CommandId id = prepared.header.id;
  const auto lost = worker().pending().add(id, TracedCommand(submission, *this, id, transfers));
  if (lost) lost->ended(id, CL_DEVICE_NOT_AVAILABLE, {});
}

std::vector<Ref<Event>> Queue::bring_content(Submission& submission, Prepared& prepared) {
  std::vector<Ref<Event>> transfers;
  if (submission.accesses.empty()) return transfers;
  Worker& here = worker();
  prepared.coherence = std::unique_lock(context_->coherence_mutex());
  context_->use_content(here);
  // Other workers wait for what it writes.
  if (!prepared.event && prepared.shared_write && context_->shares_content()) {
    submission.event = trace::on() ? EventUse::Report : EventUse::Order;
    give_event(submission, prepared);
  }
  Need need{submission.command.type, submission.kernel.function};
  if (context_->has_sparse_memory()) make_room(submission.accesses);
  for (std::size_t i = 0; i < submission.accesses.size(); ++i) {
    const Access& access = submission.accesses[i];
    if (i < submission.kernel.arguments.size()) need.argument = submission.kernel.arguments[i];
    access.memory->ensure_on(here);
    if (prepared.keeps_memory) prepared.event->keep(Ref<RefCounted>(access.memory));
    if (access.memory->in_place()) continue;
    const std::uint64_t begin = begin_of(access);
    Coherence& coherence = access.memory->coherence();
    if (access.mode == Access::Overwrite) {
      coherence.before_overwrite(here, begin, begin + access.size, transfers);
    } else {
      // What moves for launches is a part of their time.
      if (device_->is_combined() && need.kernel == nullptr)
        if (const std::uint64_t bytes = coherence.elsewhere(here, begin, begin + access.size); bytes != 0)
          LaunchGate::charge(coherence.writers(), bytes);
      coherence.before_read(here, begin, begin + access.size, transfers, need);
    }
    if (submission.is_followed_part && access.mode != Access::Read)
      coherence.before_write_of_part(here, begin, begin + access.size, transfers);
  }
  return transfers;
}

void Queue::make_room(std::span<const Access> accesses) {
  Worker& here = worker();
  std::uint64_t lacking = 0;
  for (const Access& access : accesses)
    if (access.memory->sparse())
      lacking += access.memory->coherence().lacking(here, begin_of(access), begin_of(access) + access.size);
  if (lacking == 0) return;
  context_->make_room(here, lacking);
  for (const Access& access : accesses)
    if (access.memory->sparse())
      access.memory->coherence().occupy(here, begin_of(access), begin_of(access) + access.size);
}

std::vector<Ref<Event>> Queue::wait_for(const Submission& submission, std::span<const Ref<Event>> transfers,
                                        protocol::Command& header) {
  Worker& here = worker();
  std::vector<Ref<Event>> followed;
  const auto add = [&](const Ref<Event>& event) {
    if (event->ended() && !submission.keep_ended_waits) return;
    const bool elsewhere = event->worker() != &here;
    if (elsewhere) event->announce(here);
    header.waits.push_back(event->id());
    // Even an event of this worker may end here after this command is reported, if it follows others.
    const bool may_end_later =
        elsewhere ? !event->is_user() : event->order().late() || event->order().follows_pending();
    if (may_end_later && !event->ended()) followed.push_back(event);
  };
  std::for_each(submission.command.waits.begin(), submission.command.waits.end(), add);
  std::for_each(transfers.begin(), transfers.end(), add);
  return followed;
}

void Queue::order_data(Submission& submission, const std::vector<Ref<Event>>& gates,
                       std::vector<Ref<Event>>& followed) {
  auto earlier = may_precede(earlier_reads(submission.fills, submission.traits), gates);
  if (earlier.empty()) return;
  context_->set_late_events();
  followed.insert(followed.end(), earlier.begin(), earlier.end());
  if (submission.sink) submission.sink = after(std::move(earlier), std::move(submission.sink));
}

void Queue::expect_reports(Submission& submission, const Ref<Event>& event) {
  worker().expect_event(event);
  if (!submission.fills.empty()) context_->host_reads().add(submission.fills, event);
  if (submission.sink) worker().pending().expect_data(event->id(), std::move(submission.sink));
}

void Queue::commit(const Submission& submission, const Prepared& prepared) {
  for (const Access& access : submission.accesses) {
    if (access.memory->in_place()) continue;
    if (submission.is_followed_part) access.memory->coherence().used_by_part(prepared.event);
    if (access.mode == Access::Read) continue;
    const std::uint64_t begin = begin_of(access);
    access.memory->coherence().written(worker(), begin, begin + access.size, prepared.event,
                                       prepared.may_fail);
  }
}

Ref<Event> Queue::submit(Submission submission,
                         FunctionRef<void(protocol::Batch&, protocol::Command&)> post) {
  Prepared prepared = prepare(submission);
  if (!prepared.doomed) {
    link().compose([&](protocol::Batch& outbox) { post(outbox, prepared.header); });
    commit(submission, prepared);
  }
  return std::move(prepared.event);
}

Ref<Event> Queue::submit_parts(Submission submission, FunctionRef<void(const protocol::Command&)> post) {
  Prepared prepared = prepare(submission);
  if (!prepared.doomed) {
    post(prepared.header);
    commit(submission, prepared);
  }
  return std::move(prepared.event);
}

Ref<Event> Queue::submit_marker(Submission submission) {
  return submit(std::move(submission), kPostHeader<protocol::Marker>);
}

void Queue::flush() {
  context_->flush();
}

void Queue::wait_for_commands() {
  const trace::Wait waiting(
      [this] { return "queue " + std::to_string(id_) + " on " + worker().label() + " to finish"; });
  context_->flush();
  const auto finished = link().request<protocol::Finished>(protocol::Finish{0, id_});
  // Drivers may report a command after the end of the marker that follows it.
  const auto mine = [this](const Event& event) { return event.queue().get() == this; };
  for (const Ref<Event>& event : worker().pending().events(mine)) event->wait();
  for (const Ref<Event>& event : order_.take_followed()) event->wait();
  cl_int told = CL_SUCCESS;
  {
    const std::lock_guard lock(failures_mutex_);
    told = std::exchange(told_failure_, CL_SUCCESS);
  }
  if (finished.status < 0 && finished.status != told) failed_silently(finished.status, 0);
}

void Queue::finish() {
  wait_for_commands();
  cl_int failure = CL_SUCCESS;
  {
    const std::lock_guard lock(failures_mutex_);
    failure = std::exchange(silent_failure_, CL_SUCCESS);
  }
  if (failure < 0) throw Error(failure, "a command that has no event failed");
}

void Queue::failed_silently(cl_int status, protocol::CommandId command) {
  if (keep_failure(status, command))
    context_->notify("node " + worker().node().name() + ": a command without an event has failed");
}

bool Queue::keep_failure(cl_int status, protocol::CommandId command) {
  // Such failures are those of other commands, or of the node, which are told otherwise.
  if (status >= 0 || status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST || link().lost()) return false;
  const std::lock_guard lock(failures_mutex_);
  if (silent_failure_ == CL_SUCCESS) {
    silent_failure_ = status;
    silently_failed_ = command;
  }
  return true;
}

cl_int Queue::take_silent_failure_before(protocol::CommandId command) {
  const std::lock_guard lock(failures_mutex_);
  if (silent_failure_ == CL_SUCCESS || silently_failed_ >= command) return CL_SUCCESS;
  told_failure_ = silent_failure_;
  return std::exchange(silent_failure_, CL_SUCCESS);
}

template <typename M>
Ref<Event> Queue::enqueue(Work<M> work, std::span<const Ref<Event>> waits, EventUse event) {
  const CommandInfo command{work.type, waits};
  if (work.empty) return nothing(command, event);
  if (context_->has_sparse_memory())
    if (const auto [placed, begin] = placed_work(*this, work); !placed.empty())
      return enqueue_placed(
          *this, placed, command,
          [&work, begin = begin](Queue& on, const Coherence::Placed& part, const CommandInfo& own) {
            Work<M> there = work;
            narrow(there, part.begin - begin, part.end - part.begin);
            return on.enqueue(std::move(there), own.waits, EventUse::Report);
          });
  return submit({.command = command, .accesses = work.accesses, .event = event},
                [&](protocol::Batch& outbox, protocol::Command& header) {
                  work.message.command = std::move(header);
                  outbox.add(work.message);
                });
}

template Ref<Event> Queue::enqueue(Work<protocol::CopyBuffer>, std::span<const Ref<Event>>, EventUse);
template Ref<Event> Queue::enqueue(Work<protocol::CopyBufferRect>, std::span<const Ref<Event>>, EventUse);
template Ref<Event> Queue::enqueue(Work<protocol::FillBuffer>, std::span<const Ref<Event>>, EventUse);
template Ref<Event> Queue::enqueue(Work<protocol::CopyImage>, std::span<const Ref<Event>>, EventUse);
template Ref<Event> Queue::enqueue(Work<protocol::CopyImageToBuffer>, std::span<const Ref<Event>>, EventUse);
template Ref<Event> Queue::enqueue(Work<protocol::CopyBufferToImage>, std::span<const Ref<Event>>, EventUse);
template Ref<Event> Queue::enqueue(Work<protocol::FillImage>, std::span<const Ref<Event>>, EventUse);

Ref<Event> Queue::submit_between(Submission submission,
                                 FunctionRef<void(protocol::Batch&, protocol::Command&)> post) {
  if (!device_->is_combined() || !submission.command.waits.empty())
    return submit(std::move(submission), post);
  const auto together = keep_together();
  const bool after_launch = last_launch_ != 0 && last_launch_ == commands_;
  Ref<Event> event = submit(std::move(submission), post);
  if (after_launch) last_launch_ = commands_;
  return event;
}

Ref<Event> Queue::marker(std::span<const Ref<Event>> waits, EventUse event) {
  return submit_between({.command = {CL_COMMAND_MARKER, waits},
                         .event = event,
                         .place = {.after_all = waits.empty()},
                         .keep_ended_waits = true},
                        kPostHeader<protocol::Marker>);
}

Ref<Event> Queue::barrier(std::span<const Ref<Event>> waits, EventUse event) {
  return submit_between({.command = {CL_COMMAND_BARRIER, waits},
                         .event = event,
                         .place = {.after_all = waits.empty(), .before_all = true},
                         .keep_ended_waits = true},
                        kPostHeader<protocol::Barrier>);
}

Ref<Event> Queue::nothing(const CommandInfo& command, EventUse event, std::span<const Access> accesses) {
  Submission submission{.command = command, .accesses = accesses, .event = event, .keep_ended_waits = true};
  // In an out-of-order queue, a marker with an empty wait list would wait for all commands before it.
  Ref<Event> complete;
  if (command.waits.empty() && !in_order()) {
    complete = Ref<Event>(new Event(context_));
    complete->advance(CL_COMPLETE);
    submission.command.waits = {&complete, 1};
  }
  return submit_marker(std::move(submission));
}

Queue& Queue::member_queue(std::size_t member) {
  const std::lock_guard lock(members_mutex_);
  members_.resize(device_->members().size());
  Ref<Queue>& queue = members_.at(member);
  if (!queue)
    queue = Ref<Queue>(new Queue(context_, device_->members()[member], properties_, {}, /*timed=*/true));
  return *queue;
}

bool Queue::follows_launch(std::span<const Ref<Event>> waits) const {
  return in_order() && last_launch_ != 0 && last_launch_ == commands_ &&
         std::all_of(waits.begin(), waits.end(),
                     [](const Ref<Event>& wait) { return wait->status() == CL_COMPLETE; });
}

Ref<Event> Queue::join(const Ref<Event>& turn, std::vector<Ref<Event>> parts, cl_command_type type) {
  Submission submission{.command = {type, parts, /*timed=*/true},
                        .event = EventUse::Report,
                        .keep_ended_waits = true,
                        .parts = parts,
                        .turn = turn};
  Prepared prepared = prepare(submission);
  if (prepared.doomed) return std::move(prepared.event);
  link().compose([&](protocol::Batch& outbox) { outbox.add(protocol::Marker{std::move(prepared.header)}); });
  return std::move(prepared.event);
}

Ref<Event> Queue::call(std::function<void()> action, const CommandInfo& command) {
  const Ref<Event> turn = nothing({CL_COMMAND_MARKER, command.waits}, EventUse::Report);
  const Ref<Event> done(new Event(context_));
  const std::array both{turn, done};
  Ref<Event> result = nothing({command.type, both}, EventUse::Report);
  turn->then([done, context = context_, action = std::move(action)](cl_int status) {
    if (status >= 0) action();
    done->settle(status < 0 ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_COMPLETE);
    context->flush();
  });
  return result;
}

std::shared_ptr<EarlyRead> Queue::early_read(std::size_t size, std::span<const Ref<Event>> waits) {
  if (!EarlyRead::fits(size) || (EarlyRead::only_from_gpus(size) && !device()->is_gpu())) return nullptr;
  if (!link().shares_memory() || !worker().pending().only_outrun()) return nullptr;
  if (!std::all_of(waits.begin(), waits.end(), ended) || !order_.all_followed_ended()) return nullptr;
  return EarlyRead::make(link(), size);
}

std::unique_lock<std::mutex> Queue::begin_early_write() {
  return in_order() ? context_->early_writes().only_queue(worker()) : std::unique_lock<std::mutex>();
}

void Queue::end_early_write(Event& write) {
  context_->early_writes().add(worker(), write);
}

std::vector<Ref<Event>> Queue::earlier_reads(std::span<const std::byte> memory, EventTraits traits) const {
  auto reads = context_->host_reads().pending(memory);
  if (in_order())
    std::erase_if(reads, [this, traits](const Ref<Event>& read) {
      const EventOrder& order = read->order();
      return read->queue().get() == this && !order.late() && (!traits.direct || order.direct());
    });
  return reads;
}

std::vector<Ref<Event>> Queue::reads_before_write(std::span<const std::byte> memory,
                                                  std::span<const Ref<Event>> waits) {
  auto reads = context_->host_reads().pending(memory);
  if (reads.empty() || !context_->has_user_events()) return reads;
  return may_precede(std::move(reads), order_.gates_of(waits, {}));
}

}  // namespace clique::icd
