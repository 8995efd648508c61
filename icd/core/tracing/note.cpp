#include "icd/core/tracing/note.hpp"

#include <CL/cl_ext.h>

#include <algorithm>
#include <array>
#include <utility>

#include "icd/core/commands/queue.hpp"
#include "icd/core/objects/device.hpp"
#include "icd/core/objects/memory.hpp"
#include "icd/core/programs/kernel_function.hpp"
#include "icd/core/workers/worker.hpp"
#include "icd/include/CL/cl_ext_clique.h"
#include "icd/remote/link/link.hpp"
#include "icd/trace/names.hpp"
#include "protocol/limits.hpp"
#include "protocol/printable.hpp"

namespace clique::icd {

namespace {

/// The largest number of transfers with which the trace connects a command.
constexpr std::size_t kMostTransfers = 64;

struct CommandName {
  cl_command_type type;
  std::string_view name;
};
constexpr CommandName kCommandNames[] = {
    {CL_COMMAND_NDRANGE_KERNEL, "kernel"},
    {CL_COMMAND_TASK, "kernel"},
    {CL_COMMAND_READ_BUFFER, "read buffer"},
    {CL_COMMAND_WRITE_BUFFER, "write buffer"},
    {CL_COMMAND_COPY_BUFFER, "copy buffer"},
    {CL_COMMAND_READ_IMAGE, "read image"},
    {CL_COMMAND_WRITE_IMAGE, "write image"},
    {CL_COMMAND_COPY_IMAGE, "copy image"},
    {CL_COMMAND_COPY_IMAGE_TO_BUFFER, "copy image to buffer"},
    {CL_COMMAND_COPY_BUFFER_TO_IMAGE, "copy buffer to image"},
    {CL_COMMAND_MAP_BUFFER, "map buffer"},
    {CL_COMMAND_MAP_IMAGE, "map image"},
    {CL_COMMAND_UNMAP_MEM_OBJECT, "unmap"},
    {CL_COMMAND_MARKER, "marker"},
    {CL_COMMAND_READ_BUFFER_RECT, "read buffer rect"},
    {CL_COMMAND_WRITE_BUFFER_RECT, "write buffer rect"},
    {CL_COMMAND_COPY_BUFFER_RECT, "copy buffer rect"},
    {CL_COMMAND_BARRIER, "barrier"},
    {CL_COMMAND_MIGRATE_MEM_OBJECTS, "migrate memory objects"},
    {CL_COMMAND_FILL_BUFFER, "fill buffer"},
    {CL_COMMAND_FILL_IMAGE, "fill image"},
    {CL_COMMAND_SVM_FREE, "SVM free"},
    {CL_COMMAND_SVM_MEMCPY, "SVM memcpy"},
    {CL_COMMAND_SVM_MEMFILL, "SVM memfill"},
    {CL_COMMAND_SVM_MAP, "SVM map"},
    {CL_COMMAND_SVM_UNMAP, "SVM unmap"},
    {CL_COMMAND_SVM_MIGRATE_MEM, "SVM migrate"},
    {CL_COMMAND_MEMFILL_INTEL, "USM memfill"},
    {CL_COMMAND_MEMCPY_INTEL, "USM memcpy"},
    {CL_COMMAND_MIGRATEMEM_INTEL, "USM migrate"},
    {CL_COMMAND_MEMADVISE_INTEL, "USM advise"},
    {CL_COMMAND_COMMAND_BUFFER_KHR, "command buffer"},
    {CL_COMMAND_SEMAPHORE_WAIT_KHR, "wait for semaphores"},
    {CL_COMMAND_SEMAPHORE_SIGNAL_KHR, "signal semaphores"},
    {CL_COMMAND_READ_FILE_CLIQUE, "read file"},
    {CL_COMMAND_WRITE_FILE_CLIQUE, "write file"},
};

/// @returns null for a type that is not listed
const CommandName* find_name(cl_command_type type) {
  const auto* const found = std::find_if(std::begin(kCommandNames), std::end(kCommandNames),
                                         [type](const CommandName& entry) { return entry.type == type; });
  return found != std::end(kCommandNames) ? found : nullptr;
}

/// Where content is or goes.
struct Route {
  std::string from;
  std::string to;
  std::string_view way;
};

std::string place_text(const Worker* worker) {
  return worker != nullptr ? worker->label() : std::string(trace::kHostMemory);
}

std::string mebibytes(std::uint64_t bytes) {
  constexpr std::uint64_t kMebi = 1U << 20U;
  if (bytes % kMebi == 0) return std::to_string(bytes / kMebi) + " MiB";
  return std::to_string(bytes) + " bytes";
}

/// The slice of a transfer, without a name.
trace::Slice slice_of(std::string_view category, const Route& route, std::uint64_t bytes) {
  const std::string pair = route.from + " → " + route.to;
  return {.track = trace::shared_track("Transfers", pair + ", " + std::string(route.way)),
          .category = category,
          .name = mebibytes(bytes),
          .facts = {{trace::kBytes, bytes},
                    {trace::kFrom, route.from},
                    {trace::kTo, route.to},
                    {trace::kWay, route.way}}};
}

/// The slice of a transfer between host memory and a worker.
trace::Slice slice_of(const HostTransfer& moves, const Worker& worker) {
  Route route{std::string(trace::kHostMemory), worker.label(), moves.way};
  if (moves.to_host) std::swap(route.from, route.to);
  return slice_of(trace::kTransfer, route, moves.bytes);
}

/// A time that a node has reported. Nothing happens before it was posted, or after it was reported, whatever
/// the node says.
std::int64_t plausible(std::uint64_t time, std::int64_t posted, std::int64_t now) {
  return static_cast<std::int64_t>(
      std::clamp(time, static_cast<std::uint64_t>(posted), static_cast<std::uint64_t>(now)));
}

void connect_call(trace::Slice& slice, protocol::CommandId id) {
  slice.flows.push_back(id);
  trace::Call* const call = trace::Call::current();
  if (call == nullptr) return;
  call->connect(id);
  slice.facts.push_back({trace::kCall, std::string_view(call->name())});
}

std::string_view way_of(const Migration& migration) {
  const Link& link = migration.to.link();
  if (migration.from != nullptr)
    return &migration.from->node() == &migration.to.node() ? trace::kPeerLinkOnHost : trace::kPeerLink;
  const bool large = !migration.object.is_image() && migration.bytes() > link.largest_with_commands();
  return large ? large_way(link) : small_way(link);
}

/// The argument, for people; empty if there is none.
std::string argument_text(const Need& need) {
  if (need.kernel == nullptr || need.argument == KernelUse::kNoArgument) return {};
  std::string text = "argument " + std::to_string(need.argument);
  const auto& parameters = need.kernel->parameters;
  if (need.argument < parameters.size() && !parameters[need.argument].name.empty())
    text += " (" + parameters[need.argument].name + ")";
  return text;
}

std::string failed_text(cl_int status) {
  return "failed with " + std::to_string(status);
}

/// command_text(), never freed.
std::string_view traced_name(cl_command_type type) {
  const CommandName* const listed = find_name(type);
  return listed != nullptr ? listed->name : trace::kept(command_text(type));
}

std::string user_text(const Need& need) {
  return need.kernel != nullptr ? "kernel " + need.kernel->name
                                : "command \"" + command_text(need.command) + "\"";
}

}  // namespace

std::string_view large_way(const Link& link) {
  if (link.uses_streams()) return link.endpoint().ucx ? trace::kNetworkUcx : trace::kNetworkStream;
  return small_way(link);
}

std::string_view small_way(const Link& link) {
  return link.shares_memory() ? trace::kSharedMemory : trace::kNetworkZeroMq;
}

std::string command_text(cl_command_type type) {
  const CommandName* const listed = find_name(type);
  return listed != nullptr ? std::string(listed->name) : "command " + std::to_string(type);
}

std::string device_text(const Device& device) {
  return protocol::printable(device.worker().label() + ": " + device.text(CL_DEVICE_NAME));
}

std::string object_text(const Memory& object) {
  return (object.is_image() ? "image " : "buffer ") + std::to_string(object.id());
}

std::string reason_text(const Migration& migration, const Need& need) {
  std::string text = user_text(need) + " on " + migration.to.label();
  const std::string argument = argument_text(need);
  return text + (argument.empty() ? " uses it" : " uses it as " + argument);
}

void show(const Event& event, Note& note) {
  // Released at the end: others need them no longer.
  const std::vector<Ref<Event>> after = std::move(note.after);
  if (!trace::on()) return;
  const std::int64_t now = trace::now();
  const Event::Times& times = event.times();
  const auto within = [&](std::uint64_t time) { return plausible(time, note.posted, now); };
  const auto time = [&](std::size_t i, std::int64_t otherwise) {
    return times[i] != 0 ? within(times[i]) : otherwise;
  };
  if (event.status() < 0)
    for (trace::Slice* const slice : {&note.slice, &note.transfer})
      slice->facts.push_back({trace::kStatus, failed_text(event.status())});
  const std::int64_t end = time(3, now);
  if (event.is_internal()) {
    std::int64_t begin = note.posted;
    for (const Ref<Event>& before : after)
      if (before->ended()) begin = std::max(begin, within(before->times().back()));
    trace::record(note.slice, begin, note.to_host ? now : end);
    return;
  }
  const std::int64_t begin = time(2, note.posted);
  if (times[2] != 0)
    note.slice.facts.push_back(
        {trace::kQueued, static_cast<std::uint64_t>(std::max<std::int64_t>(0, begin - note.posted))});
  trace::record(note.slice, begin, end);
  trace::record(note.transfer, begin, note.to_host ? now : end);
}

TracedCommand::TracedCommand(const Submission& submission, Queue& queue, protocol::CommandId id,
                             std::span<const Ref<Event>> transfers)
    : queue_(&queue) {
  const KernelFunction* const kernel = submission.kernel.function;
  category_ = kernel != nullptr ? trace::kKernel : trace::kCommand;
  name_ = kernel != nullptr ? kernel->traced_name : traced_name(submission.command.type);
  trace::Call* const call = trace::Call::current();
  call_ = call != nullptr ? call->name() : nullptr;
  // That of the call, if there is one, saves reading the clock.
  posted_ = call != nullptr ? call->begin() : trace::now();
  if (call != nullptr) call->connect(id);
  for (const Ref<Event>& transfer : transfers.first(std::min(transfers.size(), kMostTransfers)))
    transfers_.push_back(transfer->id());
}

TracedCommand::~TracedCommand() = default;

TracedCommand::TracedCommand(TracedCommand&&) noexcept = default;

void TracedCommand::ended(protocol::CommandId id, cl_int status, const Event::Times& times) const {
  if (trace::on()) {
    const std::int64_t now = trace::now();
    const std::int64_t begin = times[2] != 0 ? plausible(times[2], posted_, now) : posted_;
    const std::int64_t end = times[3] != 0 ? plausible(times[3], posted_, now) : now;
    std::array<trace::Fact, 4> facts;
    std::size_t count = 0;
    facts[count++] = {trace::kDevice, queue_->traced_device()};
    if (call_ != nullptr) facts[count++] = {trace::kCall, std::string_view(call_)};
    if (times[2] != 0) facts[count++] = {trace::kQueued, static_cast<std::uint64_t>(begin - posted_)};
    if (status < 0) facts[count++] = {trace::kStatus, failed_text(status)};
    // Most wait for no transfers.
    std::vector<trace::Flow> all;
    std::span<const trace::Flow> flows(&id, 1);
    if (!transfers_.empty()) {
      all = transfers_;
      all.insert(all.begin(), id);
      flows = all;
    }
    trace::record(queue_->track().get(),
                  {category_, name_, flows, std::span<const trace::Fact>(facts).first(count), true}, begin,
                  end);
  }
  if (status < 0) queue_->failed_silently(status, id);
}

void note_command(const Submission& submission, std::span<const Ref<Event>> transfers, Event& event) {
  const Queue& queue = *event.queue();
  const KernelFunction* const kernel = submission.kernel.function;
  const trace::Call* const call = trace::Call::current();
  auto note = std::make_unique<Note>(
      Note{.slice = {.track = queue.track(),
                     .category = kernel != nullptr ? trace::kKernel : trace::kCommand,
                     .name = kernel != nullptr ? kernel->name : command_text(event.type()),
                     .facts = {{trace::kDevice, queue.traced_device()}}},
           // That of the call, if there is one, saves reading the clock.
           .posted = call != nullptr ? call->begin() : trace::now()});
  note->slice.facts.reserve(3);
  note->slice.flows.reserve(1 + std::min(transfers.size(), kMostTransfers));
  connect_call(note->slice, event.id());
  for (const Ref<Event>& transfer : transfers.first(std::min(transfers.size(), kMostTransfers)))
    note->slice.flows.push_back(transfer->id());
  if (submission.moves.bytes > 0) {
    note->to_host = submission.moves.to_host;
    note->transfer = slice_of(submission.moves, queue.worker());
    note->transfer.flows.push_back(event.id());
  }
  event.set_note(std::move(note));
}

void note_migration(const Migration& migration, const Need& need, std::span<const Ref<Event>> ready,
                    Event& event) {
  auto note = std::make_unique<Note>();
  for (const Ref<Event>& each : ready)
    if (each && each->worker() != nullptr) note->after.push_back(each);
  const Route route{place_text(migration.from), place_text(&migration.to), way_of(migration)};
  note->slice = slice_of(trace::kMigration, route, migration.bytes());
  note->slice.name += " of " + object_text(migration.object);
  auto& facts = note->slice.facts;
  facts.push_back({trace::kObject, migration.object.id()});
  facts.push_back({trace::kBegin, migration.begin});
  facts.push_back({trace::kEnd, migration.end});
  facts.push_back({trace::kUser, user_text(need)});
  if (const std::string argument = argument_text(need); !argument.empty())
    facts.push_back({trace::kArgument, argument});
  connect_call(note->slice, event.id());
  const trace::Call* const call = trace::Call::current();
  facts.push_back(
      {trace::kReason, "bytes " + std::to_string(migration.begin) + " to " + std::to_string(migration.end) +
                           " of " + object_text(migration.object) + " are on " + route.from + "; " +
                           reason_text(migration, need) +
                           (call != nullptr ? std::string(", enqueued by ") + call->name() : "")});
  event.set_note(std::move(note));
}

void note_read(const Memory& buffer, const Coherence::Part& part, Event& turn, Event& event) {
  const std::uint64_t bytes = part.end - part.begin;
  auto note = std::make_unique<Note>();
  note->slice = slice_of({bytes, true, large_way(part.holder->link())}, *part.holder);
  note->slice.name += " of " + object_text(buffer);
  note->after = {Ref<Event>(&turn)};
  note->to_host = true;
  connect_call(note->slice, event.id());
  event.set_note(std::move(note));
}

void note_write(const HostTransfer& moves, Event& event) {
  auto note = std::make_unique<Note>();
  note->slice = slice_of(moves, *event.worker());
  connect_call(note->slice, event.id());
  event.set_note(std::move(note));
}

void show(const Compilation& compilation, const Worker& worker, trace::Flow flow, std::int64_t begin,
          std::int64_t end) {
  trace::Slice slice{
      .track = trace::shared_track("Compilations", worker.label()),
      .category = trace::kCompilation,
      .name = std::string(compilation.kind) + " program " + std::to_string(compilation.program),
      .flows = {flow},
      .facts = {{trace::kNode, worker.label()},
                {trace::kProgram, compilation.program},
                {trace::kDevices, std::uint64_t{compilation.devices}}}};
  if (compilation.status != CL_SUCCESS)
    slice.facts.push_back({trace::kStatus, failed_text(compilation.status)});
  trace::record(slice, begin, end);
}

}  // namespace clique::icd
