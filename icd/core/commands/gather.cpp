#include "icd/core/commands/gather.hpp"

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "icd/core/coherence/coherence.hpp"
#include "icd/core/commands/queue.hpp"
#include "icd/core/objects/memory.hpp"
#include "icd/core/tracing/note.hpp"
#include "icd/core/transfers/host_segment.hpp"
#include "icd/core/workers/pending_commands.hpp"
#include "icd/core/workers/worker.hpp"
#include "icd/remote/link/link.hpp"
#include "icd/trace/trace.hpp"
#include "protocol/batch.hpp"
#include "protocol/messages.hpp"
#include "protocol/messages/transfers.hpp"

namespace clique::icd {

namespace {

/// A range that lies in more parts than this is read through the queue's own worker.
constexpr std::size_t kMostParts = 64;

/// Has the holder of a part send it to the host, once the event `turn` has ended. Under
/// Context::coherence_mutex(). @returns the event of the transfer.
Ref<Event> read_part(Queue& queue, Memory& buffer, const Coherence::Part& part, std::span<std::byte> to,
                     Event& turn, const std::shared_ptr<HostRange>& range) {
  Worker& from = *part.holder;
  const bool own = &from == &queue.worker();
  buffer.ensure_on(from);
  std::vector<Ref<Event>> waits = part.ready;
  if (own && buffer.sparse()) buffer.coherence().occupy(from, part.begin, part.end);
  if (own) buffer.coherence().before_read(from, part.begin, part.end, waits, {CL_COMMAND_READ_BUFFER});
  Ref<Event> transfer(new Event(queue.context(), from, CL_COMMAND_READ_BUFFER, {.late = true}));
  if (trace::on()) note_read(buffer, part, turn, *transfer);
  from.link().expect_pushes();
  from.expect_event(transfer);
  using protocol::Command;
  Command header{
      transfer->id(), queue.context()->transfer_queue(from), Command::kEvent | Command::kReport, {}};
  for (const Ref<Event>& wait : waits)
    if (wait && !wait->ended()) header.waits.push_back(wait->id());
  if (!turn.ended()) {
    if (!own) turn.announce(from);
    header.waits.push_back(turn.id());
  }
  const std::uint64_t offset = part.begin - buffer.coherence_begin();
  if (const auto place = HostSegment::find(to, from)) {
    from.link().expect_transfer(to.size());
    from.link().post(protocol::ReadToSegment{std::move(header), buffer.id(), offset, to.size(),
                                             place->segment, place->at});
    return transfer;
  }
  from.pending().expect_bulk(transfer->id(), {.fills = to, .range = range});
  from.link().post(protocol::Push{std::move(header), buffer.id(), offset, to.size(), protocol::kClientPeer,
                                  transfer->id()});
  return transfer;
}

}  // namespace

Ref<Event> gather(Queue& queue, Memory& buffer, std::size_t offset, std::span<std::byte> to,
                  const CommandInfo& command) {
  Context& context = *queue.context();
  if (!context.shares_content() || queue.profiling()) return {};
  Worker& worker = queue.worker();
  const std::uint64_t begin = buffer.coherence_begin() + offset;
  const auto parts = [&] { return buffer.coherence().parts(worker, begin, begin + to.size()); };
  {
    const std::lock_guard lock(context.coherence_mutex());
    const auto found = parts();
    if (found.size() > kMostParts || (found.size() == 1 && found.front().holder == &worker)) return {};
  }
  // In the queue this is two markers: the first ends when it is the command's turn, the second waits for the
  // transfers.
  const Ref<Event> turn =
      queue.submit_marker({.command = {CL_COMMAND_MARKER, command.waits}, .event = EventUse::Report});
  const auto range = std::make_shared<HostRange>();
  std::vector<Ref<Event>> transfers{turn};
  if (turn->status() >= 0) {
    try {
      const std::lock_guard lock(context.coherence_mutex());
      // Once more: the content may have moved since.
      for (const Coherence::Part& part : parts())
        transfers.push_back(read_part(queue, buffer, part,
                                      to.subspan(part.begin - begin, part.end - part.begin), *turn, range));
    } catch (...) {
      range->close();
      throw;
    }
  }
  Submission submission{.command = {command.type, transfers},
                        .event = EventUse::Report,
                        .traits = {.late = true},
                        .keep_ended_waits = true,
                        .fills = to,
                        .parts = transfers};
  Queue::Prepared prepared = queue.prepare(submission);
  if (!prepared.doomed) {
    context.set_late_events();
    if (buffer.outlives_commands()) prepared.event->keep(Ref<RefCounted>(&buffer));
    // If times are wanted, the command's begin with its turn.
    worker.pending().expect_bulk(prepared.header.id,
                                 {.turn = trace::on() ? turn : Ref<Event>(), .range = range});
    worker.link().post(protocol::Marker{prepared.header});
  }
  // Some of the transfers may still be under way.
  if (prepared.event->status() < 0) range->close();
  return std::move(prepared.event);
}

}  // namespace clique::icd
