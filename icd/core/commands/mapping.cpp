// Mapping, unmapping and migrating memory objects.
#include <cstddef>
#include <utility>

#include "icd/core/commands/host_transfers.hpp"
#include "icd/core/commands/queue.hpp"
#include "icd/core/objects/image.hpp"

namespace clique::icd {

namespace {

/// Gives the mapping its memory: the application's own, pinned memory, or a block of the library's.
void place(Memory& memory, const Image* image, Mapping& mapping) {
  const std::size_t element = image != nullptr ? image->element_size() : 1;
  const protocol::Triple bytes{mapping.region[0] * element, mapping.region[1], mapping.region[2]};
  mapping.pitches = dense(bytes);
  if ((memory.flags() & CL_MEM_USE_HOST_PTR) != 0 && memory.host_ptr() != nullptr) {
    if (image != nullptr) mapping.pitches = image->host_pitches();
    mapping.pointer = static_cast<std::byte*>(memory.host_ptr()) + mapping.origin[0] * element +
                      mapping.origin[1] * mapping.pitches.row + mapping.origin[2] * mapping.pitches.slice;
    return;
  }
  mapping.block = memory.pinned_memory(mapping.origin[0]);
  if (!mapping.block) mapping.block = allocate_host_block(bytes[0] * bytes[1] * bytes[2]);
  mapping.pointer = mapping.block.get();
}

}  // namespace

Ref<Event> map(Queue& queue, Memory& memory, Mapping& mapping, const CommandInfo& command) {
  auto* image = dynamic_cast<Image*>(&memory);
  place(memory, image, mapping);
  memory.add_mapping(mapping);
  try {
    if ((mapping.flags & CL_MAP_WRITE_INVALIDATE_REGION) != 0)
      return queue.nothing(command, EventUse::Report);
    if (image != nullptr)
      return read_image(queue, *image, mapping.origin, mapping.region, mapping.pointer, mapping.pitches,
                        command);
    return read_buffer(queue, memory, mapping.origin[0],
                       {static_cast<std::byte*>(mapping.pointer), mapping.region[0]}, command);
  } catch (...) {
    memory.take_mapping(mapping.pointer);
    throw;
  }
}

Ref<Event> unmap(Queue& queue, Memory& memory, Mapping mapping, const CommandInfo& command, EventUse event) {
  if (!mapping.writes()) return queue.nothing(command, event);
  const HostContent content{static_cast<const std::byte*>(mapping.pointer), mapping.pitches, mapping.block};
  if (auto* image = dynamic_cast<Image*>(&memory))
    return write_image(queue, *image, mapping.origin, mapping.region, content, command, event);
  return write_buffer(queue, memory, mapping.origin[0], mapping.region[0], content, command, event);
}

Ref<Event> migrate(Queue& queue, std::vector<Access> ranges, cl_mem_migration_flags flags,
                   const CommandInfo& command, EventUse event) {
  const bool undefined = (flags & CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED) != 0;
  for (Access& range : ranges) range.mode = undefined ? Access::Overwrite : Access::Read;
  // The host reads content from wherever it is, so content that migrates to the host stays there.
  if ((flags & CL_MIGRATE_MEM_OBJECT_HOST) != 0) ranges.clear();
  // A combined device has what its members hold.
  if (queue.device()->is_combined())
    std::erase_if(ranges, [](const Access& range) { return range.memory->sparse(); });
  return queue.nothing(command, event, ranges);
}

}  // namespace clique::icd
