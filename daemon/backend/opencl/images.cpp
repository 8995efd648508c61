// Commands on images.
#include "daemon/backend/opencl/opencl_backend.hpp"

namespace clique::daemon::opencl {

namespace {

/// Bytes of a region of the image without gaps. The region must lie inside the image.
std::uint64_t region_size(const protocol::Triple& region, const Memory& image) {
  return volume(region) * image.shape.element_size;
}

}  // namespace

void OpenClBackend::handle(protocol::ReadImage&& message) {
  check_part(message.size);
  const auto block = outgoing(message.size);
  submit(message.command, Aftermath::sending(block, message.size, message.part), [&](const Submission& to) {
    const Memory& memory = *memory_.image(message.image);
    check_region(message.origin, message.region, memory.shape.extent);
    check_data_size(region_size(message.region, memory), message.size);
    return clEnqueueReadImage(to.queue, memory.native.get(), CL_FALSE, native(message.origin).data(),
                              native(message.region).data(), 0, 0, block.get(), to.count, to.waits, to.event);
  });
}

void OpenClBackend::handle(protocol::WriteImage&& message) {
  const auto bytes = message.data.bytes;
  check_part(bytes.size());
  submit(message.command, Aftermath::keeping(message.data.owner), [&](const Submission& to) {
    const Memory& memory = *memory_.image(message.image);
    check_region(message.origin, message.region, memory.shape.extent);
    check_data_size(region_size(message.region, memory), bytes.size());
    return clEnqueueWriteImage(to.queue, memory.native.get(), CL_FALSE, native(message.origin).data(),
                               native(message.region).data(), 0, 0, bytes.data(), to.count, to.waits,
                               to.event);
  });
}

void OpenClBackend::handle(protocol::CopyImage&& message) {
  submit(message.command, {}, [&](const Submission& to) {
    const Memory& source = *memory_.image(message.source);
    const Memory& destination = *memory_.image(message.destination);
    check_region(message.source_origin, message.region, source.shape.extent);
    check_region(message.destination_origin, message.region, destination.shape.extent);
    return clEnqueueCopyImage(to.queue, source.native.get(), destination.native.get(),
                              native(message.source_origin).data(), native(message.destination_origin).data(),
                              native(message.region).data(), to.count, to.waits, to.event);
  });
}

void OpenClBackend::handle(protocol::CopyImageToBuffer&& message) {
  submit(message.command, {}, [&](const Submission& to) {
    const Memory& source = *memory_.image(message.source);
    const Memory& destination = *memory_.buffer(message.destination);
    check_region(message.origin, message.region, source.shape.extent);
    check_range(message.offset, region_size(message.region, source), destination.size,
                "a copy's destination");
    return clEnqueueCopyImageToBuffer(to.queue, source.native.get(), destination.native.get(),
                                      native(message.origin).data(), native(message.region).data(),
                                      message.offset, to.count, to.waits, to.event);
  });
}

void OpenClBackend::handle(protocol::CopyBufferToImage&& message) {
  submit(message.command, {}, [&](const Submission& to) {
    const Memory& source = *memory_.buffer(message.source);
    const Memory& destination = *memory_.image(message.destination);
    check_region(message.origin, message.region, destination.shape.extent);
    check_range(message.offset, region_size(message.region, destination), source.size, "a copy's source");
    return clEnqueueCopyBufferToImage(to.queue, source.native.get(), destination.native.get(), message.offset,
                                      native(message.origin).data(), native(message.region).data(), to.count,
                                      to.waits, to.event);
  });
}

void OpenClBackend::handle(protocol::FillImage&& message) {
  check_color(message.color.size());
  // Drivers read four channels even for a depth image.
  std::array<std::uint8_t, 16> color{};
  std::copy(message.color.begin(), message.color.end(), color.begin());
  submit(message.command, {}, [&](const Submission& to) {
    const Memory& memory = *memory_.image(message.image);
    check_region(message.origin, message.region, memory.shape.extent);
    return clEnqueueFillImage(to.queue, memory.native.get(), color.data(), native(message.origin).data(),
                              native(message.region).data(), to.count, to.waits, to.event);
  });
}

}  // namespace clique::daemon::opencl
