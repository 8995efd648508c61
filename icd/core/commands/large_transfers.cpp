#include "icd/core/commands/large_transfers.hpp"

#include <utility>

#include "icd/common/function_ref.hpp"
#include "icd/core/commands/queue.hpp"
#include "icd/core/commands/write_order.hpp"
#include "icd/core/objects/memory.hpp"
#include "icd/core/tracing/note.hpp"
#include "icd/core/transfers/post.hpp"
#include "icd/core/workers/pending_commands.hpp"
#include "icd/core/workers/worker.hpp"
#include "icd/remote/link/link.hpp"
#include "icd/trace/trace.hpp"
#include "protocol/batch.hpp"
#include "protocol/limits.hpp"
#include "protocol/messages.hpp"
#include "protocol/messages/transfers.hpp"

namespace clique::icd {

namespace {

using protocol::Command;

/// The transfer between the markers.
struct Transfer {
  const Command& header;        ///< for the transfer queue
  protocol::CommandId command;  ///< the one that it belongs to
};
/// Adds the transfer's message.
using AddTransfer = FunctionRef<void(protocol::Batch& outbox, const Transfer& transfer)>;

struct Submitted {
  Ref<Event> event;
  protocol::CommandId transfer = 0;  ///< 0: nothing was posted
};

Ref<Event> expected_marker(const Queue& queue) {
  Ref<Event> event(new Event(queue.context(), queue.worker(), CL_COMMAND_MARKER));
  queue.worker().expect_event(event);
  return event;
}

/// Enqueues the two markers, and the transfer between them.
Submitted submit_large(Queue& queue, Submission submission, Bulk bulk, AddTransfer add) {
  submission.event = EventUse::Report;
  // The parts of a read arrive through other connections than later reports, or other threads copy them.
  const bool reads = !bulk.fills.empty();
  submission.traits.late = reads;
  const Queue::Prepared prepared = queue.prepare(submission);
  if (prepared.doomed) return {prepared.event};
  Worker& worker = queue.worker();
  Link& link = worker.link();
  const protocol::ObjectId transfer_queue = queue.context()->transfer_queue(worker);
  if (reads) {
    link.expect_pushes();
    queue.context()->set_late_events();
    queue.order().continue_after(prepared.event);
  }

  // The first marker's times are those of the command's turn.
  const bool wants_turn = queue.profiling() || trace::on();
  if (wants_turn) bulk.turn = expected_marker(queue);
  bulk.transfer = expected_marker(queue);
  Command turn{wants_turn ? bulk.turn->id() : next_id(), queue.id(), Command::kEvent, prepared.header.waits};
  if (wants_turn) turn.flags |= Command::kReport;
  const Command transfer{bulk.transfer->id(), transfer_queue, Command::kEvent | Command::kReport, {turn.id}};
  const Command last{prepared.header.id, queue.id(), prepared.header.flags, {transfer.id}};
  worker.pending().expect_bulk(last.id, std::move(bulk));
  link.compose([&](protocol::Batch& outbox) {
    outbox.add(protocol::Marker{turn});
    add(outbox, {transfer, last.id});
    outbox.add(protocol::Marker{last});
    if (!wants_turn) outbox.add(protocol::Release{{}, {turn.id}});
  });
  queue.commit(submission, prepared);
  return {prepared.event, transfer.id};
}

}  // namespace

bool is_large(const Queue& queue, std::size_t size) {
  return queue.in_order() && size > queue.link().largest_with_commands();
}

Ref<Event> read_large(Queue& queue, Memory& buffer, std::size_t offset, std::span<std::byte> to,
                      const CommandInfo& command) {
  const Access access{&buffer, offset, to.size(), Access::Read};
  return submit_large(queue,
                      {.command = command,
                       .accesses = {&access, 1},
                       .fills = to,
                       .moves = {to.size(), true, large_way(queue.link())}},
                      {.fills = to},
                      [&](protocol::Batch& outbox, const Transfer& transfer) {
                        outbox.add(protocol::Push{transfer.header, buffer.id(), offset, to.size(),
                                                  protocol::kClientPeer, transfer.command});
                      })
      .event;
}

Ref<Event> write_large(Queue& queue, Memory& buffer, std::size_t offset, const protocol::Payload& content,
                       const CommandInfo& command) {
  const std::size_t size = content.bytes.size();
  const Access access{&buffer, offset, size, Access::Overwrite};
  const auto reads = queue.reads_before_write(content.bytes, command.waits);
  if (!reads.empty())
    return write_after(queue, reads, access, command, {size, false, large_way(queue.link())},
                       [id = buffer.id(), offset, content](const WriteTurn& turn) {
                         post_large_write(turn.worker, turn.header, id, offset, content);
                       });
  Submitted submitted = submit_large(
      queue, {.command = command, .accesses = {&access, 1}, .moves = {size, false, large_way(queue.link())}},
      {.upload = true}, [&](protocol::Batch& outbox, const Transfer& transfer) {
        outbox.add(protocol::Expect{transfer.header, buffer.id(), offset, size});
      });
  if (submitted.transfer != 0) queue.link().upload(submitted.transfer, content);
  return std::move(submitted.event);
}

}  // namespace clique::icd
