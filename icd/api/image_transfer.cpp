// Commands on images: OpenCL 3.0, sections 5.3.3 to 5.3.5.

#include "icd/api/arguments.hpp"
#include "icd/api/entry_points.hpp"
#include "icd/api/transfer.hpp"
#include "icd/api/works.hpp"
#include "icd/core/commands/host_transfers.hpp"

namespace clique::icd::api {

namespace {

/// The layout of host memory for a region of an image. Throws Error(CL_INVALID_VALUE).
Pitches host_layout(const Image& image, const protocol::Triple& region, size_t row_pitch,
                    size_t slice_pitch) {
  const std::size_t row = region[0] * image.element_size();
  require(row_pitch == 0 || row_pitch >= row, CL_INVALID_VALUE, "row_pitch is ", row_pitch, "; a row has ",
          row, " bytes");
  const std::size_t pitch = row_pitch != 0 ? row_pitch : row;
  if (image.type() == CL_MEM_OBJECT_IMAGE1D_ARRAY) {
    require(slice_pitch == 0 || slice_pitch >= pitch, CL_INVALID_VALUE, "slice_pitch is ", slice_pitch,
            "; a layer has ", pitch, " bytes");
    const std::size_t layer = slice_pitch != 0 ? slice_pitch : pitch;
    return {layer, layer * region[1]};
  }
  if (image.dimensions() < 3) {
    require(slice_pitch == 0, CL_INVALID_VALUE, "slice_pitch is ", slice_pitch,
            "; it must be 0, since the image has no slices");
    return {pitch, pitch * region[1]};
  }
  require(slice_pitch == 0 || slice_pitch >= pitch * region[1], CL_INVALID_VALUE, "slice_pitch is ",
          slice_pitch, "; a slice has ", pitch * region[1], " bytes");
  return {pitch, slice_pitch != 0 ? slice_pitch : pitch * region[1]};
}

/// The bytes in host memory from the first byte of a region of an image to the end of its last byte.
std::size_t host_extent(const Image& image, const protocol::Triple& region, const Pitches& pitches) {
  return extent({region[0] * image.element_size(), region[1], region[2]}, pitches);
}

}  // namespace

void check_region(const Image& image, const protocol::Triple& origin, const protocol::Triple& region) {
  const auto extent = image.extent();
  for (unsigned i = 0; i < 3; ++i) {
    require(region[i] != 0, CL_INVALID_VALUE, "region[", i, "] is 0");
    if (i < image.dimensions()) {
      require(within(origin[i], region[i], extent[i]), CL_INVALID_VALUE, "origin[", i, "] is ", origin[i],
              " and region[", i, "] is ", region[i], "; the image's extent is ", extent[i]);
    } else {
      require(origin[i] == 0 && region[i] == 1, CL_INVALID_VALUE, "origin[", i, "] is ", origin[i],
              " and region[", i, "] is ", region[i], "; the image has ", image.dimensions(),
              " dimensions, so they must be 0 and 1");
    }
  }
}

cl_int CL_API_CALL clEnqueueReadImage(cl_command_queue command_queue, cl_mem image, cl_bool blocking_read,
                                      const size_t* origin, const size_t* region, size_t row_pitch,
                                      size_t slice_pitch, void* ptr, cl_uint num_events_in_wait_list,
                                      const cl_event* event_wait_list, cl_event* event) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  const Ref<Image> object = image_for(*queue, image);
  const auto from = triple(origin);
  const auto extent = triple(region);
  check_region(*object, from, extent);
  const Pitches pitches = host_layout(*object, extent, row_pitch, slice_pitch);
  require(ptr != nullptr, CL_INVALID_VALUE, "ptr is NULL");
  const auto waits = wait_list(*queue->context(), num_events_in_wait_list, event_wait_list);
  require_host_read(*object);
  const std::size_t size = host_extent(*object, extent, pitches);
  require_accessible(*queue, ptr, size, "ptr");
  touch_destination(ptr, size);
  conclude(read_image(*queue, *object, from, extent, ptr, pitches, {CL_COMMAND_READ_IMAGE, waits}),
           blocking_read != CL_FALSE, waits, event);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clEnqueueWriteImage(cl_command_queue command_queue, cl_mem image, cl_bool blocking_write,
                                       const size_t* origin, const size_t* region, size_t input_row_pitch,
                                       size_t input_slice_pitch, const void* ptr,
                                       cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                       cl_event* event) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  const Ref<Image> object = image_for(*queue, image);
  const auto to = triple(origin);
  const auto extent = triple(region);
  check_region(*object, to, extent);
  const Pitches pitches = host_layout(*object, extent, input_row_pitch, input_slice_pitch);
  require(ptr != nullptr, CL_INVALID_VALUE, "ptr is NULL");
  const auto waits = wait_list(*queue->context(), num_events_in_wait_list, event_wait_list);
  require_host_write(*object);
  const bool blocking = blocking_write != CL_FALSE;
  const HostContent content{static_cast<const std::byte*>(ptr), pitches, {}};
  const std::size_t size = host_extent(*object, extent, pitches);
  require_accessible(*queue, ptr, size, "ptr");
  touch_source(ptr, size);
  conclude(write_image(*queue, *object, to, extent, content, {CL_COMMAND_WRITE_IMAGE, waits},
                       report_if(blocking || event != nullptr)),
           blocking, waits, event);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

Work<protocol::CopyImage> copy_image(const Queue& queue, cl_mem src_image, cl_mem dst_image,
                                     const size_t* src_origin, const size_t* dst_origin,
                                     const size_t* region) {
  const Ref<Image> source = image_for(queue, src_image);
  const Ref<Image> destination = image_for(queue, dst_image);
  require(source->format().image_channel_order == destination->format().image_channel_order &&
              source->format().image_channel_data_type == destination->format().image_channel_data_type,
          CL_IMAGE_FORMAT_MISMATCH, "the source and destination images have different formats");
  const auto from = triple(src_origin);
  const auto to = triple(dst_origin);
  const auto extent = triple(region);
  check_region(*source, from, extent);
  check_region(*destination, to, extent);
  if (source == destination) {
    const bool overlap =
        meet(from[0], to[0], extent[0]) && meet(from[1], to[1], extent[1]) && meet(from[2], to[2], extent[2]);
    require(!overlap, CL_MEM_COPY_OVERLAP, "the source and destination regions overlap");
  }
  return icd::copy_image(source, destination, from, to, extent);
}

cl_int CL_API_CALL clEnqueueCopyImage(cl_command_queue command_queue, cl_mem src_image, cl_mem dst_image,
                                      const size_t* src_origin, const size_t* dst_origin,
                                      const size_t* region, cl_uint num_events_in_wait_list,
                                      const cl_event* event_wait_list, cl_event* event) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  auto work = copy_image(*queue, src_image, dst_image, src_origin, dst_origin, region);
  return enqueue(*queue, std::move(work), num_events_in_wait_list, event_wait_list, event);
}
CLIQUE_CATCH_STATUS

