#pragma once

#include <cstddef>
#include <span>

#include "icd/common/object.hpp"
#include "icd/core/commands/submission.hpp"

namespace clique::icd {

class Event;
class Memory;
class Queue;

/// Reads a large range of a buffer that other workers hold, or parts of it: each worker sends its own part to
/// the host. The queue's worker does not get the range. The event is reported.
/// @returns null if this is no such range, or the queue has profiling: the command's times would be those of
/// several transfers on several nodes.
Ref<Event> gather(Queue& queue, Memory& buffer, std::size_t offset, std::span<std::byte> to,
                  const CommandInfo& command);

}  // namespace clique::icd
