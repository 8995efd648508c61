// Commands on buffers: OpenCL 3.0, sections 5.2.2 and 5.2.3.
#include <algorithm>
#include <bit>
#include <cstdlib>

#include "icd/api/arguments.hpp"
#include "icd/api/entry_points.hpp"
#include "icd/api/transfer.hpp"
#include "icd/api/works.hpp"
#include "icd/core/commands/host_transfers.hpp"
#include "icd/core/commands/work.hpp"
#include "icd/core/transfers/early_read.hpp"

namespace clique::icd::api {

namespace {

/// A blocking write of at most this many bytes is copied instead of waited for.
constexpr std::size_t kCopiedWrite = 64U << 10U;

/// Decides whether a blocking write may return before it has completed. That is so if nobody can notice: its
/// bytes are copied, it waits for no event that could fail, no pending command will still write to the source
/// memory, and later commands run after it.
/// @returns a lock to hold until the write is enqueued; none if it has to complete first.
std::unique_lock<std::mutex> may_copy(Queue& queue, const void* memory, std::size_t size,
                                      std::span<const Ref<Event>> waits) {
  const bool independent =
      size <= kCopiedWrite && waits.empty() &&
      queue.context()->host_reads().pending({static_cast<const std::byte*>(memory), size}).empty();
  return independent ? queue.begin_early_write() : std::unique_lock<std::mutex>();
}

/// The box of a rect command. Throws Error(CL_INVALID_VALUE) if the region is empty or the pitches are too
/// small for it.
Box box_of(const protocol::Triple& origin, const protocol::Triple& region, size_t row_pitch,
           size_t slice_pitch) {
  require(region[0] != 0 && region[1] != 0 && region[2] != 0, CL_INVALID_VALUE, "region is ", region[0],
          " x ", region[1], " x ", region[2], ", which is empty");
  require(row_pitch == 0 || row_pitch >= region[0], CL_INVALID_VALUE, "the row pitch is ", row_pitch,
          "; a row has ", region[0], " bytes");
  const std::size_t row = row_pitch != 0 ? row_pitch : region[0];
  std::size_t plane = 0;
  require(!__builtin_mul_overflow(region[1], row, &plane), CL_INVALID_VALUE, "region is ", region[0], " x ",
          region[1], " x ", region[2], ", which is too large");
  require(slice_pitch == 0 || (slice_pitch >= plane && slice_pitch % row == 0), CL_INVALID_VALUE,
          "the slice pitch is ", slice_pitch, "; it must be a multiple of the row pitch, ", row,
          ", and not less than ", plane);
  return {origin, {row, slice_pitch != 0 ? slice_pitch : plane}};
}

/// Checks that the box lies within `size` bytes. Does not overflow. Throws Error(CL_INVALID_VALUE).
void require_within(const Box& box, const protocol::Triple& region, std::size_t size) {
  __extension__ using Wide = unsigned __int128;
  const auto last = [&](int i) { return static_cast<Wide>(box.origin[i]) + region[i] - 1; };
  const Wide end = last(0) + last(1) * box.pitches.row + last(2) * box.pitches.slice + 1;
  require(end <= size, CL_INVALID_VALUE, "the region exceeds the buffer, which has ", size, " bytes");
}

/// A box in a buffer, and one of the same region in host memory.
struct HostRect {
  Ref<Memory> memory;
  protocol::Triple region;
  Box box;
  Box host;
};

/// The checked arguments of a rect command between a buffer and host memory. Throws Error.
HostRect host_rect(const Queue& queue, cl_mem buffer, const size_t* buffer_origin, const size_t* host_origin,
                   const size_t* region, size_t buffer_row_pitch, size_t buffer_slice_pitch,
                   size_t host_row_pitch, size_t host_slice_pitch, const void* ptr) {
  Ref<Memory> memory = buffer_for(queue, buffer);
  const auto size = triple(region);
  const Box box = box_of(triple(buffer_origin), size, buffer_row_pitch, buffer_slice_pitch);
  const Box host = box_of(triple(host_origin), size, host_row_pitch, host_slice_pitch);
  require_within(box, size, memory->size());
  require(ptr != nullptr, CL_INVALID_VALUE, "ptr is NULL");
  return {std::move(memory), size, box, host};
}

/// Enqueues a copy on the device instead of a transfer whose host memory is a device allocation
/// (device_part()).
template <typename M>
void submit(Queue& queue, Work<M> work, bool blocking, std::span<const Ref<Event>> waits, cl_event* event) {
  conclude(queue.enqueue(std::move(work), waits, report_if(blocking || event != nullptr)), blocking, waits,
           event);
}

bool same_content(const Memory& a, const Memory& b) {
  const auto root = [](const Memory* memory) {
    while (memory->base()) memory = memory->base().get();
    return memory;
  };
  return root(&a) == root(&b);
}

/// True if two boxes with the same region and pitches overlap. They begin at the bytes a and b of the same
/// content.
bool boxes_meet(std::uint64_t a, std::uint64_t b, const protocol::Triple& region, const Pitches& pitches) {
  // They overlap if the distance between their beginnings is that of two bytes of one box,
  // dx + dy * row + dz * slice. For each dz there are two dy for which dx is shorter than a row.
  const auto distance = static_cast<std::int64_t>(b - a);
  const auto row = static_cast<std::int64_t>(pitches.row);
  const auto inside = [&](std::int64_t delta, int i) {
    return static_cast<std::uint64_t>(std::abs(delta)) < region[i];
  };
  const auto slices = static_cast<std::int64_t>(region[2]);
  for (std::int64_t dz = 1 - slices; dz < slices; ++dz) {
    const std::int64_t rest = distance - dz * static_cast<std::int64_t>(pitches.slice);
    const std::int64_t dy = rest / row;
    const std::int64_t dx = rest % row;
    const std::int64_t sign = rest < 0 ? -1 : 1;
    if (inside(dy, 1) && inside(dx, 0)) return true;
    if (inside(dy + sign, 1) && inside(dx - sign * row, 0)) return true;
  }
  return false;
}

}  // namespace

cl_int CL_API_CALL clEnqueueReadBuffer(cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_read,
                                       size_t offset, size_t size, void* ptr, cl_uint num_events_in_wait_list,
                                       const cl_event* event_wait_list, cl_event* event) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  const Ref<Memory> memory = buffer_for(*queue, buffer);
  require_range(offset, size, *memory);
  require(ptr != nullptr, CL_INVALID_VALUE, "ptr is NULL");
  const auto waits = wait_list(*queue->context(), num_events_in_wait_list, event_wait_list);
  require_host_read(*memory);
  const bool blocking = blocking_read != CL_FALSE;
  // SYCL's runtime copies from its buffers to device allocations in this way.
  if (const SvmPointer to = device_part(*queue, ptr, size); to && size != 0) {
    submit(*queue, icd::copy(memory, to.allocation, offset, to.offset, size, CL_COMMAND_READ_BUFFER),
           blocking, waits, event);
    return CL_SUCCESS;
  }
  touch_destination(ptr, size);
  const CommandInfo command{CL_COMMAND_READ_BUFFER, waits};
  const auto early =
      blocking && event == nullptr && !memory->sparse() ? queue->early_read(size, waits) : nullptr;
  const Ref<Event> read =
      size == 0 ? queue->nothing(command, report_if(event != nullptr || blocking))
                : read_buffer(*queue, *memory, offset, {static_cast<std::byte*>(ptr), size}, command, early);
  if (early && early->wait(*read, ptr)) return CL_SUCCESS;
  conclude(read, blocking, waits, event);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue command_queue, cl_mem buffer, cl_bool blocking_write,
                                        size_t offset, size_t size, const void* ptr,
                                        cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                        cl_event* event) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  const Ref<Memory> memory = buffer_for(*queue, buffer);
  require_range(offset, size, *memory);
  require(ptr != nullptr, CL_INVALID_VALUE, "ptr is NULL");
  const auto waits = wait_list(*queue->context(), num_events_in_wait_list, event_wait_list);
  require_host_write(*memory);
  if (const SvmPointer from = device_part(*queue, ptr, size); from && size != 0) {
    submit(*queue, icd::copy(from.allocation, memory, from.offset, offset, size, CL_COMMAND_WRITE_BUFFER),
           blocking_write != CL_FALSE, waits, event);
    return CL_SUCCESS;
  }
  touch_source(ptr, size);
  const auto lock = blocking_write != CL_FALSE && event == nullptr && !memory->sparse()
                        ? may_copy(*queue, ptr, size, waits)
                        : std::unique_lock<std::mutex>();
  const bool copy = lock.owns_lock();
  const bool wait = blocking_write != CL_FALSE && !copy;
  const CommandInfo command{CL_COMMAND_WRITE_BUFFER, waits};
  const EventUse use = report_if(event != nullptr || wait);
  const HostContent content{.data = static_cast<const std::byte*>(ptr), .copy = copy};
  const Ref<Event> write = size == 0 ? queue->nothing(command, use)
                                     : write_buffer(*queue, *memory, offset, size, content, command, use);
  if (copy && write) queue->end_early_write(*write);
  conclude(write, wait, waits, event);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clEnqueueReadBufferRect(cl_command_queue command_queue, cl_mem buffer,
                                           cl_bool blocking_read, const size_t* buffer_origin,
                                           const size_t* host_origin, const size_t* region,
                                           size_t buffer_row_pitch, size_t buffer_slice_pitch,
                                           size_t host_row_pitch, size_t host_slice_pitch, void* ptr,
                                           cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                           cl_event* event) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  const HostRect rect = host_rect(*queue, buffer, buffer_origin, host_origin, region, buffer_row_pitch,
                                  buffer_slice_pitch, host_row_pitch, host_slice_pitch, ptr);
  const auto waits = wait_list(*queue->context(), num_events_in_wait_list, event_wait_list);
  require_host_read(*rect.memory);
  std::byte* const to = static_cast<std::byte*>(ptr) + rect.host.begin();
  const std::size_t size = extent(rect.region, rect.host.pitches);
  if (const SvmPointer part = device_part(*queue, to, size)) {
    auto work = icd::copy_rect(rect.memory, part.allocation, rect.box,
                               {{part.offset, 0, 0}, rect.host.pitches}, rect.region);
    work.type = CL_COMMAND_READ_BUFFER_RECT;
    submit(*queue, std::move(work), blocking_read != CL_FALSE, waits, event);
    return CL_SUCCESS;
  }
  touch_destination(to, size);
  conclude(read_rect(*queue, *rect.memory, rect.box, rect.region, to, rect.host.pitches,
                     {CL_COMMAND_READ_BUFFER_RECT, waits}),
           blocking_read != CL_FALSE, waits, event);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clEnqueueWriteBufferRect(cl_command_queue command_queue, cl_mem buffer,
                                            cl_bool blocking_write, const size_t* buffer_origin,
                                            const size_t* host_origin, const size_t* region,
                                            size_t buffer_row_pitch, size_t buffer_slice_pitch,
                                            size_t host_row_pitch, size_t host_slice_pitch, const void* ptr,
                                            cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                            cl_event* event) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  const HostRect rect = host_rect(*queue, buffer, buffer_origin, host_origin, region, buffer_row_pitch,
                                  buffer_slice_pitch, host_row_pitch, host_slice_pitch, ptr);
  const auto waits = wait_list(*queue->context(), num_events_in_wait_list, event_wait_list);
  require_host_write(*rect.memory);
  const bool blocking = blocking_write != CL_FALSE;
  const HostContent content{static_cast<const std::byte*>(ptr) + rect.host.begin(), rect.host.pitches, {}};
  const std::size_t size = extent(rect.region, rect.host.pitches);
  if (const SvmPointer part = device_part(*queue, content.data, size)) {
    auto work = icd::copy_rect(part.allocation, rect.memory, {{part.offset, 0, 0}, rect.host.pitches},
                               rect.box, rect.region);
    work.type = CL_COMMAND_WRITE_BUFFER_RECT;
    submit(*queue, std::move(work), blocking, waits, event);
    return CL_SUCCESS;
  }
  touch_source(content.data, size);
  conclude(write_rect(*queue, *rect.memory, rect.box, rect.region, content,
                      {CL_COMMAND_WRITE_BUFFER_RECT, waits}, report_if(blocking || event != nullptr)),
           blocking, waits, event);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

