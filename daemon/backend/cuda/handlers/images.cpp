#include "daemon/backend/cuda/handlers/images.hpp"

#include <algorithm>
#include <cstring>

namespace clique::daemon::cuda {

namespace {

/// Bytes that a fill prepares in linear memory, and then copies to the image as often as needed.
constexpr std::uint64_t kFillBlock = 4U << 20U;

/// The part of an image that a command reads or writes.
struct Part {
  /// Throws RuleBroken if the part is not inside the image.
  Part(std::shared_ptr<Memory> of, const protocol::Triple& at, const protocol::Triple& pixels)
      : memory(std::move(of)), origin(native(at)), region(native(pixels)) {
    check_region(at, pixels, image().shape().extent);
  }

  const ImageStore& image() const { return *memory->image; }
  /// Bytes of the pixels without gaps.
  std::uint64_t size() const {
    return std::uint64_t{region[0]} * region[1] * region[2] * image().format().element_size();
  }
  /// Copies the pixels, without gaps, to host or device memory. One of `host` and `device` is not 0.
  void copy_to(std::byte* host, CUdeviceptr device, CUstream stream) const {
    copy(image().place(origin), image().dense(host, device, region), image().region(region), stream);
  }
  /// The opposite of copy_to().
  void copy_from(std::byte* host, CUdeviceptr device, CUstream stream) const {
    copy(image().dense(host, device, region), image().place(origin), image().region(region), stream);
  }

  std::shared_ptr<Memory> memory;
  std::array<std::size_t, 3> origin;
  std::array<std::size_t, 3> region;
};

}  // namespace

void Images::handle(protocol::ReadImage&& message) {
  check_part(message.size);
  commands_.submit(message.command, [&] {
    const Part part(memory_.image(message.image), message.origin, message.region);
    check_data_size(part.size(), message.size);
    Work work;
    work.data = std::make_shared<std::shared_ptr<std::byte>>();
    work.size = message.size;
    work.part = message.part;
    work.keep = {part.memory, work.data};
    work.run = [this, data = work.data, size = message.size, part](CUstream stream) {
      *data = pinned_.outgoing(size);
      part.copy_to(data->get(), 0, stream);
    };
    return work;
  });
}

void Images::handle(protocol::WriteImage&& message) {
  check_part(message.data.bytes.size());
  commands_.submit(message.command, [&] {
    const Part part(memory_.image(message.image), message.origin, message.region);
    check_data_size(part.size(), message.data.bytes.size());
    const auto staged = std::make_shared<std::shared_ptr<std::byte>>();
    Work work;
    work.keep = {part.memory, staged};
    work.run = [this, staged, data = message.data, part](CUstream stream) {
      if (data.bytes.empty()) return;
      *staged = pinned_.pinned(data);
      part.copy_from(staged->get(), 0, stream);
    };
    return work;
  });
}

void Images::handle(protocol::CopyImage&& message) {
  commands_.submit(message.command, [&] {
    const auto source = memory_.image(message.source);
    const auto destination = memory_.image(message.destination);
    const Part from(source, message.source_origin, message.region);
    const Part to(destination, message.destination_origin, message.region);
    if (source->image->format().element_size() != destination->image->format().element_size())
      throw RuleBroken(
          "images " + std::to_string(message.source) + " and " + std::to_string(message.destination) +
          " have pixels of " + std::to_string(source->image->format().element_size()) + " and " +
          std::to_string(destination->image->format().element_size()) + " bytes; a copy needs equal formats");
    Work work;
    work.keep = {source, destination};
    work.run = [from, to](CUstream stream) {
      const ImageStore& image = from.image();
      const ImageStore& target = to.image();
      const bool layers_differ = (image.request().type == CL_MEM_OBJECT_IMAGE1D_ARRAY) !=
                                 (target.request().type == CL_MEM_OBJECT_IMAGE1D_ARRAY);
      if (!layers_differ) {
        copy(image.place(from.origin), target.place(to.origin), image.region(from.region), stream);
        return;
      }
      // The rows of one are the layers of the other.
      for (std::size_t row = 0; row < from.region[1]; ++row)
        copy(image.place({from.origin[0], from.origin[1] + row, from.origin[2]}),
             target.place({to.origin[0], to.origin[1] + row, to.origin[2]}),
             image.region({from.region[0], 1, 1}), stream);
    };
    return work;
  });
}

void Images::handle(protocol::CopyImageToBuffer&& message) {
  commands_.submit(message.command, [&] {
    const auto source = memory_.image(message.source);
    const auto destination = memory_.buffer(message.destination);
    const Part part(source, message.origin, message.region);
    check_range(message.offset, part.size(), destination->size, "a copy's destination");
    Work work;
    work.keep = {source, destination};
    work.run = [part, address = destination->address + message.offset](CUstream stream) {
      part.copy_to(nullptr, address, stream);
    };
    return work;
  });
}

void Images::handle(protocol::CopyBufferToImage&& message) {
  commands_.submit(message.command, [&] {
    const auto source = memory_.buffer(message.source);
    const auto destination = memory_.image(message.destination);
    const Part part(destination, message.origin, message.region);
    check_range(message.offset, part.size(), source->size, "a copy's source");
    Work work;
    work.keep = {source, destination};
    work.run = [part, address = source->address + message.offset](CUstream stream) {
      part.copy_from(nullptr, address, stream);
    };
    return work;
  });
}

void Images::handle(protocol::FillImage&& message) {
  check_color(message.color.size());
  commands_.submit(message.command, [&] {
    const auto memory = memory_.image(message.image);
    const Part part(memory, message.origin, message.region);
    std::array<std::uint8_t, 16> color{};
    std::copy(message.color.begin(), message.color.end(), color.begin());
    const ImageRequest& request = memory->image->request();
    const unsigned element = memory->image->format().element_size();
    const auto pixel = make_pixel(request.order, request.channel_type, color);
    // CUDA arrays cannot be filled, so rows of filled linear memory are copied to them.
    const std::uint64_t row = part.region[0] * element;
    const std::uint64_t rows = std::clamp<std::uint64_t>(row == 0 ? 1 : kFillBlock / row, 1, part.region[1]);
    const auto block = device_memory_.take(row * rows);
    Work work;
    work.keep = {memory, block};
    work.run = [this, part, block, pixel, element, row, rows](CUstream stream) {
      filler_.fill(*block, row * rows, {pixel.data(), element}, stream);
      for (std::size_t z = 0; z < part.region[2]; ++z)
        for (std::size_t y = 0; y < part.region[1]; y += rows) {
          Part slice = part;
          slice.origin = {part.origin[0], part.origin[1] + y, part.origin[2] + z};
          slice.region = {part.region[0], std::min<std::size_t>(rows, part.region[1] - y), 1};
          slice.copy_from(nullptr, *block, stream);
        }
    };
    return work;
  });
}

}  // namespace clique::daemon::cuda
