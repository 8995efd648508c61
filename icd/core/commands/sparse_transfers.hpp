// Commands on sparse buffers (Memory::sparse) in queues of combined devices: each member executes the part of
// a command whose bytes it has, so that no member needs memory for all of them.
#pragma once

#include <span>
#include <vector>

#include "icd/common/function_ref.hpp"
#include "icd/common/object.hpp"
#include "icd/core/coherence/coherence.hpp"
#include "icd/core/commands/submission.hpp"

namespace clique::icd {

class Event;
class Memory;
class Queue;

/// Which members execute a command on bytes of a buffer, in bytes of the buffer itself. Empty: the command is
/// not divided, because the buffer is not sparse, or the queue's device is not combined, or the first member
/// has all bytes.
std::vector<Coherence::Placed> placed_reads(Queue& queue, Memory& buffer, std::uint64_t offset,
                                            std::uint64_t size);
/// The same for a command that overwrites the bytes.
std::vector<Coherence::Placed> placed_writes(Queue& queue, Memory& buffer, std::uint64_t offset,
                                             std::uint64_t size);

/// Enqueues a command as several, between two markers in the queue. The event is reported.
/// @param enqueue puts one part into a queue of its member, as the given command, and returns its event,
/// which is reported
Ref<Event> enqueue_placed(
    Queue& queue, std::span<const Coherence::Placed> placed, const CommandInfo& command,
    FunctionRef<Ref<Event>(Queue& on, const Coherence::Placed& part, const CommandInfo& command)> enqueue);

}  // namespace clique::icd
