#include <CL/cl_ext.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/text_table.hpp"
#include "icd/common/settings.hpp"
#include "icd/remote/nodes.hpp"
#include "icd/remote/selection.hpp"
#include "protocol/printable.hpp"
#include "protocol/properties.hpp"
#include "protocol/transport/zmq.hpp"
#include "protocol/transport/zmq_context.hpp"

namespace clique::cli {

namespace {

/// A device of the platform. Texts that nodes have sent are printable.
struct OfferedDevice {
  std::size_t position = 0;  ///< in the full list, as CLIQUE_DEVICES counts
  std::string node;
  std::string name;
  std::string type;
  std::uint64_t memory = 0;  ///< bytes
  std::string uuid;
  std::string backend;

  std::string selection() const { return "CLIQUE_DEVICES=" + std::to_string(position); }
};

std::string type_text(cl_device_type type) {
  if ((type & CL_DEVICE_TYPE_GPU) != 0) return "GPU";
  if ((type & CL_DEVICE_TYPE_CPU) != 0) return "CPU";
  if ((type & CL_DEVICE_TYPE_ACCELERATOR) != 0) return "accelerator";
  return "custom";
}

std::string memory_text(std::uint64_t bytes) {
  constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GiB", static_cast<double>(bytes) / kGibibyte);
  return text;
}

std::vector<OfferedDevice> devices_of(const std::vector<std::unique_ptr<icd::Node>>& nodes) {
  std::vector<OfferedDevice> devices;
  for (const std::unique_ptr<icd::Node>& node : nodes) {
    for (const protocol::Driver& driver : node->drivers()) {
      for (const protocol::DeviceDescription& description : driver.devices) {
        OfferedDevice device;
        device.position = devices.size();
        device.node = protocol::printable(node->name());
        device.name = protocol::printable(protocol::property_text(description.properties, CL_DEVICE_NAME));
        if (node->use().names_with_node) device.name += " @ " + device.node;
        device.type =
            type_text(protocol::property_value<cl_device_type>(description.properties, CL_DEVICE_TYPE));
        device.memory = protocol::property_value<cl_ulong>(description.properties, CL_DEVICE_GLOBAL_MEM_SIZE);
        device.uuid =
            protocol::uuid_text(protocol::property_bytes(description.properties, CL_DEVICE_UUID_KHR));
        device.backend = protocol::printable(driver.name);
        devices.push_back(std::move(device));
      }
    }
  }
  return devices;
}

/// Those that programs are offered, in their order.
std::vector<OfferedDevice> chosen_of(const std::vector<OfferedDevice>& all,
                                     const std::vector<std::unique_ptr<icd::Node>>& nodes) {
  const icd::Selection selection = icd::select_devices(nodes, icd::device_choice(), false);
  for (const std::string& problem : selection.problems)
    std::fprintf(stderr, "clique: %s\n", protocol::printable(problem).c_str());
  std::vector<OfferedDevice> chosen;
  for (const std::size_t position : selection.positions) chosen.push_back(all[position]);
  return chosen;
}

void list_devices(bool as_json) {
  if (icd::is_off()) throw Failed("CLIQUE_NODES is off, so there are no devices; unset it, or name nodes");
  protocol::ZmqContext zmq(protocol::io_threads());
  const auto nodes = icd::find_nodes(zmq);
  const std::vector<OfferedDevice> all = devices_of(nodes);
  const std::vector<OfferedDevice> devices = chosen_of(all, nodes);
  if (as_json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const OfferedDevice& device : devices)
      list.push_back({{"index", list.size()},
                      {"node", device.node},
                      {"name", device.name},
                      {"type", device.type},
                      {"memory", device.memory},
                      {"uuid", device.uuid},
                      {"backend", device.backend},
                      {"select", device.selection()}});
    std::printf("%s\n", list.dump(2).c_str());
  } else if (!devices.empty()) {
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < devices.size(); ++i) {
      const OfferedDevice& device = devices[i];
      rows.push_back({std::to_string(i), device.node, device.name, device.type, memory_text(device.memory),
                      device.backend, device.uuid, device.selection()});
    }
    const std::vector<Column> columns{{"#"},      {"NODE"},     {"DEVICE"}, {"TYPE"},
                                      {"MEMORY"}, {"BACK END"}, {"UUID"},   {"SELECT WITH"}};
    for (const std::string& line : table_lines(columns, rows)) std::puts(line.c_str());
  }
  if (devices.empty())
    throw Failed(all.empty()
                     ? "there are no devices; 'clique doctor' says why"
                     : "CLIQUE_DEVICES chooses none of the " + std::to_string(all.size()) + " devices");
}

}  // namespace

void add_devices(CLI::App& app, Action& chosen) {
  CLI::App* const command = app.add_subcommand(
      "devices", "List the devices that programs see, with their nodes, and how to select each");
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "Print JSON: a list of objects; memory is in bytes");
  command->callback([=, &chosen] { chosen = [=] { list_devices(*as_json); }; });
}

}  // namespace clique::cli