Work<protocol::CopyImageToBuffer> copy_image_to_buffer(const Queue& queue, cl_mem src_image,
                                                       cl_mem dst_buffer, const size_t* src_origin,
                                                       const size_t* region, size_t dst_offset) {
  const Ref<Image> source = image_for(queue, src_image);
  const Ref<Memory> destination = buffer_for(queue, dst_buffer);
  require(source->parent() != destination, CL_INVALID_MEM_OBJECT, "the image was created from the buffer");
  const auto from = triple(src_origin);
  const auto extent = triple(region);
  check_region(*source, from, extent);
  require_range(dst_offset, extent[0] * extent[1] * extent[2] * source->element_size(), *destination);
  return icd::copy_image_to_buffer(source, destination, from, extent, dst_offset);
}

cl_int CL_API_CALL clEnqueueCopyImageToBuffer(cl_command_queue command_queue, cl_mem src_image,
                                              cl_mem dst_buffer, const size_t* src_origin,
                                              const size_t* region, size_t dst_offset,
                                              cl_uint num_events_in_wait_list,
                                              const cl_event* event_wait_list, cl_event* event) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  auto work = copy_image_to_buffer(*queue, src_image, dst_buffer, src_origin, region, dst_offset);
  return enqueue(*queue, std::move(work), num_events_in_wait_list, event_wait_list, event);
}
CLIQUE_CATCH_STATUS

Work<protocol::CopyBufferToImage> copy_buffer_to_image(const Queue& queue, cl_mem src_buffer,
                                                       cl_mem dst_image, size_t src_offset,
                                                       const size_t* dst_origin, const size_t* region) {
  const Ref<Memory> source = buffer_for(queue, src_buffer);
  const Ref<Image> destination = image_for(queue, dst_image);
  require(destination->parent() != source, CL_INVALID_MEM_OBJECT, "the image was created from the buffer");
  const auto to = triple(dst_origin);
  const auto extent = triple(region);
  check_region(*destination, to, extent);
  require_range(src_offset, extent[0] * extent[1] * extent[2] * destination->element_size(), *source);
  return icd::copy_buffer_to_image(source, destination, src_offset, to, extent);
}

cl_int CL_API_CALL clEnqueueCopyBufferToImage(cl_command_queue command_queue, cl_mem src_buffer,
                                              cl_mem dst_image, size_t src_offset, const size_t* dst_origin,
                                              const size_t* region, cl_uint num_events_in_wait_list,
                                              const cl_event* event_wait_list, cl_event* event) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  auto work = copy_buffer_to_image(*queue, src_buffer, dst_image, src_offset, dst_origin, region);
  return enqueue(*queue, std::move(work), num_events_in_wait_list, event_wait_list, event);
}
CLIQUE_CATCH_STATUS

Work<protocol::FillImage> fill_image(const Queue& queue, cl_mem image, const void* fill_color,
                                     const size_t* origin, const size_t* region) {
  const Ref<Image> object = image_for(queue, image);
  require(fill_color != nullptr, CL_INVALID_VALUE, "fill_color is NULL");
  const auto to = triple(origin);
  const auto extent = triple(region);
  check_region(*object, to, extent);
  const std::size_t color_size = object->format().image_channel_order == CL_DEPTH ? 4 : 16;
  require_accessible(queue, fill_color, color_size, "fill_color");
  const std::span<const std::byte> color(static_cast<const std::byte*>(fill_color), color_size);
  return icd::fill_image(object, color, to, extent);
}

cl_int CL_API_CALL clEnqueueFillImage(cl_command_queue command_queue, cl_mem image, const void* fill_color,
                                      const size_t* origin, const size_t* region,
                                      cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                      cl_event* event) try {
  const Ref<Queue> queue = get<Queue>(command_queue);
  auto work = fill_image(*queue, image, fill_color, origin, region);
  return enqueue(*queue, std::move(work), num_events_in_wait_list, event_wait_list, event);
}
CLIQUE_CATCH_STATUS

}  // namespace clique::icd::api
