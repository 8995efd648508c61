// cl_clique_file: content between files of nodes and buffers, which does not pass through this process.
#pragma once

#include <cstddef>
#include <cstdint>

#include "icd/common/object.hpp"
#include "icd/core/commands/submission.hpp"

namespace clique::icd {

class Event;
class File;
class Memory;
class Queue;

/// Reads `size` bytes of a file, from `from` on, into a buffer. Does not wait. The event is reported. Throws
/// what Queue::prepare throws. Any thread.
Ref<Event> read_file(Queue& queue, File& file, std::uint64_t from, Memory& buffer, std::size_t offset,
                     std::size_t size, const CommandInfo& command);
/// Writes `size` bytes of a buffer into a file, from `to` on. Likewise.
Ref<Event> write_file(Queue& queue, File& file, std::uint64_t to, Memory& buffer, std::size_t offset,
                      std::size_t size, const CommandInfo& command);

}  // namespace clique::icd