Work<protocol::CopyBuffer> copy_buffer(const Queue& queue, cl_mem src_buffer, cl_mem dst_buffer,
                                       size_t src_offset, size_t dst_offset, size_t size) {
  const Ref<Memory> source = buffer_for(queue, src_buffer);
  const Ref<Memory> destination = buffer_for(queue, dst_buffer);
  require_range(src_offset, size, *source);
  require_range(dst_offset, size, *destination);
  require(!same_content(*source, *destination) || !meet(source->coherence_begin() + src_offset,
                                                        destination->coherence_begin() + dst_offset, size),
          CL_MEM_COPY_OVERLAP, size, " bytes at src_offset ", src_offset, " and at dst_offset ", dst_offset,
          " overlap");
  return copy(source, destination, src_offset, dst_offset, size);
}

cl_int CL_API_CALL clEnqueueCopyBuffer(cl_command_queue command_queue, cl_mem src_buffer, cl_mem dst_buffer,
                                       size_t src_offset, size_t dst_offset, size_t size,
                                       cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                       cl_event* event) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  auto work = copy_buffer(*queue, src_buffer, dst_buffer, src_offset, dst_offset, size);
  return enqueue(*queue, std::move(work), num_events_in_wait_list, event_wait_list, event);
}
CLIQUE_CATCH_STATUS

