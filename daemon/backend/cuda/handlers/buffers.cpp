#include "daemon/backend/cuda/handlers/buffers.hpp"

#include <cstring>

namespace clique::daemon::cuda {

namespace {

/// A rectangle's place in a buffer. A pitch of 0 means without gaps.
Place place_of(const Memory& memory, const protocol::Triple& origin, const protocol::Triple& region,
               std::uint64_t row_pitch, std::uint64_t slice_pitch) {
  Place place;
  place.device = memory.address;
  place.origin = native(origin);
  place.row_pitch = row_pitch != 0 ? row_pitch : region[0];
  place.slice_pitch = slice_pitch != 0 ? slice_pitch : place.row_pitch * region[1];
  return place;
}

/// hold() for a rectangle, which lies within the buffer: for all bytes from its first to its last one.
std::shared_ptr<const void> hold_rect(const std::shared_ptr<Memory>& memory, const protocol::Triple& origin,
                                      const protocol::Triple& region, std::uint64_t row_pitch,
                                      std::uint64_t slice_pitch) {
  if (volume(region) == 0) return memory;
  const Place place = place_of(*memory, origin, region, row_pitch, slice_pitch);
  const auto at = [&place](std::uint64_t x, std::uint64_t y, std::uint64_t z) {
    return x + y * place.row_pitch + z * place.slice_pitch;
  };
  const std::uint64_t first = at(origin[0], origin[1], origin[2]);
  const std::uint64_t last =
      at(origin[0] + region[0] - 1, origin[1] + region[1] - 1, origin[2] + region[2] - 1);
  return hold(memory, first, last - first + 1);
}

Place dense_host(std::byte* block, const protocol::Triple& region) {
  Place place;
  place.host = block;
  place.row_pitch = region[0];
  place.slice_pitch = region[0] * region[1];
  return place;
}

}  // namespace

void Buffers::read(Work& work, const Memory& memory, std::uint64_t offset, std::size_t size,
                   std::function<std::byte*()> destination, SmallReads::Place early) {
  const CUdeviceptr from = memory.address + offset;
  if (small_reads_.fits(from, size)) {
    work.mark_only_after_kernel = SmallReads::only_after_kernel(size);
    work.run_and_mark = [this, from, size, destination, early](CUstream stream, CUdeviceptr word,
                                                               std::uint32_t number) {
      const SmallReads::Place to = early.units != nullptr ? early : SmallReads::Place{destination()};
      small_reads_.read(to, from, size, word, number, stream);
    };
  }
  work.run = [this, from, size, destination = std::move(destination),
              in_host = memory.in_host](CUstream stream) {
    std::byte* const to = destination();
    if (in_host)
      host_copies_.copy(on_gpu(to), from, size, stream);
    else if (size > 0)
      CLIQUE_CUDA(MemcpyDtoHAsync(to, from, size, stream));
  };
}

SmallReads::Place Buffers::early_place(const protocol::ReadBuffer& message) const {
  using Unit = protocol::EarlyUnit;
  const bool in_units = message.early != 0;
  const std::uint64_t end = in_units ? message.early : message.landing;
  if (end == 0) return {};
  const auto arena = reporter_.arena_of_client();
  const std::uint64_t size =
      in_units ? message.size / sizeof(Unit::data) * sizeof(Unit) : protocol::landing_size(message.size);
  if (message.size % sizeof(Unit::data) != 0 || end % sizeof(Unit) != 0 || end < size)
    throw RuleBroken("a read of " + std::to_string(message.size) +
                     " bytes cannot have early units that end at " + std::to_string(end) +
                     ": both must be whole units, which begin above 0");
  check_range(end - size, size, arena.size(), "the early units of a read");
  // Text that kernels print reaches the client with the reports, so the client must not look earlier.
  // Nor may it miss that a command has failed.
  if (!pinned_.is_pinned(arena) || reporter_.prints_expected() ||
      commands_.failed_silently(message.command.queue))
    return {};
  std::byte* const place = arena.data() + (end - size);
  if (in_units) return {nullptr, reinterpret_cast<Unit*>(place)};
  return {place, reinterpret_cast<Unit*>(arena.data() + end) - 1};
}

void Buffers::handle(protocol::ReadBuffer&& message) {
  check_part(message.size);
  const SmallReads::Place early = early_place(message);
  commands_.submit(message.command, [&] {
    const auto memory = memory_.buffer(message.buffer);
    check_range(message.offset, message.size, memory->size, "a read");
    Work work;
    work.data = std::make_shared<std::shared_ptr<std::byte>>();
    work.size = message.size;
    work.part = message.part;
    work.keep = {hold(memory, message.offset, message.size), work.data};
    // The block is taken when the copy is submitted: not while the command is held, nor if the data goes to
    // the early units instead.
    read(
        work, *memory, message.offset, message.size,
        [this, data = work.data, size = message.size] {
          *data = pinned_.outgoing(size);
          return data->get();
        },
        early);
    return work;
  });
}

void Buffers::handle(protocol::ReadToSegment&& message) {
  const auto place = peers_.segment(message.segment, message.at, message.size);
  commands_.submit(message.command, [&] {
    const auto memory = memory_.buffer(message.buffer);
    check_range(message.offset, message.size, memory->size, "a read");
    Work work;
    work.keep = {hold(memory, message.offset, message.size), place};
    // A copy to memory that is not pinned would block this thread.
    if (pinned_.is_pinned({place.get(), message.size})) {
      read(work, *memory, message.offset, message.size, [place] { return place.get(); });
      return work;
    }
    const auto block = std::make_shared<std::shared_ptr<std::byte>>();
    read(work, *memory, message.offset, message.size, [this, block, size = message.size] {
      *block = pinned_.staging(size);
      return block->get();
    });
    work.before_report = [place, block, size = message.size] {
      std::memcpy(place.get(), block->get(), size);
      block->reset();
    };
    return work;
  });
}

void Buffers::handle(protocol::WriteBuffer&& message) {
  check_part(message.data.bytes.size());
  commands_.submit(message.command, [&] { return write(message.buffer, message.offset, message.data); });
}

void Buffers::handle(protocol::WriteFromSegment&& message) {
  const auto place = peers_.segment(message.segment, message.at, message.size);
  commands_.submit(message.command, [&] {
    return write(message.buffer, message.offset, {{place.get(), message.size}, place});
  });
}

Work Buffers::write(protocol::ObjectId id, std::uint64_t offset, const protocol::Payload& data) {
  const auto memory = memory_.buffer(id);
  check_range(offset, data.bytes.size(), memory->size, "a write");
  const auto staged = std::make_shared<std::shared_ptr<std::byte>>();
  Work work;
  work.keep = {hold(memory, offset, data.bytes.size()), staged};
  work.run = [this, staged, data, address = memory->address + offset,
              in_host = memory->in_host](CUstream stream) {
    if (data.bytes.empty()) return;
    *staged = pinned_.pinned(data);
    if (in_host && pinned_.is_pinned(staged->get(), data))
      host_copies_.copy(address, on_gpu(staged->get()), data.bytes.size(), stream);
    else
      CLIQUE_CUDA(MemcpyHtoDAsync(address, staged->get(), data.bytes.size(), stream));
  };
  return work;
}

void Buffers::handle(protocol::ReadBufferRect&& message) {
  const std::uint64_t size = volume(message.region);
  check_part(size);
  commands_.submit(message.command, [&] {
    const auto memory = memory_.buffer(message.buffer);
    check_rect(message.origin, message.region, message.row_pitch, message.slice_pitch, memory->size);
    Work work;
    work.data = std::make_shared<std::shared_ptr<std::byte>>();
    work.size = size;
    work.part = message.part;
    work.keep = {hold_rect(memory, message.origin, message.region, message.row_pitch, message.slice_pitch),
                 work.data};
    work.run = [this, data = work.data, size, region = message.region,
                from = place_of(*memory, message.origin, message.region, message.row_pitch,
                                message.slice_pitch)](CUstream stream) {
      *data = pinned_.outgoing(size);
      copy(from, dense_host(data->get(), region), native(region), stream);
    };
    return work;
  });
}

void Buffers::handle(protocol::WriteBufferRect&& message) {
  check_part(message.data.bytes.size());
  check_data_size(volume(message.region), message.data.bytes.size());
  commands_.submit(message.command, [&] {
    const auto memory = memory_.buffer(message.buffer);
    check_rect(message.origin, message.region, message.row_pitch, message.slice_pitch, memory->size);
    const auto staged = std::make_shared<std::shared_ptr<std::byte>>();
    Work work;
    work.keep = {hold_rect(memory, message.origin, message.region, message.row_pitch, message.slice_pitch),
                 staged};
    work.run = [this, staged, data = message.data, region = message.region,
                to = place_of(*memory, message.origin, message.region, message.row_pitch,
                              message.slice_pitch)](CUstream stream) {
      if (data.bytes.empty()) return;
      *staged = pinned_.pinned(data);
      copy(dense_host(staged->get(), region), to, native(region), stream);
    };
    return work;
  });
}

void Buffers::handle(protocol::CopyBuffer&& message) {
  commands_.submit(message.command, [&] {
    const auto source = memory_.buffer(message.source);
    const auto destination = memory_.buffer(message.destination);
    check_range(message.source_offset, message.size, source->size, "a copy's source");
    check_range(message.destination_offset, message.size, destination->size, "a copy's destination");
    Work work;
    work.keep = {hold(source, message.source_offset, message.size),
                 hold(destination, message.destination_offset, message.size)};
    work.run = [this, from = source->address + message.source_offset,
                to = destination->address + message.destination_offset, size = message.size,
                in_host = source->in_host && destination->in_host](CUstream stream) {
      if (in_host)
        host_copies_.copy(to, from, size, stream);
      else if (size > 0)
        CLIQUE_CUDA(MemcpyDtoDAsync(to, from, size, stream));
    };
    return work;
  });
}

void Buffers::handle(protocol::CopyBufferRect&& message) {
  commands_.submit(message.command, [&] {
    const auto source = memory_.buffer(message.source);
    const auto destination = memory_.buffer(message.destination);
    check_rect(message.source_origin, message.region, message.source_pitch[0], message.source_pitch[1],
               source->size);
    check_rect(message.destination_origin, message.region, message.destination_pitch[0],
               message.destination_pitch[1], destination->size);
    Work work;
    work.keep = {hold_rect(source, message.source_origin, message.region, message.source_pitch[0],
                           message.source_pitch[1]),
                 hold_rect(destination, message.destination_origin, message.region,
                           message.destination_pitch[0], message.destination_pitch[1])};
    work.run = [from = place_of(*source, message.source_origin, message.region, message.source_pitch[0],
                                message.source_pitch[1]),
                to = place_of(*destination, message.destination_origin, message.region,
                              message.destination_pitch[0], message.destination_pitch[1]),
                region = native(message.region)](CUstream stream) { copy(from, to, region, stream); };
    return work;
  });
}

void Buffers::handle(protocol::FillBuffer&& message) {
  const std::size_t length = message.pattern.size();
  if (length == 0 || length > 128 || (length & (length - 1)) != 0)
    throw RuleBroken("a fill pattern of " + std::to_string(length) +
                     " bytes; it must have a power of two up to 128");
  if (message.offset % length != 0 || message.size % length != 0)
    throw RuleBroken("a fill of " + std::to_string(message.size) + " bytes at offset " +
                     std::to_string(message.offset) + "; both must be multiples of the pattern's " +
                     std::to_string(length) + " bytes");
  commands_.submit(message.command, [&] {
    const auto memory = memory_.buffer(message.buffer);
    check_range(message.offset, message.size, memory->size, "a fill");
    Work work;
    work.keep = {hold(memory, message.offset, message.size)};
    work.run = [this, address = memory->address + message.offset, size = message.size,
                pattern = message.pattern](CUstream stream) { filler_.fill(address, size, pattern, stream); };
    return work;
  });
}

}  // namespace clique::daemon::cuda
