#include "daemon/server/descriptions.hpp"

#include <CL/cl.h>

#include <algorithm>
#include <cstring>

namespace clique::daemon {

const protocol::Bytes* property_bytes(const protocol::DeviceDescription& device, std::uint32_t name) {
  const auto found = std::find_if(device.properties.begin(), device.properties.end(),
                                  [name](const protocol::Property& one) { return one.name == name; });
  return found != device.properties.end() ? &found->value : nullptr;
}

std::string text_property(const protocol::DeviceDescription& device, std::uint32_t name) {
  const protocol::Bytes* const value = property_bytes(device, name);
  if (value == nullptr) return {};
  return {value->begin(), std::find(value->begin(), value->end(), 0)};
}

std::optional<std::uint64_t> number_property(const protocol::DeviceDescription& device, std::uint32_t name) {
  const protocol::Bytes* const value = property_bytes(device, name);
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
  return property_bytes(device, CL_DEVICE_NAME) != nullptr ? text_property(device, CL_DEVICE_NAME) : "?";
}

std::vector<protocol::DeviceDescription> permitted(const Permit& permit, std::uint32_t driver,
                                                   const std::vector<protocol::DeviceDescription>& devices) {
  if (!permit.devices) return devices;
  std::vector<protocol::DeviceDescription> result;
  for (const std::uint32_t position : permit.devices->at(driver)) result.push_back(devices.at(position));
  return result;
}

}  // namespace clique::daemon
