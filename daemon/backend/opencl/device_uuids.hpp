// The UUIDs by which programs recognise devices (cl_khr_device_uuid). Many OpenCL drivers report none, or the
// same ones on every host.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/backend/opencl/native.hpp"
#include "protocol/descriptions.hpp"

namespace clique::daemon::opencl {

using Uuid = std::array<cl_uchar, CL_UUID_SIZE_KHR>;

/// What a driver reports about the identity of one of its devices.
struct ReportedIdentity {
  std::optional<Uuid> uuid;  ///< CL_DEVICE_UUID_KHR
  bool nvidia_gpu = false;   ///< NVIDIA's UUIDs differ all over the world
};

/// One UUID for each device of a driver. NVIDIA GPUs keep the one that their driver reports. All others are
/// made from the node, the driver, what the driver reports, and the number of earlier devices with the same
/// report (RFC 9562, version 8), so they differ between devices and between nodes, and never change.
/// @param node as SessionOptions::node
/// @param driver differs between the drivers of a node
std::vector<Uuid> device_uuids(std::string_view node, std::string_view driver,
                               std::span<const ReportedIdentity> devices);

/// The same for all devices of a platform of this node.
std::map<cl_device_id, Uuid> device_uuids(cl_platform_id platform, const std::string& node);

/// Gives the device this UUID, and the answers to the other queries of the extension that its driver leaves
/// open.
void set_uuid(protocol::DeviceDescription& device, const Uuid& uuid);

}  // namespace clique::daemon::opencl
