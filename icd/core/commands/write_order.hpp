// Writes from host memory that pending reads may yet have to fill.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "icd/common/object.hpp"
#include "icd/core/commands/submission.hpp"
#include "icd/core/transfers/post.hpp"
#include "protocol/messages/commands.hpp"

namespace clique::icd {

class Event;
class Queue;
class Worker;

/// A write whose turn it is to be posted.
struct WriteTurn {
  Worker& worker;
  const protocol::Command& header;
  WaitsOn waits;
};
/// Posts the messages of a write. Called once: at once, or later on any thread.
using PostWrite = std::function<void(const WriteTurn& turn)>;

/// Enqueues a write. If pending reads of earlier commands have yet to fill a part of `memory`, the data is
/// sent once they have ended; then the event is reported.
/// @param memory what the write takes its data from.
/// @param access what it writes.
Ref<Event> write_from(Queue& queue, std::span<const std::byte> memory, const Access& access,
                      const CommandInfo& command, EventUse event, const HostTransfer& moves, PostWrite post);

/// Enqueues a write whose data is sent once the reads have ended. The event is reported.
Ref<Event> write_after(Queue& queue, std::span<const Ref<Event>> reads, const Access& access,
                       const CommandInfo& command, const HostTransfer& moves, PostWrite post);

}  // namespace clique::icd
