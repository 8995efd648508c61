// What the daemon reads in the descriptions that workers make of their devices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/server/configuration/access.hpp"
#include "protocol/descriptions.hpp"

namespace clique::daemon {

/// A property that is a whole number of 4 or 8 bytes.
std::optional<std::uint64_t> number_property(const protocol::DeviceDescription& device, std::uint32_t name);

/// The device's name; "?" if the description lacks it.
std::string described_name(const protocol::DeviceDescription& device);

/// Those of a driver's devices that a client may use.
std::vector<protocol::DeviceDescription> permitted(const Permit& permit, std::uint32_t driver,
                                                   const std::vector<protocol::DeviceDescription>& devices);

}  // namespace clique::daemon
