#include "icd/core/commands/file_transfers.hpp"

#include <array>
#include <utility>

#include "icd/common/function_ref.hpp"
#include "icd/core/commands/queue.hpp"
#include "icd/core/objects/file.hpp"
#include "icd/core/objects/memory.hpp"
#include "icd/core/workers/worker.hpp"
#include "icd/remote/link/link.hpp"
#include "protocol/batch.hpp"
#include "protocol/messages.hpp"

namespace clique::icd {

namespace {

using protocol::Command;

/// Enqueues a transfer between two markers. The first ends when it is the command's turn, and the second when
/// the transfer has ended.
/// @param post posts the transfer, which waits for the first marker. @returns its event
Ref<Event> between_markers(Queue& queue, const Access& access, const CommandInfo& command,
                           FunctionRef<Ref<Event>(Event& turn)> post) {
  const Ref<Event> turn = queue.nothing({CL_COMMAND_MARKER, command.waits}, EventUse::Report, {&access, 1});
  // It fails as any command does that waits for one that has failed.
  if (turn->status() < 0) return queue.nothing({command.type, {&turn, 1}}, EventUse::Report);
  const Ref<Event> transfer = post(*turn);
  // Both, since the command's event may only end after its turn has ended.
  const std::array both{turn, transfer};
  Submission submission{.command = {command.type, both},
                        .accesses = {&access, 1},
                        .event = EventUse::Report,
                        .keep_ended_waits = true,
                        .parts = {&transfer, 1},
                        .turn = turn};
  Queue::Prepared prepared = queue.prepare(submission);
  if (prepared.doomed) return std::move(prepared.event);
  queue.link().post(protocol::Marker{prepared.header});
  queue.commit(submission, prepared);
  return std::move(prepared.event);
}

/// The event of a transfer that `worker` reports.
Ref<Event> expected(const Queue& queue, Worker& worker, cl_command_type type) {
  Ref<Event> event(new Event(queue.context(), worker, type));
  worker.expect_event(event);
  return event;
}

}  // namespace

Ref<Event> read_file(Queue& queue, File& file, std::uint64_t from, Memory& buffer, std::size_t offset,
                     std::size_t size, const CommandInfo& command) {
  const Access access{&buffer, offset, size, Access::Overwrite};
  return between_markers(queue, access, command, [&](Event& turn) {
    Worker& worker = queue.worker();
    Worker& reader = file.serving(worker);
    file.ensure_on(reader);
    const bool elsewhere = &reader != &worker;
    if (elsewhere) {
      turn.announce(reader);
      reader.connect_peer(worker);
    }
    Ref<Event> transfer = expected(queue, worker, command.type);
    worker.link().post(protocol::Expect{{transfer->id(),
                                         queue.context()->transfer_queue(worker),
                                         Command::kEvent | Command::kReport,
                                         {turn.id()}},
                                        buffer.id(),
                                        offset,
                                        size});
    reader.link().post(protocol::ReadFile{{next_id(), 0, 0, {turn.id()}},
                                          file.id(),
                                          from,
                                          size,
                                          elsewhere ? worker.index() : protocol::kOwnPeer,
                                          transfer->id()});
    if (elsewhere) reader.expect_push(transfer);
    return transfer;
  });
}

Ref<Event> write_file(Queue& queue, File& file, std::uint64_t to, Memory& buffer, std::size_t offset,
                      std::size_t size, const CommandInfo& command) {
  const Access access{&buffer, offset, size, Access::Read};
  return between_markers(queue, access, command, [&](Event& turn) {
    Worker& worker = queue.worker();
    Worker& writer = file.serving(worker);
    file.ensure_on(writer);
    const bool elsewhere = &writer != &worker;
    if (elsewhere) worker.connect_peer(writer);
    Ref<Event> transfer = expected(queue, writer, command.type);
    writer.link().post(protocol::WriteFile{
        {transfer->id(), 0, Command::kEvent | Command::kReport, {}}, file.id(), to, size});
    worker.link().post(protocol::Push{{next_id(), queue.context()->transfer_queue(worker), 0, {turn.id()}},
                                      buffer.id(),
                                      offset,
                                      size,
                                      elsewhere ? writer.index() : protocol::kOwnPeer,
                                      transfer->id()});
    if (elsewhere) worker.expect_push(transfer);
    return transfer;
  });
}

}  // namespace clique::icd