Work<protocol::CopyBufferRect> copy_buffer_rect(const Queue& queue, cl_mem src_buffer, cl_mem dst_buffer,
                                                const size_t* src_origin, const size_t* dst_origin,
                                                const size_t* region, size_t src_row_pitch,
                                                size_t src_slice_pitch, size_t dst_row_pitch,
                                                size_t dst_slice_pitch) {
  const Ref<Memory> source = buffer_for(queue, src_buffer);
  const Ref<Memory> destination = buffer_for(queue, dst_buffer);
  const auto extent = triple(region);
  const Box from = box_of(triple(src_origin), extent, src_row_pitch, src_slice_pitch);
  const Box to = box_of(triple(dst_origin), extent, dst_row_pitch, dst_slice_pitch);
  require_within(from, extent, source->size());
  require_within(to, extent, destination->size());
  if (source == destination)
    require(from.pitches.row == to.pitches.row && from.pitches.slice == to.pitches.slice, CL_INVALID_VALUE,
            "source and destination are the same buffer; their pitches must be equal");
  if (same_content(*source, *destination)) {
    const bool same_pitches = from.pitches.row == to.pitches.row && from.pitches.slice == to.pitches.slice;
    const std::uint64_t a = source->coherence_begin() + from.begin();
    const std::uint64_t b = destination->coherence_begin() + to.begin();
    const bool overlap = same_pitches ? boxes_meet(a, b, extent, from.pitches)
                                      : a < destination->coherence_begin() + to.end(extent) &&
                                            b < source->coherence_begin() + from.end(extent);
    require(!overlap, CL_MEM_COPY_OVERLAP, "the source and destination regions overlap");
  }
  return copy_rect(source, destination, from, to, extent);
}

