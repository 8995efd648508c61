#pragma once

#include <vector>

#include "icd/core/objects/device.hpp"

namespace clique::icd::api {

/// The root devices that clGetDeviceIDs returns for a type. Throws Error(CL_INVALID_DEVICE_TYPE), or
/// Error(CL_DEVICE_NOT_FOUND) if there is none.
std::vector<Ref<Device>> devices_of_type(cl_device_type type);

}  // namespace clique::icd::api
