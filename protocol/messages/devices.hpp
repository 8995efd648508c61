// Devices as nodes describe them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "protocol/messages/message.hpp"

namespace clique::protocol {

/// One property as the node's driver answers it: the bytes of clGet*Info.
struct Property {
  std::uint32_t name = 0;
  Bytes value;
  CLIQUE_FIELDS(Property, name, value)
};

/// What clGetSupportedImageFormats answers for one device.
struct ImageFormats {
  std::uint64_t flags =
      0;  ///< CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE, CL_MEM_KERNEL_READ_AND_WRITE
  std::uint32_t image_type = 0;                       ///< cl_mem_object_type
  std::vector<std::array<std::uint32_t, 2>> formats;  ///< channel order, channel type
  CLIQUE_FIELDS(ImageFormats, flags, image_type, formats)
};

/// A device with everything that clGetDeviceInfo answers for it.
struct DeviceDescription {
  std::vector<Property>
      properties;  ///< every cl_device_info that the driver knows, handles (platform, parent) left out
  std::vector<ImageFormats> image_formats;
  CLIQUE_FIELDS(DeviceDescription, properties, image_formats)
};

/// A driver of a node.
struct Driver {
  std::uint32_t id = 0;  ///< among the node's drivers, for as long as its daemon runs
  std::vector<DeviceDescription> devices;
  CLIQUE_FIELDS(Driver, id, devices)
};

}  // namespace clique::protocol
