// Contexts, queues and memory objects. Creation is not answered: an object whose creation failed makes every
// command that uses it fail with the status of the creation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/messages/devices.hpp"
#include "protocol/messages/message.hpp"

namespace clique::protocol {

struct CreateContext {
  ObjectId id = 0;
  std::vector<DeviceId> devices;
  CLIQUE_MESSAGE(CreateContext, id, devices)
};

/// Answered by SubDevicesCreated. `first` and its successors name the sub-devices.
struct CreateSubDevices {
  RequestId request = 0;
  DeviceId parent = 0;
  std::vector<std::int64_t> properties;  ///< cl_device_partition_property list, closing 0 included
  DeviceId first = 0;
  CLIQUE_MESSAGE(CreateSubDevices, request, parent, properties, first)
};

struct SubDevicesCreated {
  RequestId request = 0;
  std::int32_t status = 0;
  std::vector<DeviceDescription> devices;
  CLIQUE_MESSAGE(SubDevicesCreated, request, status, devices)
};

struct CreateQueue {
  ObjectId id = 0;
  ObjectId context = 0;
  DeviceId device = 0;
  std::uint64_t properties = 0;  ///< cl_command_queue_properties
  CLIQUE_MESSAGE(CreateQueue, id, context, device, properties)
};

struct CreateBuffer {
  ObjectId id = 0;
  ObjectId context = 0;
  std::uint64_t flags = 0;  ///< cl_mem_flags, only those on the access of kernels
  std::uint64_t size = 0;
  /// Where the worker has to have it, since kernels will meet pointers to it (an allocation of shared virtual
  /// memory): the beginning of a page that nothing else uses. 0: anywhere.
  std::uint64_t address = 0;
  CLIQUE_MESSAGE(CreateBuffer, id, context, flags, size, address)
};

/// A range of a buffer; of one with an address, whatever the device wants sub-buffers to be aligned to.
struct CreateSubBuffer {
  ObjectId id = 0;
  ObjectId parent = 0;
  std::uint64_t flags = 0;
  std::uint64_t origin = 0;
  std::uint64_t size = 0;
  CLIQUE_MESSAGE(CreateSubBuffer, id, parent, flags, origin, size)
};

struct CreateImage {
  ObjectId id = 0;
  ObjectId context = 0;
  std::uint64_t flags = 0;
  std::uint32_t channel_order = 0;
  std::uint32_t channel_type = 0;
  std::uint32_t image_type = 0;
  Triple extent{};  ///< width, height, depth; 1 where the type has none
  std::uint64_t array_size = 0;
  std::uint64_t row_pitch = 0;  ///< of an image over `buffer`, else 0
  ObjectId buffer = 0;          ///< the buffer below a 1D buffer image or a 2D image from a buffer, else 0
  CLIQUE_MESSAGE(CreateImage, id, context, flags, channel_order, channel_type, image_type, extent, array_size,
                 row_pitch, buffer)
};

struct CreateSampler {
  ObjectId id = 0;
  ObjectId context = 0;
  bool normalized = false;
  std::uint32_t addressing = 0;
  std::uint32_t filter = 0;
  CLIQUE_MESSAGE(CreateSampler, id, context, normalized, addressing, filter)
};

/// Objects and events that the client holds no longer. The driver keeps what pending commands need.
struct Release {
  std::vector<ObjectId> objects;
  std::vector<CommandId> events;
  CLIQUE_MESSAGE(Release, objects, events)
};

/// Something that nobody waits for went wrong: for the context's error callback.
struct Failed {
  ObjectId object = 0;  ///< or 0
  std::int32_t status = 0;
  std::string what;
  CLIQUE_MESSAGE(Failed, object, status, what)
};

}  // namespace clique::protocol
