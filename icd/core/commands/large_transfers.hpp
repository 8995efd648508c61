// Large transfers of one range of a buffer, which go beside the commands (docs/decisions/0012).
//
// In the application's in-order queue such a command is two markers. The first ends when it is the command's
// turn. Then the data is transferred, by a command on the context's transfer queue. The second marker waits
// for that.
#pragma once

#include <cstddef>
#include <span>

#include "icd/common/object.hpp"
#include "icd/core/commands/submission.hpp"
#include "protocol/payload.hpp"

namespace clique::icd {

class Event;
class Memory;
class Queue;

/// Whether a transfer of `size` bytes goes beside the commands. Only in in-order queues: in others only the
/// worker knows what the transfer would have to follow.
bool is_large(const Queue& queue, std::size_t size);

/// Reads a range that the queue's worker holds, or gets for it. The event is reported.
Ref<Event> read_large(Queue& queue, Memory& buffer, std::size_t offset, std::span<std::byte> to,
                      const CommandInfo& command);
/// Writes a range. The event is reported.
Ref<Event> write_large(Queue& queue, Memory& buffer, std::size_t offset, const protocol::Payload& content,
                       const CommandInfo& command);

}  // namespace clique::icd
