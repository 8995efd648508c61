// Contexts, queues, memory objects and samplers. Creating an object is not answered. If it fails, every
// command that uses the object fails with the status of the creation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/descriptions.hpp"
#include "protocol/messages/message.hpp"

namespace clique::protocol {

struct CreateContext {
  ObjectId id = 0;
  std::vector<DeviceId> devices;
  CLIQUE_MESSAGE(CreateContext, id, devices)
};

/// Answered by SubDevicesCreated. The sub-devices get the ids `first`, `first` + 1, ...
struct CreateSubDevices {
  RequestId request = 0;
  DeviceId parent = 0;
  std::vector<std::int64_t> properties;  ///< cl_device_partition_property list, including the final 0
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
  /// With CL_QUEUE_PROFILING_ENABLE: the times are for a trace. Measuring them must cost as little as
  /// possible, and they may be wrong by a few microseconds.
  bool traced = false;
  CLIQUE_MESSAGE(CreateQueue, id, context, device, properties, traced)
};

struct CreateBuffer {
  ObjectId id = 0;
  ObjectId context = 0;
  std::uint64_t flags = 0;  ///< cl_mem_flags, only those about access by kernels
  std::uint64_t size = 0;
  /// The address that the worker must map the buffer at, because kernels will find pointers to it (an
  /// allocation of shared virtual memory): the beginning of a page that nothing else uses. 0: any address.
  std::uint64_t address = 0;
  /// A segment that was given for this address, whose first `size` bytes are the buffer's memory. The buffer
  /// keeps them when the segment is freed. 0: the worker allocates the memory.
  ObjectId segment = 0;
  /// Whether the buffer is sparse: it has addresses for all of its bytes, and memory only for those that
  /// commands have used (DeviceDescription::sparse_buffers). A command that needs more memory than there is
  /// fails. Not together with `address`.
  bool sparse = false;
  CLIQUE_MESSAGE(CreateBuffer, id, context, flags, size, address, segment, sparse)
};

/// The session needs no content of a sparse buffer but these ranges, in ascending order. The worker frees the
/// memory of the rest, as soon as no earlier command uses it.
struct TrimBuffer {
  ObjectId buffer = 0;
  std::vector<ByteRange> kept;
  CLIQUE_MESSAGE(TrimBuffer, buffer, kept)
};

/// A range of a buffer. If the buffer has an address (CreateBuffer::address), the device's alignment of
/// sub-buffers does not apply.
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
  Triple extent{};  ///< width, height, depth; 1 for a dimension that the type does not have
  std::uint64_t array_size = 0;
  std::uint64_t row_pitch = 0;  ///< if the image uses `buffer`, else 0
  ObjectId buffer = 0;          ///< the memory of a 1D buffer image or of a 2D image from a buffer, else 0
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

/// The client does not use these objects and events any more. The driver keeps what pending commands need.
struct Release {
  std::vector<ObjectId> objects;
  std::vector<CommandId> events;
  CLIQUE_MESSAGE(Release, objects, events)
};

/// Worker to client: an operation failed that no request or event reports, or why the command fails whose
/// event reports that next. Goes to the context's error callback.
struct Failed {
  ObjectId object = 0;  ///< the object concerned, or 0
  std::int32_t status = 0;
  std::string what;
  /// The command of the queue `object` that has failed, if its end is not reported: until the next Finished,
  /// nothing else tells the client. Comes before the reports of later commands of an in-order queue, but
  /// earlier ones may not have been reported. 0: nothing of the kind.
  CommandId command = 0;
  CLIQUE_MESSAGE(Failed, object, status, what, command)
};

}  // namespace clique::protocol
