#include "daemon/backend/cuda/handlers/objects.hpp"

#include <algorithm>

#include "daemon/compiler/library/abi.h"

namespace clique::daemon::cuda {

namespace {

constexpr std::uint64_t kMostExtent = 1ULL << 31U;

/// The sampler in the encoding that Clang gives to samplers in kernels.
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

std::shared_ptr<const void> hold(const std::shared_ptr<Memory>& memory, std::uint64_t offset,
                                 std::uint64_t size) {
  if (!memory->sparse) return memory;
  return memory->sparse->use(memory->sparse_begin + offset, size);
}

void Objects::handle(protocol::CreateContext&& message) {
  check_devices(message.devices);
  contexts_.add(message.id, std::make_shared<Context>());
}

void Objects::handle(protocol::CreateSubDevices&& message) {
  check_device(message.parent);
  // GPUs cannot be partitioned.
  reporter_.report(protocol::SubDevicesCreated{message.request, CL_INVALID_VALUE, {}});
}

void Objects::handle(protocol::CreateQueue&& message) {
  queues_.create(message.id, reporter_, [&] {
    contexts_.get(message.context);
    check_device(message.device);
    auto queue = std::make_shared<Queue>();
    queue->id = message.id;
    queue->in_order = (message.properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0;
    queue->profiling = (message.properties & CL_QUEUE_PROFILING_ENABLE) != 0;
    queue->traced = message.traced;
    queue->lane = scheduler_.make_lane(queue->in_order);
    return queue;
  });
}

void Objects::handle(protocol::CreateBuffer&& message) {
  memory_.create(message.id, reporter_, [&] {
    contexts_.get(message.context);
    auto memory = std::make_shared<Memory>();
    memory->size = message.size;
    memory->placed = message.address != 0;
    if (message.segment != 0) {
      const auto shared = peers_.segment(message.segment, 0, message.size);
      check_shared_at(message, shared.get());
      memory->in_host = true;
      memory->address = message.address;
      memory->allocation = shared;
      return memory;
    }
    if (message.sparse) {
      if (memory->placed)
        throw RuleBroken("buffer " + std::to_string(message.id) + " is to be sparse and to have an address");
      memory->sparse = std::make_shared<SparseMemory>(device_memory_, budget_, message.size);
      memory->address = memory->sparse->address();
      memory->allocation = memory->sparse;
      return memory;
    }
    memory->share = budget_.take(message.size);
    const auto allocation = memory->placed ? device_memory_.take_at(message.address, message.size)
                                           : device_memory_.take(message.size);
    budget_.note_peak();
    memory->address = *allocation;
    memory->allocation = allocation;
    return memory;
  });
}

void Objects::handle(protocol::CreateSubBuffer&& message) {
  memory_.create(message.id, reporter_, [&] {
    const auto parent = memory_.buffer(message.parent);
    check_range(message.origin, message.size, parent->size, "a sub-buffer");
    auto memory = std::make_shared<Memory>();
    memory->size = message.size;
    memory->allocation = parent->allocation;
    memory->placed = parent->placed;
    memory->in_host = parent->in_host;
    memory->share = parent->share;
    memory->sparse = parent->sparse;
    memory->is_part = true;
    memory->sparse_begin = parent->sparse_begin + message.origin;
    memory->address = parent->address + message.origin;
    return memory;
  });
}

void Objects::handle(protocol::TrimBuffer&& message) {
  try {
    const auto memory = memory_.buffer(message.buffer);
    if (!memory->sparse) throw RuleBroken("buffer " + std::to_string(message.buffer) + " is not sparse");
    for (const protocol::ByteRange& range : message.kept)
      check_range(range.offset, range.size, memory->size, "what a sparse buffer keeps");
    memory->sparse->trim(message.kept);
  } catch (const ClError&) {
    // The buffer could not be created, as commands that use it report.
  }
}

void Objects::handle(protocol::CreateImage&& message) {
  memory_.create(message.id, reporter_, [&] {
    contexts_.get(message.context);
    ImageRequest request;
    request.type = message.image_type;
    request.order = message.channel_order;
    request.channel_type = message.channel_type;
    request.width = message.extent[0];
    request.height = message.extent[1];
    request.depth = message.extent[2];
    for (const std::uint64_t size : message.extent)
      if (size == 0 || size > kMostExtent)
        throw RuleBroken("image " + std::to_string(message.id) + " has an extent of " + std::to_string(size) +
                         " pixels; 1 to 2^31 are allowed, and 1 in dimensions that its type does not have");
    // Clients before version 29 send what the application has in the field, also for types without layers.
    if (request.type == CL_MEM_OBJECT_IMAGE1D_ARRAY || request.type == CL_MEM_OBJECT_IMAGE2D_ARRAY)
      request.layers = std::max<std::size_t>(message.array_size, 1);
    const auto format = pixel_format(request.order, request.channel_type);
    if (!format) throw unsupported_format(request);
    auto memory = std::make_shared<Memory>();
    if (message.buffer != 0) {
      const auto below = memory_.buffer(message.buffer);
      if (below->sparse)
        throw ClError(
            CL_MEM_OBJECT_ALLOCATION_FAILURE,
            "an image cannot be a view of a sparse buffer, which may have no memory for its pixels");
      const std::uint64_t row = request.width * format->element_size();
      request.memory = below->address;
      request.row_pitch = message.row_pitch != 0 ? message.row_pitch : row;
      if (request.row_pitch < row)
        throw RuleBroken("image " + std::to_string(message.id) + " has a row pitch of " +
                         std::to_string(request.row_pitch) + " bytes; its rows have " + std::to_string(row));
      check_range(0, volume({request.row_pitch, request.height - 1, 1}) + row, below->size,
                  "an image over a buffer");
      memory->allocation = below->allocation;
      memory->share = below->share;
    } else if (request.type == CL_MEM_OBJECT_IMAGE1D_BUFFER) {
      throw RuleBroken("image " + std::to_string(message.id) +
                       " is a CL_MEM_OBJECT_IMAGE1D_BUFFER without a buffer");
    } else {
      memory->share = budget_.take(volume(
          {request.width * format->element_size(), request.height, std::max(request.depth, request.layers)}));
    }
    memory->image = std::make_unique<ImageStore>(device_memory_, request);
    budget_.note_peak();
    const protocol::ImageShape shape = memory->image->shape();
    memory->size = volume({shape.extent[0] * shape.element_size, shape.extent[1], shape.extent[2]});
    return memory;
  });
}

void Objects::handle(protocol::CreateSampler&& message) {
  samplers_.create(message.id, reporter_, [&] {
    contexts_.get(message.context);
    auto sampler = std::make_shared<Sampler>();
    sampler->number = sampler_number(message);
    return sampler;
  });
}

void Objects::free_sparse(protocol::ObjectId id) {
  if (!memory_.contains(id)) return;
  try {
    const auto memory = memory_.get(id);
    if (memory->sparse && !memory->is_part) memory->sparse->trim({});
  } catch (const ClError&) {
    // The buffer could not be created.
  }
}

bool Objects::release(protocol::ObjectId id) {
  if (queues_.contains(id)) {
    try {
      scheduler_.give_back(*queues_.get(id)->lane);
    } catch (const ClError&) {
      // The queue could not be created, so it has no streams.
    }
  }
  free_sparse(id);
  return memory_.erase(id) || queues_.erase(id) || samplers_.erase(id) || contexts_.erase(id);
}

void check_device(protocol::DeviceId id) {
  if (id != 0)
    throw RuleBroken("device " + std::to_string(id) + " does not exist; this worker's only device is 0");
}

void check_devices(const std::vector<protocol::DeviceId>& ids) {
  for (const protocol::DeviceId id : ids) check_device(id);
}

}  // namespace clique::daemon::cuda
