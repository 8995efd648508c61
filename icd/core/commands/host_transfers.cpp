#include "icd/core/commands/host_transfers.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "icd/core/commands/gather.hpp"
#include "icd/core/commands/large_transfers.hpp"
#include "icd/core/commands/queue.hpp"
#include "icd/core/commands/sparse_transfers.hpp"
#include "icd/core/commands/write_order.hpp"
#include "icd/core/objects/image.hpp"
#include "icd/core/tracing/note.hpp"
#include "icd/core/transfers/early_read.hpp"
#include "icd/core/transfers/host_segment.hpp"
#include "icd/core/transfers/post.hpp"
#include "icd/core/workers/worker.hpp"
#include "icd/remote/link/link.hpp"
#include "icd/remote/transfers/copy.hpp"
#include "icd/trace/names.hpp"
#include "protocol/batch.hpp"
#include "protocol/decode_error.hpp"
#include "protocol/messages.hpp"
#include "protocol/messages/transfers.hpp"

namespace clique::icd {

namespace {

using protocol::kPartSize;

/// The node has sent something that nobody asked for.
[[noreturn]] void refuse(std::uint32_t part, std::size_t size) {
  throw protocol::DecodeError("part " + std::to_string(part) + " of a read, of " + std::to_string(size) +
                              " bytes, which the read does not have");
}

/// A sink that copies the parts of a box to their places in host memory. Keeps `object` alive.
DataSink scatter(std::vector<BoxPart> parts, std::size_t element, void* to, const Pitches& pitches,
                 Ref<Memory> object) {
  return [parts = std::move(parts), element, to, pitches, object = std::move(object)](
             std::uint32_t index, std::span<const std::byte> data) {
    if (index >= parts.size()) refuse(index, data.size());
    const BoxPart& part = parts[index];
    const auto bytes = part.bytes(element);
    if (data.size() != bytes[0] * bytes[1] * bytes[2]) refuse(index, data.size());
    copy_box(static_cast<std::byte*>(to) + part.offset(element, pitches), pitches, data.data(), dense(bytes),
             bytes);
  };
}

protocol::Triple moved(const protocol::Triple& origin, const protocol::Triple& by) {
  return {origin[0] + by[0], origin[1] + by[1], origin[2] + by[2]};
}

WaitsOn waits_on(const Queue& queue) {
  return queue.in_order() ? WaitsOn::FirstPart : WaitsOn::EachPart;
}

/// A read into a host segment, to which the device itself copies.
Ref<Event> read_to_segment(Queue& queue, Memory& buffer, std::size_t offset, std::span<std::byte> to,
                           const HostSegment::Place& place, const CommandInfo& command) {
  const Access access{&buffer, offset, to.size(), Access::Read};
  queue.link().expect_transfer(to.size());
  return queue.submit({.command = command,
                       .accesses = {&access, 1},
                       .event = EventUse::Report,
                       .traits = {.direct = true},
                       .fills = to,
                       .moves = {to.size(), true, trace::kSharedMemory}},
                      [&](protocol::Batch& outbox, protocol::Command& header) {
                        outbox.add(protocol::ReadToSegment{std::move(header), buffer.id(), offset, to.size(),
                                                           place.segment, place.at});
                      });
}

/// A read whose data comes among the reports, in parts.
Ref<Event> read_in_parts(Queue& queue, Memory& buffer, std::size_t offset, std::span<std::byte> to,
                         const CommandInfo& command, const std::shared_ptr<EarlyRead>& early) {
  const Access access{&buffer, offset, to.size(), Access::Read};
  // After an early end the host memory is the application's again, and the buffer may be destroyed, although
  // the event has not ended yet.
  const Ref<Memory> keep(early ? nullptr : &buffer);
  DataSink sink = [to, keep, early](std::uint32_t part, std::span<const std::byte> data) {
    const std::size_t begin = part * kPartSize;
    if (begin > to.size() || data.size() > to.size() - begin) refuse(part, data.size());
    if (!early || early->claim()) icd::copy(to.data() + begin, data.data(), data.size());
  };
  return queue.submit_parts(
      {.command = command,
       .accesses = {&access, 1},
       .event = EventUse::Report,
       .fills = early ? std::span<const std::byte>() : to,
       .sink = std::move(sink),
       .moves = {to.size(), true, small_way(queue.link())}},
      [&](const protocol::Command& header) {
        const std::size_t count = (to.size() + kPartSize - 1) / kPartSize;
        for_each_part(header, waits_on(queue), count, [&](protocol::Command&& own, std::size_t i) {
          const std::size_t begin = i * kPartSize;
          const std::size_t size = std::min(kPartSize, to.size() - begin);
          protocol::ReadBuffer read{std::move(own), static_cast<std::uint32_t>(i), buffer.id(),
                                    offset + begin, size};
          if (early) early->announce(read);
          queue.link().post(std::move(read));
        });
      });
}

}  // namespace

Ref<Event> read_buffer(Queue& queue, Memory& buffer, std::size_t offset, std::span<std::byte> to,
                       const CommandInfo& command, const std::shared_ptr<EarlyRead>& early) {
  if (const auto placed = placed_reads(queue, buffer, offset, to.size()); !placed.empty())
    return enqueue_placed(
        queue, placed, command, [&](Queue& on, const Coherence::Placed& part, const CommandInfo& own) {
          const std::span<std::byte> there = to.subspan(part.begin - offset, part.end - part.begin);
          return read_buffer(on, buffer, part.begin, there, own);
        });
  const auto place = HostSegment::find(to, queue.worker());
  const bool large = is_large(queue, to.size());
  // By these routes the data cannot be held back until earlier reads have put theirs into the same memory:
  // the device puts it there, or it arrives in parts, in any order, through a connection of its own.
  const bool overtakes = place || !queue.link().shares_memory();
  if ((large || place) && queue.earlier_reads(to, {.direct = overtakes}).empty()) {
    if (large)
      if (Ref<Event> gathered = gather(queue, buffer, offset, to, command)) return gathered;
    return place ? read_to_segment(queue, buffer, offset, to, *place, command)
                 : read_large(queue, buffer, offset, to, command);
  }
  return read_in_parts(queue, buffer, offset, to, command, early);
}

Ref<Event> write_buffer(Queue& queue, Memory& buffer, std::size_t offset, std::size_t size,
                        const HostContent& from, const CommandInfo& command, EventUse event) {
  if (const auto placed = placed_writes(queue, buffer, offset, size); !placed.empty())
    return enqueue_placed(
        queue, placed, command, [&](Queue& on, const Coherence::Placed& part, const CommandInfo& own) {
          HostContent there = from;
          there.data += part.begin - offset;
          return write_buffer(on, buffer, part.begin, part.end - part.begin, there, own, EventUse::Report);
        });
  const std::span<const std::byte> memory(from.data, size);
  const Access access{&buffer, offset, size, Access::Overwrite};
  // Content that has to be copied before the call returns goes in parts.
  if (!from.copy) {
    if (const auto place = HostSegment::find(memory, queue.worker()))
      return write_from(
          queue, memory, access, command, event, {size, false, trace::kSharedMemory},
          [id = buffer.id(), offset, size, place = *place](const WriteTurn& turn) {
            Link& link = turn.worker.link();
            link.expect_transfer(size);
            link.post(protocol::WriteFromSegment{turn.header, id, offset, size, place.segment, place.at});
          });
    if (is_large(queue, size)) return write_large(queue, buffer, offset, {memory, from.owner}, command);
  }
  const bool only_ordered = from.copy && event == EventUse::None;
  return write_from(queue, memory, access, command, only_ordered ? EventUse::Order : event,
                    {size, false, small_way(queue.link())},
                    [id = buffer.id(), offset, size, from](const WriteTurn& turn) {
                      post_buffer_write(turn.worker.link(), turn.header, turn.waits, id, offset, size, from);
                    });
}

Ref<Event> read_rect(Queue& queue, Memory& buffer, const Box& box, const protocol::Triple& region, void* to,
                     const Pitches& pitches, const CommandInfo& command) {
  const Access access{&buffer, box.begin(), box.end(region) - box.begin(), Access::Read};
  const auto parts = split(region, 1);
  return queue.submit_parts(
      {.command = command,
       .accesses = {&access, 1},
       .event = EventUse::Report,
       .fills = {static_cast<const std::byte*>(to), extent(region, pitches)},
       .sink = scatter(parts, 1, to, pitches, Ref<Memory>(&buffer)),
       .moves = {region[0] * region[1] * region[2], true, small_way(queue.link())}},
      [&](const protocol::Command& header) {
        for_each_part(header, waits_on(queue), parts.size(), [&](protocol::Command&& own, std::size_t i) {
          queue.link().post(protocol::ReadBufferRect{std::move(own), static_cast<std::uint32_t>(i),
                                                     buffer.id(), moved(box.origin, parts[i].origin),
                                                     parts[i].region, box.pitches.row, box.pitches.slice});
        });
      });
}

Ref<Event> write_rect(Queue& queue, Memory& buffer, const Box& box, const protocol::Triple& region,
                      const HostContent& from, const CommandInfo& command, EventUse event) {
  const Access access{&buffer, box.begin(), box.end(region) - box.begin(), Access::ReadWrite};
  return write_from(
      queue, {from.data, extent(region, from.pitches)}, access, command, event,
      {region[0] * region[1] * region[2], false, small_way(queue.link())},
      [id = buffer.id(), box, region, from](const WriteTurn& turn) {
        const auto parts = split(region, 1);
        for_each_part(turn.header, turn.waits, parts.size(), [&](protocol::Command&& own, std::size_t i) {
          const BoxPart& part = parts[i];
          turn.worker.link().post(protocol::WriteBufferRect{
              std::move(own), id, moved(box.origin, part.origin), part.region, box.pitches.row,
              box.pitches.slice, payload(from, from.data + part.offset(1, from.pitches), part.region)});
        });
      });
}

Ref<Event> read_image(Queue& queue, Image& image, const protocol::Triple& origin,
                      const protocol::Triple& region, void* to, const Pitches& pitches,
                      const CommandInfo& command) {
  const Access access = Access::all(image, Access::Read);
  const std::size_t element = image.element_size();
  const auto parts = split(region, element);
  const std::size_t size = extent({region[0] * element, region[1], region[2]}, pitches);
  return queue.submit_parts(
      {.command = command,
       .accesses = {&access, 1},
       .event = EventUse::Report,
       .fills = {static_cast<const std::byte*>(to), size},
       .sink = scatter(parts, element, to, pitches, Ref<Memory>(&image)),
       .moves = {region[0] * region[1] * region[2] * element, true, small_way(queue.link())}},
      [&](const protocol::Command& header) {
        for_each_part(header, waits_on(queue), parts.size(), [&](protocol::Command&& own, std::size_t i) {
          const auto bytes = parts[i].bytes(element);
          queue.link().post(protocol::ReadImage{std::move(own), static_cast<std::uint32_t>(i), image.id(),
                                                moved(origin, parts[i].origin), parts[i].region,
                                                bytes[0] * bytes[1] * bytes[2]});
        });
      });
}

Ref<Event> write_image(Queue& queue, Image& image, const protocol::Triple& origin,
                       const protocol::Triple& region, const HostContent& from, const CommandInfo& command,
                       EventUse event) {
  const Access access = Access::all(image, image.covers(region) ? Access::Overwrite : Access::ReadWrite);
  const std::size_t element = image.element_size();
  const std::size_t size = extent({region[0] * element, region[1], region[2]}, from.pitches);
  return write_from(queue, {from.data, size}, access, command, event,
                    {region[0] * region[1] * region[2] * element, false, small_way(queue.link())},
                    [id = image.id(), element, origin, region, from](const WriteTurn& turn) {
                      post_image_write(turn.worker.link(), turn.header, turn.waits, id, element, origin,
                                       region, from);
                    });
}

}  // namespace clique::icd
