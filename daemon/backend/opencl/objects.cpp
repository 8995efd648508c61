// Creating and releasing objects.
#include <algorithm>

#include "daemon/backend/opencl/describe.hpp"
#include "daemon/backend/opencl/host_memory.hpp"
#include "daemon/backend/opencl/opencl_backend.hpp"

namespace clique::daemon::opencl {

namespace {

/// Reports a context's errors. Never destroyed, since drivers may call late.
struct ContextErrors {
  Reporter& reporter;
  ObjectId context;

  static void CL_CALLBACK called(const char* what, const void* /*info*/, std::size_t /*size*/, void* data) {
    // Oclgrind passes the data as `info`, so the context is unknown.
    if (data == nullptr) return;
    const auto* errors = static_cast<ContextErrors*>(data);
    errors->reporter.report(protocol::Failed{errors->context, CL_SUCCESS, what, 0});
  }
};

/// Asks the driver for the image's shape and size.
void measure(Memory& image) {
  const auto info = [&image](cl_image_info name) {
    return get_value<std::size_t>([&image, name](std::size_t size, void* value, std::size_t* size_ret) {
      return clGetImageInfo(image.native.get(), name, size, value, size_ret);
    });
  };
  const auto type =
      get_value<cl_mem_object_type>([&image](std::size_t size, void* value, std::size_t* size_ret) {
        return clGetMemObjectInfo(image.native.get(), CL_MEM_TYPE, size, value, size_ret);
      });
  const std::size_t layers = info(CL_IMAGE_ARRAY_SIZE);
  image.image = true;
  image.shape.element_size = info(CL_IMAGE_ELEMENT_SIZE);
  image.shape.extent = {info(CL_IMAGE_WIDTH), std::max<std::size_t>(info(CL_IMAGE_HEIGHT), 1),
                        std::max<std::size_t>(info(CL_IMAGE_DEPTH), 1)};
  if (type == CL_MEM_OBJECT_IMAGE1D_ARRAY) image.shape.extent[1] = layers;
  if (type == CL_MEM_OBJECT_IMAGE2D_ARRAY) image.shape.extent[2] = layers;
  image.size = image.shape.element_size *
               volume({image.shape.extent[0], image.shape.extent[1], image.shape.extent[2]});
}

}  // namespace

void OpenClBackend::handle(protocol::CreateContext&& message) {
  contexts_.create(message.id, surroundings_.reporter, [&] {
    auto context = std::make_shared<Context>();
    context->devices = natives(message.devices);
    context->in_place = std::all_of(message.devices.begin(), message.devices.end(), [this](DeviceId id) {
      return device(id).in_place && is_processor(device(id).native);
    });
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                                reinterpret_cast<cl_context_properties>(platform_), 0};
    cl_int status = CL_SUCCESS;
    context->native = Handle(clCreateContext(properties, static_cast<cl_uint>(context->devices.size()),
                                             context->devices.data(), ContextErrors::called,
                                             new ContextErrors{surroundings_.reporter, message.id}, &status));
    check(status, "clCreateContext");
    return context;
  });
}

void OpenClBackend::handle(protocol::CreateSubDevices&& message) {
  if (message.properties.empty() || message.properties.back() != 0 || message.properties.size() > 1024)
    throw RuleBroken("a list of " + std::to_string(message.properties.size()) +
                     " partition properties; it must end with 0 and have at most 1024");
  if (message.first < protocol::kFirstSubDevice)
    throw RuleBroken("sub-devices cannot have id " + std::to_string(message.first) + "; their ids begin at " +
                     std::to_string(protocol::kFirstSubDevice));
  const Device parent = device(message.parent);
  const std::vector<cl_device_partition_property> properties(message.properties.begin(),
                                                             message.properties.end());
  protocol::SubDevicesCreated answer{message.request, CL_SUCCESS, {}};
  cl_uint count = 0;
  answer.status = clCreateSubDevices(parent.native, properties.data(), 0, nullptr, &count);
  std::vector<cl_device_id> created(count);
  if (answer.status == CL_SUCCESS)
    answer.status = clCreateSubDevices(parent.native, properties.data(), count, created.data(), nullptr);
  if (answer.status == CL_SUCCESS) {
    for (cl_uint i = 0; i < count; ++i) {
      Handle<cl_device_id> owner(created[i]);
      const auto [added, fresh] =
          devices_.emplace(message.first + i, Device{created[i], std::move(owner), parent.clock_offset,
                                                     parent.uuid, parent.place, parent.in_place});
      if (!fresh) throw RuleBroken("device " + std::to_string(message.first + i) + " exists already");
      answer.devices.push_back(describe(added->second));
    }
  }
  surroundings_.reporter.report(answer);
}

