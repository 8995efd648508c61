#include "daemon/backend/opencl/device_uuids.hpp"

#include <algorithm>
#include <initializer_list>

#include "daemon/common/vendor_ids.hpp"
#include "protocol/digest.hpp"
#include "protocol/properties.hpp"

namespace clique::daemon::opencl {

namespace {

std::string_view uuid_bytes(const Uuid& uuid) {
  return {reinterpret_cast<const char*>(uuid.data()), uuid.size()};
}

/// A UUID of version 8. The same names in the same order always give the same one.
Uuid uuid_of(std::initializer_list<std::string_view> names) {
  protocol::DigestBuilder builder;
  // With their sizes, so that no other names give the same sequence of bytes.
  for (const std::string_view name : names) builder.add(std::to_string(name.size())).add(":").add(name);
  const protocol::Digest digest = builder.digest();
  Uuid uuid{};
  std::copy_n(digest.begin(), uuid.size(), uuid.begin());
  uuid[6] = static_cast<cl_uchar>(0x80U | (uuid[6] & 0x0fU));
  uuid[8] = static_cast<cl_uchar>(0x80U | (uuid[8] & 0x3fU));
  return uuid;
}

ReportedIdentity reported_identity(cl_device_id device) {
  const auto query = [device](cl_device_info name) {
    return [device, name](std::size_t size, void* value, std::size_t* size_ret) {
      return clGetDeviceInfo(device, name, size, value, size_ret);
    };
  };
  ReportedIdentity identity;
  const auto uuid = get_value<Uuid>(query(CL_DEVICE_UUID_KHR));
  if (uuid != Uuid{}) identity.uuid = uuid;
  identity.nvidia_gpu = get_value<cl_uint>(query(CL_DEVICE_VENDOR_ID)) == kNvidiaVendor &&
                        (get_value<cl_device_type>(query(CL_DEVICE_TYPE)) & CL_DEVICE_TYPE_GPU) != 0;
  return identity;
}

std::string platform_name(cl_platform_id platform) {
  return get_text([platform](std::size_t size, void* value, std::size_t* size_ret) {
    return clGetPlatformInfo(platform, CL_PLATFORM_NAME, size, value, size_ret);
  });
}

/// The platform's name, with a number if earlier platforms of this node have the same name.
std::string driver_name(cl_platform_id platform) {
  cl_uint count = 0;
  clGetPlatformIDs(0, nullptr, &count);
  std::vector<cl_platform_id> platforms(count);
  if (count > 0) clGetPlatformIDs(count, platforms.data(), nullptr);
  const std::string name = platform_name(platform);
  const auto place = std::find(platforms.begin(), platforms.end(), platform);
  const auto same = std::count_if(platforms.begin(), place,
                                  [&name](cl_platform_id other) { return platform_name(other) == name; });
  return same == 0 ? name : name + " #" + std::to_string(same + 1);
}

template <typename T>
void add_value(protocol::DeviceDescription& device, cl_device_info name, const T& value) {
  const auto* const begin = reinterpret_cast<const std::uint8_t*>(&value);
  device.properties.push_back({name, protocol::Bytes(begin, begin + sizeof value)});
}

}  // namespace

std::vector<Uuid> device_uuids(std::string_view node, std::string_view driver,
                               std::span<const ReportedIdentity> devices) {
  std::vector<Uuid> uuids;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const std::optional<Uuid>& reported = devices[i].uuid;
    if (devices[i].nvidia_gpu && reported) {
      uuids.push_back(*reported);
      continue;
    }
    const auto earlier = devices.first(i);
    const auto same = std::count_if(earlier.begin(), earlier.end(),
                                    [&](const ReportedIdentity& other) { return other.uuid == reported; });
    uuids.push_back(uuid_of({"device", node, driver, reported ? uuid_bytes(*reported) : std::string_view(),
                             std::to_string(same)}));
  }
  return uuids;
}

std::map<cl_device_id, Uuid> device_uuids(cl_platform_id platform, const std::string& node) {
  // All of them, so that a UUID does not depend on which of the devices the node offers.
  cl_uint count = 0;
  clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
  std::vector<cl_device_id> devices(count);
  if (count > 0) clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr);
  std::vector<ReportedIdentity> reported;
  reported.reserve(devices.size());
  for (const cl_device_id device : devices) reported.push_back(reported_identity(device));
  const std::vector<Uuid> uuids = device_uuids(node, driver_name(platform), reported);
  std::map<cl_device_id, Uuid> result;
  for (std::size_t i = 0; i < devices.size(); ++i) result.emplace(devices[i], uuids[i]);
  return result;
}

void set_uuid(protocol::DeviceDescription& device, const Uuid& uuid) {
  std::erase_if(device.properties, [](const auto& property) { return property.name == CL_DEVICE_UUID_KHR; });
  add_value(device, CL_DEVICE_UUID_KHR, uuid);
  if (protocol::find_property(device.properties, CL_DRIVER_UUID_KHR) == nullptr) {
    const auto text = [&device](cl_device_info name) {
      const protocol::Bytes* const value = protocol::find_property(device.properties, name);
      return value != nullptr ? std::string(value->begin(), value->end()) : std::string();
    };
    add_value(device, CL_DRIVER_UUID_KHR,
              uuid_of({"driver", text(CL_DEVICE_VERSION), text(CL_DRIVER_VERSION)}));
  }
  if (protocol::find_property(device.properties, CL_DEVICE_LUID_VALID_KHR) != nullptr) return;
  add_value(device, CL_DEVICE_LUID_VALID_KHR, cl_bool{CL_FALSE});
  add_value(device, CL_DEVICE_LUID_KHR, std::array<cl_uchar, CL_LUID_SIZE_KHR>{});
  add_value(device, CL_DEVICE_NODE_MASK_KHR, cl_uint{0});
}

}  // namespace clique::daemon::opencl
