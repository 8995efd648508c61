// The commands between host memory and memory objects: OpenCL 3.0, sections 5.2.2, 5.2.4, 5.3.3 and 5.5.
//
// Their arguments are checked. None of them waits. Each returns the command's event, if there is one. All
// throw what Queue::prepare throws. Any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "icd/common/object.hpp"
#include "icd/core/commands/submission.hpp"
#include "icd/core/transfers/host_content.hpp"
#include "icd/core/transfers/layout.hpp"
#include "protocol/messages/message.hpp"

namespace clique::icd {

class EarlyRead;
class Event;
class Image;
class Memory;
class Queue;
struct Mapping;

/// Reads bytes of a buffer, from `offset` on. The event is reported.
/// @param early the result of Queue::early_read() for this read; may be null.
Ref<Event> read_buffer(Queue& queue, Memory& buffer, std::size_t offset, std::span<std::byte> to,
                       const CommandInfo& command, const std::shared_ptr<EarlyRead>& early = nullptr);
/// Writes `size` bytes to a buffer. With `from.copy` the bytes are copied before the call returns.
Ref<Event> write_buffer(Queue& queue, Memory& buffer, std::size_t offset, std::size_t size,
                        const HostContent& from, const CommandInfo& command, EventUse event);
/// Reads a box of a buffer. The event is reported.
/// @param to the box's first byte in host memory.
Ref<Event> read_rect(Queue& queue, Memory& buffer, const Box& box, const protocol::Triple& region, void* to,
                     const Pitches& pitches, const CommandInfo& command);
/// Writes a box of a buffer. @param from begins with the box's first byte in host memory.
Ref<Event> write_rect(Queue& queue, Memory& buffer, const Box& box, const protocol::Triple& region,
                      const HostContent& from, const CommandInfo& command, EventUse event);
/// Reads a region of an image. The event is reported.
/// @param pitches distances in host memory between steps of the second and of the third coordinate, which may
/// count array layers.
Ref<Event> read_image(Queue& queue, Image& image, const protocol::Triple& origin,
                      const protocol::Triple& region, void* to, const Pitches& pitches,
                      const CommandInfo& command);
/// Writes a region of an image. @param from with pitches as for read_image().
Ref<Event> write_image(Queue& queue, Image& image, const protocol::Triple& origin,
                       const protocol::Triple& region, const HostContent& from, const CommandInfo& command,
                       EventUse event);

/// Maps a region. The event is reported.
/// @param mapping its flags, origin and region; gets pointer, block and pitches.
/// Throws Error(CL_INVALID_OPERATION) as Memory::add_mapping does.
Ref<Event> map(Queue& queue, Memory& memory, Mapping& mapping, const CommandInfo& command);
/// Unmaps a region. @param mapping from Memory::take_mapping().
Ref<Event> unmap(Queue& queue, Memory& memory, Mapping mapping, const CommandInfo& command, EventUse event);
/// Migrates ranges to the queue's device. @param ranges their modes are set here.
Ref<Event> migrate(Queue& queue, std::vector<Access> ranges, cl_mem_migration_flags flags,
                   const CommandInfo& command, EventUse event);

}  // namespace clique::icd
