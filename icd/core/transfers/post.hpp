// Posting the messages of transfers between host memory and a worker.
#pragma once

#include <cstddef>
#include <cstdint>

#include "icd/common/function_ref.hpp"
#include "icd/core/transfers/host_content.hpp"
#include "protocol/image_shape.hpp"
#include "protocol/messages/commands.hpp"

namespace clique::icd {

class Link;
class Worker;

/// Which parts of a command carry its wait list.
enum class WaitsOn : std::uint8_t {
  FirstPart,  ///< in an in-order queue, where the other parts follow the first one
  EachPart,
};

/// Calls post(header, i) for each part of one command, in order, with the part's header: all but the last are
/// flagged Command::kMore.
void for_each_part(const protocol::Command& header, WaitsOn waits, std::size_t count,
                   FunctionRef<void(protocol::Command&& header, std::size_t i)> post);

/// Posts the write of the bytes [begin, end) of an image's content without gaps, which are whole pixels, in
/// parts.
/// @param content the whole image's
void post_image_range(Link& link, const protocol::Command& header, WaitsOn waits, protocol::ObjectId image,
                      const protocol::ImageShape& shape, std::uint64_t begin, std::uint64_t end,
                      const HostContent& content);

/// Posts the write of `size` bytes to a buffer, in parts.
void post_buffer_write(Link& link, const protocol::Command& header, WaitsOn waits, protocol::ObjectId buffer,
                       std::uint64_t offset, std::uint64_t size, const HostContent& content);
/// Posts the write of a box of an image, in parts. @param element bytes of one element.
void post_image_write(Link& link, const protocol::Command& header, WaitsOn waits, protocol::ObjectId image,
                      std::size_t element, const protocol::Triple& origin, const protocol::Triple& region,
                      const HostContent& content);
/// Posts a large write to a buffer, whose data goes beside the commands, or which names the host segment that
/// contains the data. To be called after Worker::expect_event() for the command.
void post_large_write(Worker& worker, const protocol::Command& header, protocol::ObjectId buffer,
                      std::uint64_t offset, protocol::Payload content);

}  // namespace clique::icd
