// Commands on buffers.
#include <cstring>

#include "daemon/backend/cuda/cuda_backend.hpp"

namespace clique::daemon::cuda {

namespace {

/// A rectangle's place in a buffer; pitches of 0 are those without gaps.
Place place_of(const Memory& memory, const protocol::Triple& origin, const protocol::Triple& region,
               std::uint64_t row_pitch, std::uint64_t slice_pitch) {
  Place place;
  place.device = memory.address;
  place.origin = native(origin);
  place.row_pitch = row_pitch != 0 ? row_pitch : region[0];
  place.slice_pitch = slice_pitch != 0 ? slice_pitch : place.row_pitch * region[1];
  return place;
}

Place dense_host(std::byte* block, const protocol::Triple& region) {
  Place place;
  place.host = block;
  place.row_pitch = region[0];
  place.slice_pitch = region[0] * region[1];
  return place;
}

}  // namespace

void CudaBackend::read(Work& work, CUdeviceptr from, std::size_t size,
                       std::function<std::byte*()> destination, protocol::EarlyUnit* early) {
  if (small_reads_.fits(from, size))
    work.run_and_mark = [this, from, size, destination, early](CUstream stream, CUdeviceptr word,
                                                               std::uint32_t number) {
      if (early != nullptr)
        small_reads_.read(early, from, size, word, number, stream);
      else
        small_reads_.read(destination(), from, size, word, number, stream);
    };
  work.run = [from, size, destination = std::move(destination)](CUstream stream) {
    std::byte* const to = destination();
    if (size > 0) CLIQUE_CUDA(MemcpyDtoHAsync(to, from, size, stream));
  };
}

protocol::EarlyUnit* CudaBackend::early_units(const protocol::ReadBuffer& message) const {
  using Unit = protocol::EarlyUnit;
  if (message.early == 0) return nullptr;
  const auto arena = surroundings_.reporter.arena_of_client();
  const std::uint64_t size = message.size / sizeof(Unit::data) * sizeof(Unit);
  if (message.size % sizeof(Unit::data) != 0 || message.early % sizeof(Unit) != 0 || message.early < size)
    throw RuleBroken("a read to units where none can be");
  check_range(message.early - size, size, arena.size(), "the units of a read");
  // What kernels have printed comes with the reports.
  if (!is_pinned(arena) || surroundings_.reporter.prints_expected()) return nullptr;
  return reinterpret_cast<Unit*>(arena.data() + message.early - size);
}

void CudaBackend::handle(protocol::ReadBuffer&& message) {
  check_part(message.size);
  protocol::EarlyUnit* const early = early_units(message);
  submit(message.command, [&] {
    const auto memory = buffer(message.buffer);
    check_range(message.offset, message.size, memory->size, "a read");
    Work work;
    work.data = std::make_shared<std::shared_ptr<std::byte>>();
    work.size = message.size;
    work.part = message.part;
    work.keep = {memory, work.data};
    // Staging memory is taken when it is needed, not while the command is held, nor where the data goes to
    // the units.
    read(
        work, memory->address + message.offset, message.size,
        [this, data = work.data, size = message.size] {
          *data = outgoing(size);
          return data->get();
        },
        early);
    return work;
  });
}

void CudaBackend::handle(protocol::ReadToSegment&& message) {
  const auto place = surroundings_.peers.segment(message.segment, message.at, message.size);
  submit(message.command, [&] {
    const auto memory = buffer(message.buffer);
    check_range(message.offset, message.size, memory->size, "a read");
    Work work;
    work.keep = {memory, place};
    // Memory that could not be pinned the driver would wait for.
    if (is_pinned({place.get(), message.size})) {
      read(work, memory->address + message.offset, message.size, [place] { return place.get(); });
      return work;
    }
    const auto block = std::make_shared<std::shared_ptr<std::byte>>();
    read(work, memory->address + message.offset, message.size, [this, block, size = message.size] {
      *block = staging_.take(size);
      return block->get();
    });
    work.before_report = [place, block, size = message.size] {
      std::memcpy(place.get(), block->get(), size);
      block->reset();
    };
    return work;
  });
}

void CudaBackend::handle(protocol::WriteBuffer&& message) {
  check_part(message.data.bytes.size());
  submit(message.command, [&] { return write(message.buffer, message.offset, message.data); });
}

void CudaBackend::handle(protocol::WriteFromSegment&& message) {
  const auto place = surroundings_.peers.segment(message.segment, message.at, message.size);
  submit(message.command,
         [&] { return write(message.buffer, message.offset, {{place.get(), message.size}, place}); });
}

CudaBackend::Work CudaBackend::write(ObjectId id, std::uint64_t offset, const protocol::Payload& data) {
  const auto memory = buffer(id);
  check_range(offset, data.bytes.size(), memory->size, "a write");
  const auto staged = std::make_shared<std::shared_ptr<std::byte>>();
  Work work;
  work.keep = {memory, staged};
  work.run = [this, staged, data, address = memory->address + offset](CUstream stream) {
    if (data.bytes.empty()) return;
    *staged = pinned(data);
    CLIQUE_CUDA(MemcpyHtoDAsync(address, staged->get(), data.bytes.size(), stream));
  };
  return work;
}

void CudaBackend::handle(protocol::ReadBufferRect&& message) {
  const std::uint64_t size = volume(message.region);
  check_part(size);
  submit(message.command, [&] {
    const auto memory = buffer(message.buffer);
    check_rect(message.origin, message.region, message.row_pitch, message.slice_pitch, memory->size);
    Work work;
    work.data = std::make_shared<std::shared_ptr<std::byte>>();
    work.size = size;
    work.part = message.part;
    work.keep = {memory, work.data};
    work.run = [this, data = work.data, size, region = message.region,
                from = place_of(*memory, message.origin, message.region, message.row_pitch,
                                message.slice_pitch)](CUstream stream) {
      *data = outgoing(size);
      copy(from, dense_host(data->get(), region), native(region), stream);
    };
    return work;
  });
}

void CudaBackend::handle(protocol::WriteBufferRect&& message) {
  check_part(message.data.bytes.size());
  if (volume(message.region) != message.data.bytes.size())
    throw RuleBroken("a rectangle and data of another size");
  submit(message.command, [&] {
    const auto memory = buffer(message.buffer);
    check_rect(message.origin, message.region, message.row_pitch, message.slice_pitch, memory->size);
    const auto staged = std::make_shared<std::shared_ptr<std::byte>>();
    Work work;
    work.keep = {memory, staged};
    work.run = [this, staged, data = message.data, region = message.region,
                to = place_of(*memory, message.origin, message.region, message.row_pitch,
                              message.slice_pitch)](CUstream stream) {
      if (data.bytes.empty()) return;
      *staged = pinned(data);
      copy(dense_host(staged->get(), region), to, native(region), stream);
    };
    return work;
  });
}

void CudaBackend::handle(protocol::CopyBuffer&& message) {
  submit(message.command, [&] {
    const auto source = buffer(message.source);
    const auto destination = buffer(message.destination);
    check_range(message.source_offset, message.size, source->size, "a copy's source");
    check_range(message.destination_offset, message.size, destination->size, "a copy's destination");
    Work work;
    work.keep = {source, destination};
    work.run = [from = source->address + message.source_offset,
                to = destination->address + message.destination_offset,
                size = message.size](CUstream stream) {
      if (size > 0) CLIQUE_CUDA(MemcpyDtoDAsync(to, from, size, stream));
    };
    return work;
  });
}

void CudaBackend::handle(protocol::CopyBufferRect&& message) {
  submit(message.command, [&] {
    const auto source = buffer(message.source);
    const auto destination = buffer(message.destination);
    check_rect(message.source_origin, message.region, message.source_pitch[0], message.source_pitch[1],
               source->size);
    check_rect(message.destination_origin, message.region, message.destination_pitch[0],
               message.destination_pitch[1], destination->size);
    Work work;
    work.keep = {source, destination};
    work.run = [from = place_of(*source, message.source_origin, message.region, message.source_pitch[0],
                                message.source_pitch[1]),
                to = place_of(*destination, message.destination_origin, message.region,
                              message.destination_pitch[0], message.destination_pitch[1]),
                region = native(message.region)](CUstream stream) { copy(from, to, region, stream); };
    return work;
  });
}

void CudaBackend::handle(protocol::FillBuffer&& message) {
  const std::size_t length = message.pattern.size();
  if (length == 0 || length > 128 || (length & (length - 1)) != 0)
    throw RuleBroken("a pattern of " + std::to_string(length) + " bytes");
  if (message.offset % length != 0 || message.size % length != 0)
    throw RuleBroken("a fill that is no multiple of its pattern");
  submit(message.command, [&] {
    const auto memory = buffer(message.buffer);
    check_range(message.offset, message.size, memory->size, "a fill");
    Work work;
    work.keep = {memory};
    work.run = [this, address = memory->address + message.offset, size = message.size,
                pattern = message.pattern](CUstream stream) {
      filler_.fill(address, size, pattern, stream, stream != capturing_);
    };
    return work;
  });
}

}  // namespace clique::daemon::cuda
