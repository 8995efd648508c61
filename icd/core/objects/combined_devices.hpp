// Which devices are combined to one.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "icd/common/device_choice.hpp"
#include "icd/core/objects/device.hpp"

namespace clique::icd {

/// The names by which settings choose a device.
DeviceNames names_of_device(const Device& device);

/// The combined devices that a value of CLIQUE_COMBINE asks for. Says on standard error which entries name no
/// device, and which devices cannot be combined.
/// @param devices root devices, in the order in which positions count
std::vector<Ref<Device>> combined_devices(const std::vector<Ref<Device>>& devices, std::string_view choice);

}  // namespace clique::icd
