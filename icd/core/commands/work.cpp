#include "icd/core/commands/work.hpp"

#include "icd/core/objects/image.hpp"

namespace clique::icd {

namespace {

protocol::Bytes bytes_of(std::span<const std::byte> data) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(data.data());
  return {bytes, bytes + data.size()};
}

/// The access of a command that writes a region of an image.
Access written(Image& image, const protocol::Triple& region) {
  return Access::all(image, image.covers(region) ? Access::Overwrite : Access::ReadWrite);
}

std::size_t bytes_in(const Image& image, const protocol::Triple& region) {
  return region[0] * region[1] * region[2] * image.element_size();
}

}  // namespace

Work<protocol::CopyBuffer> copy(const Ref<Memory>& source, const Ref<Memory>& destination,
                                std::size_t source_offset, std::size_t destination_offset, std::size_t size,
                                cl_command_type type) {
  return {type,
          {{}, source->id(), destination->id(), source_offset, destination_offset, size},
          {{source.get(), source_offset, size, Access::Read},
           {destination.get(), destination_offset, size, Access::Overwrite}},
          {source, destination},
          size == 0};
}

Work<protocol::CopyBufferRect> copy_rect(const Ref<Memory>& source, const Ref<Memory>& destination,
                                         const Box& from, const Box& to, const protocol::Triple& region) {
  return {CL_COMMAND_COPY_BUFFER_RECT,
          {{},
           source->id(),
           destination->id(),
           from.origin,
           to.origin,
           region,
           {from.pitches.row, from.pitches.slice},
           {to.pitches.row, to.pitches.slice}},
          {{source.get(), from.begin(), from.end(region) - from.begin(), Access::Read},
           {destination.get(), to.begin(), to.end(region) - to.begin(), Access::ReadWrite}},
          {source, destination}};
}

Work<protocol::FillBuffer> fill(const Ref<Memory>& buffer, std::span<const std::byte> pattern,
                                std::size_t offset, std::size_t size, cl_command_type type) {
  return {type,
          {{}, buffer->id(), bytes_of(pattern), offset, size},
          {{buffer.get(), offset, size, Access::Overwrite}},
          {buffer},
          size == 0};
}

Work<protocol::CopyImage> copy_image(const Ref<Image>& source, const Ref<Image>& destination,
                                     const protocol::Triple& source_origin,
                                     const protocol::Triple& destination_origin,
                                     const protocol::Triple& region) {
  return {CL_COMMAND_COPY_IMAGE,
          {{}, source->id(), destination->id(), source_origin, destination_origin, region},
          {Access::all(*source, Access::Read), written(*destination, region)},
          {source, destination}};
}

Work<protocol::CopyImageToBuffer> copy_image_to_buffer(const Ref<Image>& source,
                                                       const Ref<Memory>& destination,
                                                       const protocol::Triple& origin,
                                                       const protocol::Triple& region, std::size_t offset) {
  return {CL_COMMAND_COPY_IMAGE_TO_BUFFER,
          {{}, source->id(), destination->id(), origin, region, offset},
          {Access::all(*source, Access::Read),
           {destination.get(), offset, bytes_in(*source, region), Access::Overwrite}},
          {source, destination}};
}

Work<protocol::CopyBufferToImage> copy_buffer_to_image(const Ref<Memory>& source,
                                                       const Ref<Image>& destination, std::size_t offset,
                                                       const protocol::Triple& origin,
                                                       const protocol::Triple& region) {
  return {
      CL_COMMAND_COPY_BUFFER_TO_IMAGE,
      {{}, source->id(), destination->id(), offset, origin, region},
      {{source.get(), offset, bytes_in(*destination, region), Access::Read}, written(*destination, region)},
      {source, destination}};
}

Work<protocol::FillImage> fill_image(const Ref<Image>& image, std::span<const std::byte> color,
                                     const protocol::Triple& origin, const protocol::Triple& region) {
  return {CL_COMMAND_FILL_IMAGE,
          {{}, image->id(), bytes_of(color), origin, region},
          {written(*image, region)},
          {image}};
}

}  // namespace clique::icd