void OpenClBackend::handle(protocol::CreateQueue&& message) {
  queues_.create(message.id, surroundings_.reporter, [&] {
    auto queue = std::make_shared<Queue>();
    queue->id = message.id;
    queue->context = contexts_.get(message.context);
    queue->device = device(message.device).native;
    queue->clock_offset = device(message.device).clock_offset;
    queue->place = device(message.device).place;
    queue->profiling = (message.properties & CL_QUEUE_PROFILING_ENABLE) != 0;
    const auto create_queue = [&](cl_command_queue_properties properties) {
      cl_int status = CL_SUCCESS;
      queue->native =
          Handle(clCreateCommandQueue(queue->context->native.get(), queue->device, properties, &status));
      queue->in_order = (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0;
      return status;
    };
    cl_int status = create_queue(message.properties);
    // A driver without out-of-order queues may keep the order: the specification allows it.
    if (status == CL_INVALID_QUEUE_PROPERTIES)
      status = create_queue(message.properties &
                            ~cl_command_queue_properties{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE});
    check(status, "clCreateCommandQueue");
    return queue;
  });
}

void OpenClBackend::handle(protocol::CreateBuffer&& message) {
  memory_.create(message.id, surroundings_.reporter, [&] {
    auto memory = std::make_shared<Memory>();
    memory->context = contexts_.get(message.context);
    memory->size = message.size;
    if (message.sparse) throw RuleBroken("this worker's driver has no sparse buffers");
    if (message.segment != 0) {
      memory->placed = surroundings_.peers.segment(message.segment, 0, message.size);
      check_shared_at(message, memory->placed.get());
    } else {
      memory->share = surroundings_.memory.take(message.size);
      if (message.address != 0) memory->placed = place(message.address, message.size);
    }
    if (memory->placed) {
      surroundings_.memory.note_peak();
      memory->native =
          buffer_over(memory->context->native.get(), message.flags, memory->placed, message.size);
      return memory;
    }
    if (memory->context->in_place) {
      memory->host = allocate(message.size);
      memory->native = buffer_over(memory->context->native.get(), message.flags, memory->host, message.size);
      surroundings_.memory.note_peak();
      return memory;
    }
    cl_int status = CL_SUCCESS;
    memory->native =
        Handle(clCreateBuffer(memory->context->native.get(), message.flags, message.size, nullptr, &status));
    check(status, "clCreateBuffer");
    surroundings_.memory.note_peak();
    return memory;
  });
}

void OpenClBackend::handle(protocol::TrimBuffer&& message) {
  throw RuleBroken("buffer " + std::to_string(message.buffer) +
                   " is not sparse: this worker's driver has no sparse buffers");
}

void OpenClBackend::handle(protocol::CreateSubBuffer&& message) {
  memory_.create(message.id, surroundings_.reporter, [&] {
    const auto& parent = memory_.buffer(message.parent);
    check_range(message.origin, message.size, parent->size, "a sub-buffer");
    auto memory = std::make_shared<Memory>();
    memory->context = parent->context;
    memory->size = message.size;
    memory->share = parent->share;
    if (parent->placed) {
      memory->placed = {parent->placed, parent->placed.get() + message.origin};
      memory->native =
          buffer_over(memory->context->native.get(), message.flags, memory->placed, message.size);
      return memory;
    }
    if (parent->host) memory->host = {parent->host, parent->host.get() + message.origin};
    const cl_buffer_region region{message.origin, message.size};
    cl_int status = CL_SUCCESS;
    memory->native = Handle(clCreateSubBuffer(parent->native.get(), message.flags,
                                              CL_BUFFER_CREATE_TYPE_REGION, &region, &status));
    check(status, "clCreateSubBuffer");
    return memory;
  });
}

void OpenClBackend::handle(protocol::CreateImage&& message) {
  memory_.create(message.id, surroundings_.reporter, [&] {
    auto memory = std::make_shared<Memory>();
    memory->context = contexts_.get(message.context);
    cl_image_format format{message.channel_order, message.channel_type};
    cl_image_desc description{};
    description.image_type = message.image_type;
    description.image_width = message.extent[0];
    description.image_height = message.extent[1];
    description.image_depth = message.extent[2];
    description.image_array_size = message.array_size;
    description.image_row_pitch = message.row_pitch;
    if (message.buffer != 0) {
      const Memory& below = *memory_.buffer(message.buffer);
      description.buffer = below.native.get();
      memory->share = below.share;
    }
    cl_int status = CL_SUCCESS;
    memory->native = Handle(
        clCreateImage(memory->context->native.get(), message.flags, &format, &description, nullptr, &status));
    check(status, "clCreateImage");
    measure(*memory);
    // Only the driver knows the size of an image's pixels.
    if (message.buffer == 0) memory->share = surroundings_.memory.take(memory->size);
    surroundings_.memory.note_peak();
    return memory;
  });
}

void OpenClBackend::handle(protocol::CreateSampler&& message) {
  samplers_.create(message.id, surroundings_.reporter, [&] {
    auto sampler = std::make_shared<Sampler>();
    cl_int status = CL_SUCCESS;
    sampler->native = Handle(clCreateSampler(contexts_.get(message.context)->native.get(),
                                             message.normalized ? CL_TRUE : CL_FALSE, message.addressing,
                                             message.filter, &status));
    check(status, "clCreateSampler");
    return sampler;
  });
}

void OpenClBackend::handle(protocol::Release&& message) {
  for (const ObjectId id : message.objects) {
    const bool found = memory_.erase(id) || kernels_.erase(id) || programs_.erase(id) || queues_.erase(id) ||
                       samplers_.erase(id) || contexts_.erase(id) ||
                       (id >= protocol::kFirstSubDevice && devices_.erase(id) > 0);
    if (!found) throw unknown_release(id);
  }
  for (const CommandId id : message.events) events_.erase(id);
}

}  // namespace clique::daemon::opencl
