#include <CL/cl_ext.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/common/commands.hpp"
#include "cli/output/node_view.hpp"
#include "cli/output/print_json.hpp"
#include "cli/output/text_table.hpp"
#include "icd/common/settings.hpp"
#include "icd/remote/nodes/node_state.hpp"
#include "icd/remote/nodes/nodes.hpp"
#include "icd/remote/nodes/selection.hpp"
#include "icd/remote/nodes/trust.hpp"
#include "protocol/printable.hpp"
#include "protocol/properties.hpp"
#include "protocol/transport/zmq.hpp"
#include "protocol/transport/zmq_context.hpp"

namespace clique::cli {

namespace {

/// A device of the platform. Texts that nodes have sent are printable.
struct OfferedDevice {
  std::size_t position = 0;       ///< in the full list, as CLIQUE_DEVICES counts
  std::size_t node_position = 0;  ///< of its node, among those that were found
  std::string node;
  std::string own_name;  ///< as the node calls it
  std::string name;      ///< as programs see it
  std::string type;
  std::uint64_t memory = 0;  ///< bytes
  std::string uuid;
  std::string backend;
  std::string pci;                                 ///< empty: unknown
  std::uint64_t memory_free = protocol::kUnknown;  ///< bytes
  std::uint64_t utilisation = protocol::kUnknown;  ///< percent

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
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const icd::Node* const node = nodes[i].get();
    for (const protocol::Driver& driver : node->drivers()) {
      for (const protocol::DeviceDescription& description : driver.devices) {
        OfferedDevice device;
        device.position = devices.size();
        device.node_position = i;
        device.node = protocol::printable(node->name());
        device.own_name =
            protocol::printable(protocol::property_text(description.properties, CL_DEVICE_NAME));
        device.name = device.own_name;
        if (node->use().names_with_node) device.name += " @ " + device.node;
        device.type =
            type_text(protocol::property_value<cl_device_type>(description.properties, CL_DEVICE_TYPE));
        device.memory = protocol::property_value<cl_ulong>(description.properties, CL_DEVICE_GLOBAL_MEM_SIZE);
        device.uuid =
            protocol::uuid_text(protocol::property_bytes(description.properties, CL_DEVICE_UUID_KHR));
        device.backend = protocol::printable(driver.name);
        device.pci =
            protocol::pci_text(protocol::property_bytes(description.properties, CL_DEVICE_PCI_BUS_INFO_KHR));
        devices.push_back(std::move(device));
      }
    }
  }
  return devices;
}

/// Asks the nodes how much memory of the devices is free, and how busy they are. What they do not tell stays
/// unknown.
void add_state(std::vector<OfferedDevice>& devices, const std::vector<std::unique_ptr<icd::Node>>& nodes) {
  std::vector<icd::NodeAddress> asked;
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    // Private workers have no daemon that could be asked.
    if (!nodes[i]->address()) continue;
    asked.push_back(*nodes[i]->address());
    positions.push_back(i);
  }
  if (asked.empty()) return;
  const icd::NodeSettings settings = icd::NodeSettings::read();
  const auto states = icd::look_at_nodes(asked, settings.connect_timeout, icd::Trust(settings.security));
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (!states[i].status) continue;
    // The node lists its devices for this client in the same order both times.
    const auto& told = states[i].status->devices;
    auto next = told.begin();
    for (OfferedDevice& device : devices) {
      if (device.node_position != positions[i]) continue;
      if (next == told.end() || protocol::printable(next->name) != device.own_name) break;
      device.memory_free = next->memory_free;
      device.utilisation = next->utilisation;
      ++next;
    }
  }
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
  std::vector<OfferedDevice> all = devices_of(nodes);
  add_state(all, nodes);
  const std::vector<OfferedDevice> devices = chosen_of(all, nodes);
  if (as_json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const OfferedDevice& device : devices)
      list.push_back({{"index", list.size()},
                      {"node", device.node},
                      {"name", device.name},
                      {"type", device.type},
                      {"memory", device.memory},
                      {"memory_free", json_of_known(device.memory_free)},
                      {"utilisation", json_of_known(device.utilisation)},
                      {"pci", json_of_text(device.pci)},
                      {"uuid", device.uuid},
                      {"backend", device.backend},
                      {"select", device.selection()}});
    print_json(list);
  } else if (!devices.empty()) {
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < devices.size(); ++i) {
      const OfferedDevice& device = devices[i];
      rows.push_back(
          {std::to_string(i), device.node, device.name, device.type, memory_text(device.memory),
           device.memory_free == protocol::kUnknown ? "-" : memory_text(device.memory_free),
           device.utilisation == protocol::kUnknown ? "-" : std::to_string(device.utilisation) + "%",
           device.backend, device.pci.empty() ? "-" : device.pci, device.uuid, device.selection()});
    }
    const std::vector<Column> columns{{"#"},    {"NODE"},     {"DEVICE"}, {"TYPE"}, {"MEMORY"},     {"FREE"},
                                      {"LOAD"}, {"BACK END"}, {"PCI"},    {"UUID"}, {"SELECT WITH"}};
    for (const std::string& line : table_lines(columns, rows)) std::puts(line.c_str());
  }
  if (devices.empty())
    throw Failed(all.empty() ? "there are no devices; 'clique doctor' says why"
                             : "CLIQUE_DEVICES chooses none of the " + std::to_string(all.size()) +
                                   " devices; 'clique devices' without it lists them");
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
