// Commands that need nothing of the host while they run: what a queue takes now, and a command buffer
// records.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "icd/common/object.hpp"
#include "icd/core/commands/transfer.hpp"
#include "icd/core/objects/memory.hpp"
#include "protocol/messages.hpp"

namespace clique::icd {

/// A range of a memory object that a command uses, in bytes of the object itself.
struct Access {
  enum Mode : std::uint8_t {
    Read = 1,
    Overwrite = 2,  ///< all of the range gets new content
    ReadWrite = 3,  ///< parts of the range may get new content
  };
  Memory* memory;
  std::uint64_t begin;
  std::uint64_t size;
  Mode mode;

  static Access all(Memory& memory, Mode mode) { return {&memory, 0, memory.size(), mode}; }
};

/// Where a box lies in a buffer; x in bytes.
struct Box {
  protocol::Triple origin{};
  Pitches pitches{};
  /// Bytes from the beginning of the buffer to the box's first byte, and to the one after its last.
  std::size_t begin() const { return origin[0] + origin[1] * pitches.row + origin[2] * pitches.slice; }
  std::size_t end(const protocol::Triple& region) const;
};

/// One command: its message, but for the header, and the memory that it uses.
template <typename M>
struct Work {
  cl_command_type type;
  M message{};
  std::vector<Access> accesses{};
  /// Keep what the accesses are to.
  std::vector<Ref<Memory>> memory{};
  /// A command that does nothing, such as the copy of no bytes: there is only its end.
  bool empty = false;
};

// The commands of section 5 of the specification, arguments checked.

Work<protocol::CopyBuffer> copy(const Ref<Memory>& source, const Ref<Memory>& destination,
                                std::size_t source_offset, std::size_t destination_offset, std::size_t size,
                                cl_command_type type = CL_COMMAND_COPY_BUFFER);
Work<protocol::CopyBufferRect> copy_rect(const Ref<Memory>& source, const Ref<Memory>& destination,
                                         const Box& from, const Box& to, const protocol::Triple& region);
Work<protocol::FillBuffer> fill(const Ref<Memory>& buffer, std::span<const std::byte> pattern,
                                std::size_t offset, std::size_t size,
                                cl_command_type type = CL_COMMAND_FILL_BUFFER);
Work<protocol::CopyImage> copy_image(const Ref<Image>& source, const Ref<Image>& destination,
                                     const protocol::Triple& source_origin,
                                     const protocol::Triple& destination_origin,
                                     const protocol::Triple& region);
Work<protocol::CopyImageToBuffer> copy_image_to_buffer(const Ref<Image>& source,
                                                       const Ref<Memory>& destination,
                                                       const protocol::Triple& origin,
                                                       const protocol::Triple& region, std::size_t offset);
Work<protocol::CopyBufferToImage> copy_buffer_to_image(const Ref<Memory>& source,
                                                       const Ref<Image>& destination, std::size_t offset,
                                                       const protocol::Triple& origin,
                                                       const protocol::Triple& region);
Work<protocol::FillImage> fill_image(const Ref<Image>& image, std::span<const std::byte> color,
                                     const protocol::Triple& origin, const protocol::Triple& region);

}  // namespace clique::icd
