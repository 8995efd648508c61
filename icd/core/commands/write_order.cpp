#include "icd/core/commands/write_order.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <utility>

#include "icd/core/commands/queue.hpp"
#include "icd/core/objects/memory.hpp"
#include "icd/core/tracing/note.hpp"
#include "icd/core/workers/worker.hpp"
#include "icd/remote/link/link.hpp"
#include "icd/trace/trace.hpp"
#include "protocol/batch.hpp"
#include "protocol/messages.hpp"

namespace clique::icd {

namespace {

/// A write that waits for reads to end. Then it is posted on the context's transfer queue.
struct WaitingWrite {
  Ref<Queue> queue;
  Ref<Memory> memory;  // kept alive
  Ref<Event> turn;     // the write follows it
  Ref<Event> gate;     // ends with the write
  HostTransfer moves;
  PostWrite post;
  std::atomic<std::size_t> reads_left;
  std::atomic<cl_int> failure{CL_SUCCESS};

  void read_ended(cl_int status) {
    if (status < 0) failure = status;
    if (--reads_left == 0) write();
  }

 private:
  void write() {
    if (failure < 0) {
      gate->settle(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    } else {
      Worker& worker = queue->worker();
      const Ref<Event> written(new Event(queue->context(), worker, CL_COMMAND_WRITE_BUFFER));
      if (trace::on()) note_write(moves, *written);
      worker.expect_event(written);
      post({worker,
            {written->id(),
             queue->context()->transfer_queue(worker),
             protocol::Command::kEvent | protocol::Command::kReport,
             {turn->id()}},
            WaitsOn::EachPart});
      written->then([gate = gate](cl_int status) { gate->settle(status); });
    }
    queue->flush();
  }
};

}  // namespace

Ref<Event> write_from(Queue& queue, std::span<const std::byte> memory, const Access& access,
                      const CommandInfo& command, EventUse event, const HostTransfer& moves, PostWrite post) {
  const auto reads = queue.reads_before_write(memory, command.waits);
  if (!reads.empty()) return write_after(queue, reads, access, command, moves, std::move(post));
  const WaitsOn waits = queue.in_order() ? WaitsOn::FirstPart : WaitsOn::EachPart;
  return queue.submit_parts({.command = command, .accesses = {&access, 1}, .event = event, .moves = moves},
                            [&](const protocol::Command& header) { post({queue.worker(), header, waits}); });
}

Ref<Event> write_after(Queue& queue, std::span<const Ref<Event>> reads, const Access& access,
                       const CommandInfo& command, const HostTransfer& moves, PostWrite post) {
  // In the application's queue the write is two markers. The first ends when it is the write's turn. The
  // second waits for a gate, which opens when the write has been done on the transfer queue, in between.
  const Access before{access.memory, access.begin, access.size, Access::Read};
  const Ref<Event> turn = queue.nothing({CL_COMMAND_MARKER, command.waits}, EventUse::Report, {&before, 1});
  const Ref<Event> gate(new Event(queue.context()));
  // The command's event may only end after its turn has ended, hence both.
  const std::array both{turn, gate};
  Ref<Event> result = queue.submit_marker({.command = {command.type, both},
                                           .accesses = {&access, 1},
                                           .event = EventUse::Report,
                                           .keep_ended_waits = true});
  const std::shared_ptr<WaitingWrite> write(new WaitingWrite{
      Ref<Queue>(&queue), Ref<Memory>(access.memory), turn, gate, moves, std::move(post), reads.size()});
  for (const Ref<Event>& read : reads) read->then([write](cl_int status) { write->read_ended(status); });
  return result;
}

}  // namespace clique::icd
