#include "daemon/backend/cuda/handlers/images.hpp"

#include <algorithm>
#include <cstring>

namespace clique::daemon::cuda {

namespace {

/// Bytes that a fill prepares in linear memory, and then copies to the image as often as needed.
constexpr std::uint64_t kFillBlock = 4U << 20U;

/// Bytes of a region of the image without gaps. The region must lie inside the image.
std::uint64_t region_size(const protocol::Triple& region, const Memory& image) {
  return volume(region) * image.image->format().element_size();
}

void check_inside(const protocol::Triple& origin, const protocol::Triple& region, const Memory& image) {
  check_region(origin, region, image.image->shape().extent);
}

}  // namespace

void Images::handle(protocol::ReadImage&& message) {
  check_part(message.size);
  commands_.submit(message.command, [&] {
    const auto memory = memory_.image(message.image);
    check_inside(message.origin, message.region, *memory);
    check_data_size(region_size(message.region, *memory), message.size);
    Work work;
    work.data = std::make_shared<std::shared_ptr<std::byte>>();
    work.size = message.size;
    work.part = message.part;
    work.keep = {memory, work.data};
    work.run = [this, data = work.data, size = message.size, memory, origin = native(message.origin),
                region = native(message.region)](CUstream stream) {
      *data = pinned_.outgoing(size);
      const ImageStore& image = *memory->image;
      copy(image.place(origin), image.dense(data->get(), 0, region), image.region(region), stream);
    };
    return work;
  });
}

void Images::handle(protocol::WriteImage&& message) {
  check_part(message.data.bytes.size());
  commands_.submit(message.command, [&] {
    const auto memory = memory_.image(message.image);
    check_inside(message.origin, message.region, *memory);
    check_data_size(region_size(message.region, *memory), message.data.bytes.size());
    const auto staged = std::make_shared<std::shared_ptr<std::byte>>();
    Work work;
    work.keep = {memory, staged};
    work.run = [this, staged, data = message.data, memory, origin = native(message.origin),
                region = native(message.region)](CUstream stream) {
      if (data.bytes.empty()) return;
      *staged = pinned_.pinned(data);
      const ImageStore& image = *memory->image;
      copy(image.dense(staged->get(), 0, region), image.place(origin), image.region(region), stream);
    };
    return work;
  });
}

void Images::handle(protocol::CopyImage&& message) {
  commands_.submit(message.command, [&] {
    const auto source = memory_.image(message.source);
    const auto destination = memory_.image(message.destination);
    check_inside(message.source_origin, message.region, *source);
    check_inside(message.destination_origin, message.region, *destination);
    if (source->image->format().element_size() != destination->image->format().element_size())
      throw RuleBroken(
          "images " + std::to_string(message.source) + " and " + std::to_string(message.destination) +
          " have pixels of " + std::to_string(source->image->format().element_size()) + " and " +
          std::to_string(destination->image->format().element_size()) + " bytes; a copy needs equal formats");
    Work work;
    work.keep = {source, destination};
    work.run = [source, destination, from = native(message.source_origin),
                to = native(message.destination_origin), region = native(message.region)](CUstream stream) {
      const ImageStore& image = *source->image;
      const ImageStore& target = *destination->image;
      const bool layers_differ = (image.request().type == CL_MEM_OBJECT_IMAGE1D_ARRAY) !=
                                 (target.request().type == CL_MEM_OBJECT_IMAGE1D_ARRAY);
      if (!layers_differ) {
        copy(image.place(from), target.place(to), image.region(region), stream);
        return;
      }
      // The rows of one are the layers of the other.
      for (std::size_t row = 0; row < region[1]; ++row)
        copy(image.place({from[0], from[1] + row, from[2]}), target.place({to[0], to[1] + row, to[2]}),
             image.region({region[0], 1, 1}), stream);
    };
    return work;
  });
}

void Images::handle(protocol::CopyImageToBuffer&& message) {
  commands_.submit(message.command, [&] {
    const auto source = memory_.image(message.source);
    const auto destination = memory_.buffer(message.destination);
    check_inside(message.origin, message.region, *source);
    check_range(message.offset, region_size(message.region, *source), destination->size,
                "a copy's destination");
    Work work;
    work.keep = {source, destination};
    work.run = [source, address = destination->address + message.offset, origin = native(message.origin),
                region = native(message.region)](CUstream stream) {
      const ImageStore& image = *source->image;
      copy(image.place(origin), image.dense(nullptr, address, region), image.region(region), stream);
    };
    return work;
  });
}

void Images::handle(protocol::CopyBufferToImage&& message) {
  commands_.submit(message.command, [&] {
    const auto source = memory_.buffer(message.source);
    const auto destination = memory_.image(message.destination);
    check_inside(message.origin, message.region, *destination);
    check_range(message.offset, region_size(message.region, *destination), source->size, "a copy's source");
    Work work;
    work.keep = {source, destination};
    work.run = [destination, address = source->address + message.offset, origin = native(message.origin),
                region = native(message.region)](CUstream stream) {
      const ImageStore& image = *destination->image;
      copy(image.dense(nullptr, address, region), image.place(origin), image.region(region), stream);
    };
    return work;
  });
}

void Images::handle(protocol::FillImage&& message) {
  check_color(message.color.size());
  commands_.submit(message.command, [&] {
    const auto memory = memory_.image(message.image);
    check_inside(message.origin, message.region, *memory);
    std::array<std::uint8_t, 16> color{};
    std::copy(message.color.begin(), message.color.end(), color.begin());
    const ImageRequest& request = memory->image->request();
    const unsigned element = memory->image->format().element_size();
    const auto pixel = make_pixel(request.order, request.channel_type, color);
    const auto region = native(message.region);
    // CUDA arrays cannot be filled, so rows of filled linear memory are copied to them.
    const std::uint64_t row = region[0] * element;
    const std::uint64_t rows = std::clamp<std::uint64_t>(row == 0 ? 1 : kFillBlock / row, 1, region[1]);
    const auto block = device_memory_.take(row * rows);
    Work work;
    work.keep = {memory, block};
    work.run = [this, memory, block, pixel, element, row, rows, region,
                origin = native(message.origin)](CUstream stream) {
      const ImageStore& image = *memory->image;
      filler_.fill(*block, row * rows, {pixel.data(), element}, stream);
      for (std::size_t z = 0; z < region[2]; ++z)
        for (std::size_t y = 0; y < region[1]; y += rows) {
          const std::array<std::size_t, 3> part{region[0], std::min<std::size_t>(rows, region[1] - y), 1};
          copy(image.dense(nullptr, *block, part), image.place({origin[0], origin[1] + y, origin[2] + z}),
               image.region(part), stream);
        }
    };
    return work;
  });
}

}  // namespace clique::daemon::cuda
