// The protocol's rules about what messages ask for. Each check throws RuleBroken for a message that no
// correct client sends; what depends on the device alone throws ClError.
#pragma once

#include <CL/cl.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>

#include "daemon/worker/errors.hpp"
#include "protocol/messages.hpp"

namespace clique::daemon {

/// Why the session ends when a kernel runs for longer than Surroundings::kernel_limit.
std::string over_limit(const std::string& kernel, std::chrono::seconds limit);

/// Rule: [offset, offset + size) lies within `total` bytes.
/// @param what names the range in the error, such as "a read"
void check_range(std::uint64_t offset, std::uint64_t size, std::uint64_t total, const char* what);

/// Rule: a pointer argument points into a buffer of `total` bytes. @returns its offset in the buffer.
std::uint64_t pointer_offset(const protocol::KernelArg& arg, std::uint64_t total);

/// Rule: a transfer between workers is a non-empty range of an object of `total` bytes. Of an image, it
/// consists of whole pixels.
/// @param unit bytes of a pixel; of a buffer, 1
void check_transfer(std::uint64_t offset, std::uint64_t size, std::uint64_t total, std::uint64_t unit,
                    const char* what);

/// The two objects that a push with a content size names.
struct ContentSizeObjects {
  bool pushed_is_image;
  bool number_is_image;
  std::uint64_t number_size;  ///< bytes of the object that holds the number
};
/// Rule: a push with a content size pushes a buffer to another worker, and its content size is the 64-bit
/// number at the beginning of a buffer.
void check_content_size(const protocol::Push& push, const ContentSizeObjects& objects);

/// How many bytes of a push's range have content. At least 1, since the push must follow what the Expect
/// waits for.
/// @param number the content size, little endian
std::uint64_t meant_size(const protocol::Push& push, const std::array<std::uint8_t, 8>& number);

/// Rule: a part of a command waits only for parts of that command that came before it.
/// @param before how many parts came before
void check_earlier_part(std::uint64_t number, std::size_t before);

/// Rule: the payload of one part of a transfer is at most protocol::kMaxPayload bytes.
void check_part(std::uint64_t size);

/// Rule: a message's data has exactly the size of the region that it is for.
void check_data_size(std::uint64_t region, std::uint64_t data);

/// The product of three sizes. Throws RuleBroken if it does not fit into 64 bits.
std::uint64_t volume(const protocol::Triple& sizes);

/// Rule: a rectangle lies within a buffer of `total` bytes.
/// @param row_pitch, slice_pitch in bytes; 0: rows and slices follow each other without gaps
void check_rect(const protocol::Triple& origin, const protocol::Triple& region, std::uint64_t row_pitch,
                std::uint64_t slice_pitch, std::uint64_t total);

/// Rule: the region lies within an image of this extent, in pixels.
void check_region(const protocol::Triple& origin, const protocol::Triple& region,
                  const std::array<std::size_t, 3>& extent);

/// Rule: a fill's colour is four channels of 4 bytes, or one for a depth image.
void check_color(std::size_t size);

/// Rule: a launch has at most 3 dimensions, and its offset and local size have as many or are absent.
void check_dimensions(const protocol::RunKernel& message);

/// Rule: a kernel's argument index is below its number of arguments.
void check_argument(std::uint32_t index, std::size_t count);

/// Rules: the program's kind exists, and the message has one code for each device if it is of binaries, else
/// one.
void check_codes(const protocol::CreateProgram& message);

/// Rule: every header of a compilation has a name.
void check_headers(const protocol::CompileProgram& message);

/// Rule: a buffer that is the client's memory has the address at which its segment was shared.
/// @param shared the segment's first byte
void check_shared_at(const protocol::CreateBuffer& message, const std::byte* shared);

/// Rule: an answer to a query about work-groups is at most 64 KiB.
void check_query(const protocol::QueryWorkGroup& message);

/// Rule: a query for a suggested local size brings an offset and a global size of 1 to 3 dimensions.
/// @returns the number of dimensions.
std::size_t suggestion_dimensions(const protocol::QueryWorkGroup& message);

/// A size or origin as the drivers take it.
inline std::array<std::size_t, 3> native(const protocol::Triple& triple) {
  return {triple[0], triple[1], triple[2]};
}

}  // namespace clique::daemon
