// Creating and releasing objects.
#include <algorithm>

#include "daemon/backend/cuda/cuda_backend.hpp"
#include "daemon/compiler/library/abi.h"

namespace clique::daemon::cuda {

namespace {

/// As Clang encodes the samplers that are written in kernels.
std::uint32_t sampler_number(const protocol::CreateSampler& message) {
  std::uint32_t number = message.normalized ? CLIQUE_SAMPLER_NORMALIZED : 0;
  switch (message.addressing) {
    case CL_ADDRESS_CLAMP_TO_EDGE:
      number |= CLIQUE_SAMPLER_ADDRESS_CLAMP_TO_EDGE;
      break;
    case CL_ADDRESS_CLAMP:
      number |= CLIQUE_SAMPLER_ADDRESS_CLAMP;
      break;
    case CL_ADDRESS_REPEAT:
      number |= CLIQUE_SAMPLER_ADDRESS_REPEAT;
      break;
    case CL_ADDRESS_MIRRORED_REPEAT:
      number |= CLIQUE_SAMPLER_ADDRESS_MIRRORED_REPEAT;
      break;
    default:
      number |= CLIQUE_SAMPLER_ADDRESS_NONE;
      break;
  }
  return number |
         (message.filter == CL_FILTER_LINEAR ? CLIQUE_SAMPLER_FILTER_LINEAR : CLIQUE_SAMPLER_FILTER_NEAREST);
}

}  // namespace

void CudaBackend::handle(protocol::CreateContext&& message) {
  for (const DeviceId device : message.devices) check_device(device);
  contexts_.add(message.id, std::make_shared<Context>());
}

void CudaBackend::handle(protocol::CreateSubDevices&& message) {
  check_device(message.parent);
  // A GPU is not partitioned.
  surroundings_.reporter.report(protocol::SubDevicesCreated{message.request, CL_INVALID_VALUE, {}});
}

void CudaBackend::handle(protocol::CreateQueue&& message) {
  create(queues_, message.id, [&] {
    contexts_.get(message.context);
    check_device(message.device);
    auto queue = std::make_shared<Queue>();
    queue->id = message.id;
    queue->in_order = (message.properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0;
    queue->profiling = (message.properties & CL_QUEUE_PROFILING_ENABLE) != 0;
    queue->lane = scheduler_.make_lane(queue->in_order);
    return queue;
  });
}

void CudaBackend::handle(protocol::CreateBuffer&& message) {
  create(memory_, message.id, [&] {
    contexts_.get(message.context);
    auto memory = std::make_shared<Memory>();
    memory->size = message.size;
    memory->share = surroundings_.memory.take(message.size);
    memory->placed = message.address != 0;
    memory->allocation = memory->placed ? device_memory_.take_at(message.address, message.size)
                                        : device_memory_.take(message.size);
    memory->address = *memory->allocation;
    return memory;
  });
}

void CudaBackend::handle(protocol::CreateSubBuffer&& message) {
  create(memory_, message.id, [&] {
    const auto parent = buffer(message.parent);
    check_range(message.origin, message.size, parent->size, "a sub-buffer");
    auto memory = std::make_shared<Memory>();
    memory->size = message.size;
    memory->allocation = parent->allocation;
    memory->placed = parent->placed;
    memory->share = parent->share;
    memory->address = parent->address + message.origin;
    return memory;
  });
}

void CudaBackend::handle(protocol::CreateImage&& message) {
  create(memory_, message.id, [&] {
    contexts_.get(message.context);
    ImageRequest request;
    request.type = message.image_type;
    request.order = message.channel_order;
    request.channel_type = message.channel_type;
    request.width = message.extent[0];
    request.height = message.extent[1];
    request.depth = message.extent[2];
    for (const std::uint64_t size : {message.extent[0], message.extent[1], message.extent[2]})
      if (size == 0 || size > (1ULL << 31U)) throw RuleBroken("an image of an impossible size");
    request.layers = std::max<std::size_t>(message.array_size, 1);
    const auto format = pixel_format(request.order, request.channel_type);
    if (!format) throw ClError(CL_IMAGE_FORMAT_NOT_SUPPORTED, "an image of an unsupported format");
    auto memory = std::make_shared<Memory>();
    if (message.buffer != 0) {
      const auto below = buffer(message.buffer);
      const std::uint64_t row = request.width * format->element_size();
      request.memory = below->address;
      request.row_pitch = message.row_pitch != 0 ? message.row_pitch : row;
      if (request.row_pitch < row) throw RuleBroken("an image with rows that overlap");
      check_range(0, volume({request.row_pitch, request.height - 1, 1}) + row, below->size, "an image");
      memory->allocation = below->allocation;
      memory->share = below->share;
    } else if (request.type == CL_MEM_OBJECT_IMAGE1D_BUFFER) {
      throw RuleBroken("a buffer image without a buffer");
    } else {
      memory->share = surroundings_.memory.take(volume(
          {request.width * format->element_size(), request.height, std::max(request.depth, request.layers)}));
    }
    memory->image = std::make_unique<ImageStore>(device_memory_, request);
    const ImageShape shape = memory->image->shape();
    memory->size = volume({shape.extent[0] * shape.element_size, shape.extent[1], shape.extent[2]});
    return memory;
  });
}

void CudaBackend::handle(protocol::CreateSampler&& message) {
  create(samplers_, message.id, [&] {
    contexts_.get(message.context);
    auto sampler = std::make_shared<Sampler>();
    sampler->number = sampler_number(message);
    return sampler;
  });
}

void CudaBackend::handle(protocol::Release&& message) {
  for (const ObjectId id : message.objects) {
    if (queues_.contains(id)) {
      try {
        scheduler_.give_back(*queues_.get(id)->lane);
      } catch (const ClError&) {
        // It could not be created, so it has no streams.
      }
    }
    const bool found = memory_.erase(id) || kernels_.erase(id) || programs_.erase(id) || queues_.erase(id) ||
                       samplers_.erase(id) || contexts_.erase(id);
    if (!found) throw RuleBroken("object " + std::to_string(id) + " was released but does not exist");
  }
  for (const CommandId id : message.events) events_.erase(id);
}

std::shared_ptr<Memory> CudaBackend::buffer(ObjectId id) {
  const auto& memory = memory_.get(id);
  if (memory->image) throw RuleBroken("image " + std::to_string(id) + " was used as a buffer");
  return memory;
}

std::shared_ptr<Memory> CudaBackend::image(ObjectId id) {
  const auto& memory = memory_.get(id);
  if (!memory->image) throw RuleBroken("buffer " + std::to_string(id) + " was used as an image");
  return memory;
}

}  // namespace clique::daemon::cuda
