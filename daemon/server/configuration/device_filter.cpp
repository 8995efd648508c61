#include "daemon/server/configuration/device_filter.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include "daemon/server/configuration/config_error.hpp"

namespace clique::daemon {

namespace {

// Values of cl_device_type.
constexpr std::uint64_t kCpu = 2;
constexpr std::uint64_t kGpu = 4;
constexpr std::uint64_t kAccelerator = 8;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string trimmed(std::string text) {
  text.erase(0, text.find_first_not_of(" \t"));
  text.erase(text.find_last_not_of(" \t") + 1);
  return text;
}

const char* type_name(std::uint64_t type) {
  if ((type & kGpu) != 0) return "gpu";
  if ((type & kCpu) != 0) return "cpu";
  return (type & kAccelerator) != 0 ? "accelerator" : "other";
}

bool is_processor(const ListedDevice& device) {
  return (device.type & (kGpu | kAccelerator)) == 0 && (device.type & kCpu) != 0;
}

/// Whether the devices that are offered by default include this one: processors are the fallback of nodes
/// that have nothing else, so that none takes the place of a GPU.
bool offered_by_default(const ListedDevice& device, const std::vector<ListedPlatform>& platforms) {
  return !is_processor(device) ||
         std::all_of(platforms.begin(), platforms.end(), [](const ListedPlatform& platform) {
           return std::all_of(platform.devices.begin(), platform.devices.end(), is_processor);
         });
}

bool matches(const std::string& wish, std::size_t index, const ListedDevice& device) {
  if (wish == "all") return true;
  if (std::all_of(wish.begin(), wish.end(), [](unsigned char c) { return std::isdigit(c) != 0; }))
    return wish == std::to_string(index);
  return wish == type_name(device.type) || lower(device.name).find(wish) != std::string::npos;
}

}  // namespace

std::vector<SelectedPlatform> select_devices(const std::string& spec,
                                             const std::vector<ListedPlatform>& platforms) {
  std::vector<std::string> wishes;
  for (std::size_t begin = 0; begin <= spec.size() && !spec.empty();) {
    const auto end = std::min(spec.find(',', begin), spec.size());
    const auto wish = lower(trimmed(spec.substr(begin, end - begin)));
    if (wish.empty()) throw ConfigError("devices: '" + spec + "' has an empty element; remove one comma");
    wishes.push_back(wish);
    begin = end + 1;
  }

  std::set<std::string> idle(wishes.begin(), wishes.end());
  std::vector<SelectedPlatform> result;
  std::size_t index = 0;
  for (const ListedPlatform& platform : platforms) {
    SelectedPlatform selected{platform.kind, platform.index, platform.name, {}};
    for (std::uint32_t i = 0; i < platform.devices.size(); ++i, ++index) {
      bool wanted = wishes.empty() && offered_by_default(platform.devices[i], platforms);
      for (const std::string& wish : wishes) {
        if (!matches(wish, index, platform.devices[i])) continue;
        wanted = true;
        idle.erase(wish);
      }
      if (wanted) selected.devices.push_back(i);
    }
    if (!selected.devices.empty()) result.push_back(std::move(selected));
  }
  if (!idle.empty())
    throw ConfigError(
        "devices: '" + *idle.begin() +
        "' is neither 'all' nor an index, a type or part of a name of this node's devices, which are\n" +
        device_table(platforms));
  return result;
}

DeviceSubset select_subset(const std::string& spec, const NodeDevices& devices) {
  const auto selected = select_devices(spec, devices.all);
  DeviceSubset result;
  for (const SelectedPlatform& served : devices.served) {
    std::vector<std::uint32_t>& positions = result.emplace_back();
    const auto platform = std::find_if(selected.begin(), selected.end(), [&](const SelectedPlatform& one) {
      return one.kind == served.kind && one.index == served.index;
    });
    if (platform == selected.end()) continue;
    for (std::uint32_t i = 0; i < served.devices.size(); ++i)
      if (std::binary_search(platform->devices.begin(), platform->devices.end(), served.devices[i]))
        positions.push_back(i);
  }
  return result;
}

std::string device_table(const std::vector<ListedPlatform>& platforms) {
  std::string table;
  std::size_t index = 0;
  for (const ListedPlatform& platform : platforms)
    for (const ListedDevice& device : platform.devices) {
      table += (index == 0 ? "  " : "\n  ") + std::to_string(index) + "  " + type_name(device.type) + "  " +
               device.name + " (" + platform.name + ")";
      ++index;
    }
  return table.empty() ? "  none; install an OpenCL driver, such as pocl-opencl-icd" : table;
}

}  // namespace clique::daemon
