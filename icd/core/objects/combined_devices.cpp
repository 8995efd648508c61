#include "icd/core/objects/combined_devices.hpp"

#include <CL/cl_ext.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "icd/common/say.hpp"
#include "icd/common/setting_text.hpp"
#include "icd/core/workers/worker.hpp"
#include "icd/remote/nodes/nodes.hpp"
#include "protocol/properties.hpp"

namespace clique::icd {

namespace {

/// The properties that all members of a combined device share, so that a program for one suits all:
/// those that compilation depends on, and those that programs query.
constexpr std::array kAlike{
    std::pair{CL_DEVICE_TYPE, "type"},
    std::pair{CL_DEVICE_VERSION, "version of OpenCL"},
    std::pair{CL_DEVICE_OPENCL_C_VERSION, "version of OpenCL C"},
    std::pair{CL_DEVICE_VENDOR, "vendor"},
    std::pair{CL_DEVICE_EXTENSIONS, "extensions"},
    std::pair{CL_DEVICE_OPENCL_C_FEATURES, "features of OpenCL C"},
    std::pair{CL_DEVICE_ADDRESS_BITS, "width of addresses"},
    std::pair{CL_DEVICE_ENDIAN_LITTLE, "order of bytes"},
    std::pair{CL_DEVICE_MEM_BASE_ADDR_ALIGN, "alignment of sub-buffers"},
    std::pair{CL_DEVICE_HALF_FP_CONFIG, "half precision"},
    std::pair{CL_DEVICE_SINGLE_FP_CONFIG, "single precision"},
    std::pair{CL_DEVICE_DOUBLE_FP_CONFIG, "double precision"},
    std::pair{CL_DEVICE_IMAGE_SUPPORT, "support of images"},
    std::pair{CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, "support of partial work-groups"},
};

std::string text_of(const Device& device) {
  return "'" + device.text(CL_DEVICE_NAME) + "' of node " + device.worker().node().name();
}

/// The version of a device's driver, without what Device adds for its node.
std::string driver_version(const Device& device) {
  const std::string text = device.text(CL_DRIVER_VERSION);
  return text.substr(0, text.rfind(" (Clique "));
}

/// In what two devices differ; empty: they can be combined.
std::string difference(const Device& one, const Device& other) {
  // Its compiler predefines the same macros, which are checked for one member only.
  if (driver_version(one) != driver_version(other)) return "version of the driver";
  for (const auto& [name, what] : kAlike) {
    const auto a = one.property(name);
    const auto b = other.property(name);
    if (a.has_value() != b.has_value() || (a && !std::equal(a->begin(), a->end(), b->begin(), b->end())))
      return what;
  }
  return {};
}

/// Combines those of the devices that are like the first one.
Ref<Device> combined(const std::vector<Ref<Device>>& devices, const std::string& group) {
  std::vector<Ref<Device>> members;
  for (const Ref<Device>& device : devices) {
    const std::string differs = members.empty() ? std::string() : difference(*members.front(), *device);
    if (differs.empty()) {
      members.push_back(device);
    } else {
      say("CLIQUE_COMBINE: " + text_of(*device) + " is left out of the group '" + group +
          "', because it differs from " + text_of(*members.front()) + ": " + differs);
    }
  }
  if (members.size() > 1) return Ref<Device>(new Device(std::move(members)));
  say("CLIQUE_COMBINE: the group '" + group + "' has " +
      (devices.empty() ? "no device" : "only one device that can be combined, " + text_of(*devices.front())) +
      "; a combined device needs two that are alike. `clique devices` lists them");
  return {};
}

std::vector<Ref<Device>> chosen_for(const std::vector<Ref<Device>>& devices, const std::string& group) {
  if (group == "all") return devices;
  std::vector<DeviceNames> names;
  names.reserve(devices.size());
  for (const Ref<Device>& device : devices) names.push_back(names_of_device(*device));
  const DeviceChoice choice = choose_devices(names, group);
  for (const std::string& entry : choice.unmatched)
    say("CLIQUE_COMBINE: none of the " + std::to_string(devices.size()) + " devices matches '" + entry + "'");
  std::vector<Ref<Device>> result;
  for (const std::size_t position : choice.positions) result.push_back(devices[position]);
  return result;
}

}  // namespace

DeviceNames names_of_device(const Device& device) {
  return {device.text(CL_DEVICE_NAME), device.worker().node().name(),
          protocol::uuid_text(device.property(CL_DEVICE_UUID_KHR).value_or(std::span<const std::byte>()))};
}

std::vector<Ref<Device>> combined_devices(const std::vector<Ref<Device>>& devices, std::string_view choice) {
  std::vector<Ref<Device>> result;
  while (!choice.empty()) {
    const auto semicolon = std::min(choice.find(';'), choice.size());
    const std::string group(trimmed(choice.substr(0, semicolon)));
    choice.remove_prefix(std::min(semicolon + 1, choice.size()));
    if (group.empty()) continue;
    if (Ref<Device> device = combined(chosen_for(devices, group), group)) result.push_back(std::move(device));
  }
  return result;
}

}  // namespace clique::icd
