#include "daemon/server/devices/descriptions.hpp"

#include <CL/cl.h>

#include <cstring>

#include "protocol/properties.hpp"

namespace clique::daemon {

std::optional<std::uint64_t> number_property(const protocol::DeviceDescription& device, std::uint32_t name) {
  const protocol::Bytes* const value = protocol::find_property(device.properties, name);
  if (value == nullptr) return std::nullopt;
  std::uint32_t small = 0;
  std::uint64_t large = 0;
  if (value->size() == sizeof small) {
    std::memcpy(&small, value->data(), sizeof small);
    return small;
  }
  if (value->size() != sizeof large) return std::nullopt;
  std::memcpy(&large, value->data(), sizeof large);
  return large;
}

std::string described_name(const protocol::DeviceDescription& device) {
  return protocol::find_property(device.properties, CL_DEVICE_NAME) != nullptr
             ? protocol::property_text(device.properties, CL_DEVICE_NAME)
             : "?";
}

std::vector<protocol::DeviceDescription> permitted(const Permit& permit, std::uint32_t driver,
                                                   const std::vector<protocol::DeviceDescription>& devices) {
  if (!permit.devices) return devices;
  std::vector<protocol::DeviceDescription> result;
  for (const std::uint32_t position : permit.devices->at(driver)) result.push_back(devices.at(position));
  return result;
}

}  // namespace clique::daemon