cl_int CL_API_CALL clEnqueueCopyBufferRect(cl_command_queue command_queue, cl_mem src_buffer,
                                           cl_mem dst_buffer, const size_t* src_origin,
                                           const size_t* dst_origin, const size_t* region,
                                           size_t src_row_pitch, size_t src_slice_pitch, size_t dst_row_pitch,
                                           size_t dst_slice_pitch, cl_uint num_events_in_wait_list,
                                           const cl_event* event_wait_list, cl_event* event) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  auto work = copy_buffer_rect(*queue, src_buffer, dst_buffer, src_origin, dst_origin, region, src_row_pitch,
                               src_slice_pitch, dst_row_pitch, dst_slice_pitch);
  return enqueue(*queue, std::move(work), num_events_in_wait_list, event_wait_list, event);
}
CLIQUE_CATCH_STATUS

std::span<const std::byte> pattern_bytes(const Queue& queue, const void* pattern, size_t size) {
  require(pattern != nullptr && std::has_single_bit(size) && size <= 128, CL_INVALID_VALUE,
          pattern == nullptr ? "pattern is NULL; pattern_size is " : "pattern_size is ", size,
          "; allowed are 1, 2, 4, 8, 16, 32, 64 and 128");
  require_accessible(queue, pattern, size, "pattern");
  return {static_cast<const std::byte*>(pattern), size};
}

Work<protocol::FillBuffer> fill_buffer(const Queue& queue, cl_mem buffer, const void* pattern,
                                       size_t pattern_size, size_t offset, size_t size) {
  const Ref<Memory> memory = buffer_for(queue, buffer);
  require_range(offset, size, *memory);
  const auto bytes = pattern_bytes(queue, pattern, pattern_size);
  require(offset % pattern_size == 0 && size % pattern_size == 0, CL_INVALID_VALUE, "offset is ", offset,
          " and size is ", size, "; both must be multiples of pattern_size, ", pattern_size);
  return fill(memory, bytes, offset, size);
}

cl_int CL_API_CALL clEnqueueFillBuffer(cl_command_queue command_queue, cl_mem buffer, const void* pattern,
                                       size_t pattern_size, size_t offset, size_t size,
                                       cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                       cl_event* event) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  auto work = fill_buffer(*queue, buffer, pattern, pattern_size, offset, size);
  return enqueue(*queue, std::move(work), num_events_in_wait_list, event_wait_list, event);
}
CLIQUE_CATCH_STATUS

}  // namespace clique::icd::api
