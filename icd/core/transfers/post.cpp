#include "icd/core/transfers/post.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "icd/core/transfers/host_segment.hpp"
#include "icd/core/workers/pending_commands.hpp"
#include "icd/core/workers/worker.hpp"
#include "icd/remote/link/link.hpp"
#include "protocol/batch.hpp"
#include "protocol/messages.hpp"

namespace clique::icd {

using protocol::kPartSize;

void for_each_part(const protocol::Command& header, WaitsOn waits, std::size_t count,
                   FunctionRef<void(protocol::Command&& header, std::size_t i)> post) {
  for (std::size_t i = 0; i < count; ++i) {
    protocol::Command own = header;
    if (i + 1 < count) own.flags |= protocol::Command::kMore;
    if (i > 0 && waits == WaitsOn::FirstPart) own.waits.clear();
    post(std::move(own), i);
  }
}

void post_buffer_write(Link& link, const protocol::Command& header, WaitsOn waits, protocol::ObjectId buffer,
                       std::uint64_t offset, std::uint64_t size, const HostContent& content) {
  const std::size_t count = std::max<std::size_t>(1, (size + kPartSize - 1) / kPartSize);
  for_each_part(header, waits, count, [&](protocol::Command&& own, std::size_t i) {
    const std::uint64_t begin = i * kPartSize;
    const std::uint64_t bytes = std::min<std::uint64_t>(kPartSize, size - begin);
    link.post(protocol::WriteBuffer{std::move(own), buffer, offset + begin,
                                    payload(content, content.data + begin, {bytes, 1, 1})});
  });
}

void post_image_write(Link& link, const protocol::Command& header, WaitsOn waits, protocol::ObjectId image,
                      std::size_t element, const protocol::Triple& origin, const protocol::Triple& region,
                      const HostContent& content) {
  const auto parts = split(region, element);
  for_each_part(header, waits, parts.size(), [&](protocol::Command&& own, std::size_t i) {
    const BoxPart& part = parts[i];
    link.post(protocol::WriteImage{
        std::move(own),
        image,
        {origin[0] + part.origin[0], origin[1] + part.origin[1], origin[2] + part.origin[2]},
        part.region,
        payload(content, content.data + part.offset(element, content.pitches), part.bytes(element))});
  });
}

void post_image_range(Link& link, const protocol::Command& header, WaitsOn waits, protocol::ObjectId image,
                      const protocol::ImageShape& shape, std::uint64_t begin, std::uint64_t end,
                      const HostContent& content) {
  std::vector<std::uint64_t> offsets;
  std::vector<protocol::ImageBlock> blocks;
  for (std::uint64_t at = begin; at < end; at += blocks.back().size) {
    offsets.push_back(at);
    blocks.push_back(block_at(shape, at, std::min<std::uint64_t>(kPartSize, end - at)));
  }
  for_each_part(header, waits, blocks.size(), [&](protocol::Command&& own, std::size_t i) {
    const protocol::ImageBlock& block = blocks[i];
    link.post(protocol::WriteImage{std::move(own),
                                   image,
                                   {block.origin[0], block.origin[1], block.origin[2]},
                                   {block.region[0], block.region[1], block.region[2]},
                                   payload(content, content.data + offsets[i], {block.size, 1, 1})});
  });
}

void post_large_write(Worker& worker, const protocol::Command& header, protocol::ObjectId buffer,
                      std::uint64_t offset, protocol::Payload content) {
  Link& link = worker.link();
  const std::uint64_t size = content.bytes.size();
  if (const auto place = HostSegment::find(content.bytes, worker)) {
    link.expect_transfer(size);
    link.post(protocol::WriteFromSegment{header, buffer, offset, size, place->segment, place->at});
    return;
  }
  worker.pending().expect_bulk(header.id, {.upload = true});
  link.post(protocol::Expect{header, buffer, offset, size});
  link.upload(header.id, std::move(content));
}

}  // namespace clique::icd
