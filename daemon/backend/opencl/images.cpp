// Commands on images.
#include "daemon/backend/opencl/opencl_backend.hpp"

namespace clique::daemon::opencl {

namespace {

/// Bytes of a region of the image without gaps. Only after check_region.
std::uint64_t region_size(const protocol::Triple& region, const Memory& image) {
  return volume(region) * image.shape.element_size;
}

}  // namespace

void OpenClBackend::handle(protocol::ReadImage&& message) {
  check_part(message.size);
  const auto block = outgoing(message.size);
  submit(message.command, Aftermath::sending(block, message.size, message.part), [&](const Submission& to) {
    const Memory& memory = image(message.image);
    check_region(message.origin, message.region, memory.shape.extent);
    if (region_size(message.region, memory) != message.size)
      throw RuleBroken("a region of another size than told");
    return clEnqueueReadImage(to.queue, memory.native.get(), CL_FALSE, native(message.origin).data(),
                              native(message.region).data(), 0, 0, block.get(), to.count, to.waits, to.event);
  });
}

void OpenClBackend::handle(protocol::WriteImage&& message) {
  const auto bytes = message.data.bytes;
  check_part(bytes.size());
  submit(message.command, Aftermath::keeping(message.data.owner), [&](const Submission& to) {
    const Memory& memory = image(message.image);
    check_region(message.origin, message.region, memory.shape.extent);
    if (region_size(message.region, memory) != bytes.size())
      throw RuleBroken("a region and data of another size");
    return clEnqueueWriteImage(to.queue, memory.native.get(), CL_FALSE, native(message.origin).data(),
                               native(message.region).data(), 0, 0, bytes.data(), to.count, to.waits,
                               to.event);
  });
}

void OpenClBackend::handle(protocol::CopyImage&& message) {
  submit(message.command, {}, [&](const Submission& to) {
    const Memory& source = image(message.source);
    const Memory& destination = image(message.destination);
    check_region(message.source_origin, message.region, source.shape.extent);
    check_region(message.destination_origin, message.region, destination.shape.extent);
    return clEnqueueCopyImage(to.queue, source.native.get(), destination.native.get(),
                              native(message.source_origin).data(), native(message.destination_origin).data(),
                              native(message.region).data(), to.count, to.waits, to.event);
  });
}

void OpenClBackend::handle(protocol::CopyImageToBuffer&& message) {
  submit(message.command, {}, [&](const Submission& to) {
    const Memory& source = image(message.source);
    const Memory& destination = buffer(message.destination);
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
    const Memory& source = buffer(message.source);
    const Memory& destination = image(message.destination);
    check_region(message.origin, message.region, destination.shape.extent);
    check_range(message.offset, region_size(message.region, destination), source.size, "a copy's source");
    return clEnqueueCopyBufferToImage(to.queue, source.native.get(), destination.native.get(), message.offset,
                                      native(message.origin).data(), native(message.region).data(), to.count,
                                      to.waits, to.event);
  });
}

void OpenClBackend::handle(protocol::FillImage&& message) {
  if (message.color.size() != 16 && message.color.size() != 4) throw RuleBroken("a colour of a wrong size");
  // The driver reads four channels whatever the format.
  std::array<std::uint8_t, 16> color{};
  std::copy(message.color.begin(), message.color.end(), color.begin());
  submit(message.command, {}, [&](const Submission& to) {
    const Memory& memory = image(message.image);
    check_region(message.origin, message.region, memory.shape.extent);
    return clEnqueueFillImage(to.queue, memory.native.get(), color.data(), native(message.origin).data(),
                              native(message.region).data(), to.count, to.waits, to.event);
  });
}

}  // namespace clique::daemon::opencl
