#include "icd/core/commands/transfer.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "icd/common/error.hpp"

namespace clique::icd {

HostBlock allocate_host_block(std::size_t size) {
  // Mapped memory has to be aligned for any OpenCL type: 16 components of 8 bytes.
  constexpr std::align_val_t kAlignment{128};
  auto* bytes =
      static_cast<std::byte*>(::operator new[](std::max<std::size_t>(1, size), kAlignment, std::nothrow));
  require(bytes != nullptr, CL_OUT_OF_HOST_MEMORY, "no memory for a host copy");
  return {bytes, [](std::byte* block) { ::operator delete[](block, kAlignment); }};
}

void copy_box(std::byte* to, const Pitches& to_pitches, const std::byte* from, const Pitches& from_pitches,
              const protocol::Triple& region) {
  for (std::size_t z = 0; z < region[2]; ++z)
    for (std::size_t y = 0; y < region[1]; ++y)
      std::memcpy(to + z * to_pitches.slice + y * to_pitches.row,
                  from + z * from_pitches.slice + y * from_pitches.row, region[0]);
}

std::vector<BoxPart> split(const protocol::Triple& region, std::size_t unit) {
  std::vector<BoxPart> parts;
  const std::size_t row = region[0] * unit;
  const std::size_t slice = row * region[1];
  // Of each dimension, how much one part takes.
  protocol::Triple step = region;
  if (slice <= protocol::kPartSize) {
    step[2] = std::max<std::size_t>(1, protocol::kPartSize / std::max<std::size_t>(1, slice));
  } else {
    step[2] = 1;
    step[1] = std::max<std::size_t>(1, protocol::kPartSize / row);
    if (row > protocol::kPartSize) step[0] = std::max<std::size_t>(1, protocol::kPartSize / unit);
  }
  for (std::size_t z = 0; z < region[2]; z += step[2])
    for (std::size_t y = 0; y < region[1]; y += step[1])
      for (std::size_t x = 0; x < region[0]; x += step[0])
        parts.push_back({{x, y, z},
                         {std::min(step[0], region[0] - x), std::min(step[1], region[1] - y),
                          std::min(step[2], region[2] - z)}});
  return parts;
}

protocol::Payload payload(const HostContent& content, const std::byte* at, const protocol::Triple& bytes) {
  const std::size_t size = bytes[0] * bytes[1] * bytes[2];
  const Pitches packed = dense(bytes);
  const bool rows_join = bytes[1] == 1 || content.pitches.row == packed.row;
  const bool slices_join = bytes[2] == 1 || content.pitches.slice == packed.slice;
  // What is small travels inside the message, which copies it.
  const bool may_refer = !content.copy || size <= protocol::kInlinePayload;
  if (rows_join && slices_join && may_refer) return {{at, size}, content.owner};
  HostBlock block = allocate_host_block(size);
  copy_box(block.get(), packed, at, content.pitches, bytes);
  return {{block.get(), size}, block};
}

void post_buffer_write(Link& link, const protocol::Command& header, bool in_order, protocol::ObjectId buffer,
                       std::uint64_t offset, std::uint64_t size, const HostContent& content) {
  const std::size_t count = std::max<std::size_t>(1, (size + protocol::kPartSize - 1) / protocol::kPartSize);
  post_parts(link, header, in_order, count, [&](protocol::Command own, std::size_t i) {
    const std::uint64_t begin = i * protocol::kPartSize;
    const std::uint64_t bytes = std::min<std::uint64_t>(protocol::kPartSize, size - begin);
    return protocol::WriteBuffer{std::move(own), buffer, offset + begin,
                                 payload(content, content.data + begin, {bytes, 1, 1})};
  });
}

void post_image_write(Link& link, const protocol::Command& header, bool in_order, protocol::ObjectId image,
                      std::size_t unit, const protocol::Triple& origin, const protocol::Triple& region,
                      const HostContent& content) {
  const auto parts = split(region, unit);
  post_parts(link, header, in_order, parts.size(), [&](protocol::Command own, std::size_t i) {
    const BoxPart& part = parts[i];
    return protocol::WriteImage{
        std::move(own),
        image,
        {origin[0] + part.origin[0], origin[1] + part.origin[1], origin[2] + part.origin[2]},
        part.region,
        payload(content, content.data + part.offset(unit, content.pitches), part.bytes(unit))};
  });
}

}  // namespace clique::icd
