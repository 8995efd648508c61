// Commands that need nothing of the host while they run. A queue enqueues them, or a command buffer records
// them.
#pragma once

#include <CL/cl.h>

#include <cstddef>
#include <span>
#include <vector>

#include "icd/common/object.hpp"
#include "icd/core/objects/access.hpp"
#include "icd/core/transfers/layout.hpp"
#include "protocol/messages/commands.hpp"

namespace clique::icd {

class Image;
class Memory;

/// One command: its message without the header, and the memory that it uses.
template <typename M>
struct Work {
  cl_command_type type;
  M message{};
  std::vector<Access> accesses{};
  /// Keeps the objects of the accesses alive.
  std::vector<Ref<Memory>> memory{};
  /// Whether the command does nothing, as the copy of 0 bytes: it only completes.
  bool empty = false;
};

// The commands of section 5 of the specification. Their arguments are checked.

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
