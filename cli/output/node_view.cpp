#include "cli/output/node_view.hpp"

#include <CL/cl.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/common/commands.hpp"
#include "cli/output/text_table.hpp"
#include "icd/remote/nodes/discovery.hpp"
#include "icd/remote/nodes/resolve.hpp"
#include "protocol/printable.hpp"

namespace clique::cli {

namespace {

using protocol::printable;

icd::NodeSettings read_settings(bool named) {
  if (!named && icd::is_off())
    throw Failed("CLIQUE_NODES is off, so no node is configured; set it, or name nodes on the command line");
  icd::NodeSettings settings = icd::NodeSettings::read();
  if (named) return settings;
  const std::vector<std::string> problems = icd::settle_nodes(settings);
  if (!problems.empty()) throw Failed(printable(problems.front()));
  return settings;
}

std::vector<icd::NodeAddress> chosen_nodes(const icd::NodeSettings& settings,
                                           const std::vector<std::string>& named) {
  std::vector<icd::NodeAddress> nodes;
  for (const std::string& entry : named)
    for (icd::NodeAddress& node : icd::parse_node_list(entry)) nodes.push_back(std::move(node));
  if (named.empty()) nodes = settings.nodes;
  if (nodes.empty()) nodes.push_back({"localhost"});
  icd::remove_repeated(nodes);
  return nodes;
}

std::string number_text(std::uint64_t number) {
  return number == protocol::kUnknown ? "unknown" : std::to_string(number);
}

/// HOST:PORT, to be printed.
std::string place_of(const icd::NodeRoute& route) {
  return printable(route.endpoint.substr(route.endpoint.find("://") + 3));
}

nlohmann::ordered_json json_of_device(const protocol::DeviceStatus& device) {
  return {{"name", device.name},
          {"type", device_type(device.type)},
          {"backend", device.backend},
          {"driver", device.driver},
          {"driver_version", device.driver_version},
          {"memory_total", json_of_known(device.memory_total)},
          {"memory_free", json_of_known(device.memory_free)},
          {"utilisation", json_of_known(device.utilisation)},
          {"pci", json_of_text(device.pci)}};
}

nlohmann::ordered_json json_of_space(const protocol::FolderSpace& space) {
  return {{"folder", json_of_text(space.folder)},
          {"total", json_of_known(space.total)},
          {"free", json_of_known(space.free)}};
}

nlohmann::ordered_json json_of_health(const protocol::Status& status) {
  const protocol::NodeHealth& health = status.health;
  auto walls = nlohmann::ordered_json::array();
  for (const protocol::MissingWall& wall : health.missing_walls)
    walls.push_back({{"name", wall.name}, {"reason", wall.reason}, {"remedy", wall.remedy}});
  auto problems = nlohmann::ordered_json::array();
  for (const HealthProblem& problem : health_problems(status))
    problems.push_back({{"bad", problem.bad}, {"text", problem.text}, {"remedy", problem.remedy}});
  return {{"confined", health.confined},
          {"missing_walls", std::move(walls)},
          {"cache", json_of_space(health.cache)},
          {"shared_memory", json_of_space(health.shared_memory)},
          {"compiler", json_of_text(health.compiler)},
          {"compiler_release", json_of_text(health.compiler_release)},
          {"problems", std::move(problems)}};
}

}  // namespace

nlohmann::ordered_json json_of_known(std::uint64_t number) {
  return number == protocol::kUnknown ? nlohmann::ordered_json() : nlohmann::ordered_json(number);
}

nlohmann::ordered_json json_of_text(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
}

NodeView::NodeView(const std::vector<std::string>& named)
    : settings_(read_settings(!named.empty())),
      nodes_(chosen_nodes(settings_, named)),
      trust_(settings_.security) {}

std::vector<icd::NodeState> NodeView::look() const {
  return icd::look_at_nodes(nodes_, settings_.connect_timeout, trust_);
}

std::vector<icd::NodeRoute> NodeView::routes(const std::vector<icd::NodeState>& states) const {
  return icd::routes_between(states, settings_.connect_timeout, trust_);
}

std::string NodeView::steer(const icd::NodeAddress& node, const protocol::Steer& steer) const {
  try {
    return printable(icd::steer_node(node, steer, settings_.connect_timeout, trust_));
  } catch (const icd::Unreachable& error) {
    throw Failed("node " + node.text() + ": " + printable(error.what()));
  }
}

std::string_view state_word(const icd::NodeState& state) {
  if (!state.status) return "unreachable";
  return state.status->draining ? "draining" : "up";
}

std::string state_text(const icd::NodeState& state) {
  std::string text(state_word(state));
  if (!state.status) text += ": " + printable(state.failure);
  if (state.status && !state.status->cause.empty()) text += ' ' + printable(state.status->cause);
  return text;
}

std::string node_name(const icd::NodeState& state) {
  return state.status ? printable(state.status->node) : state.node.text();
}

std::string_view device_type(std::uint64_t type) {
  if ((type & CL_DEVICE_TYPE_GPU) != 0) return "gpu";
  if ((type & CL_DEVICE_TYPE_CPU) != 0) return "cpu";
  return (type & CL_DEVICE_TYPE_ACCELERATOR) != 0 ? "accelerator" : "other";
}

std::string devices_text(const protocol::Status& status) {
  std::map<std::string_view, std::size_t> counts;
  for (const protocol::DeviceStatus& device : status.devices) ++counts[device_type(device.type)];
  std::string text;
  constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
      {"gpu", "GPU"}, {"cpu", "CPU"}, {"accelerator", "accelerator"}, {"other", "other device"}};
  for (const auto& [kind, name] : kKinds) {
    if (counts[kind] == 0) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(counts[kind]) + " " + std::string(name);
    if (counts[kind] > 1) text += 's';
  }
  return text.empty() ? "none" : text;
}

std::string sessions_text(const protocol::Status& status) {
  return number_text(status.sessions) +
         (status.session_limit == 0 ? "" : "/" + number_text(status.session_limit));
}

std::string round_trip_text(const icd::NodeState& state) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f ms", static_cast<double>(state.round_trip.count()) / 1000);
  return text;
}

std::vector<HealthProblem> health_problems(const protocol::Status& status) {
  const protocol::NodeHealth& health = status.health;
  std::vector<HealthProblem> problems;
  if (!health.confined)
    problems.push_back({false, "sessions have no walls: confinement is off",
                        "set confinement = \"on\" in cliqued.toml there"});
  for (const protocol::MissingWall& wall : health.missing_walls)
    problems.push_back(
        {false, "sessions run without the wall " + printable(wall.name) + ": " + printable(wall.reason),
         printable(wall.remedy)});
  const std::pair<const protocol::FolderSpace*, const char*> spaces[] = {
      {&health.cache, "compiled programs"}, {&health.shared_memory, "shared memory"}};
  for (const auto& [space, what] : spaces)
    if (space->free < kLeastSpace)
      problems.push_back(
          {true, bytes_text(space->free) + " are free for " + what + " in " + printable(space->folder),
           "remove files there, or enlarge the file system"});
  const bool other_driver =
      std::any_of(status.devices.begin(), status.devices.end(), [](const protocol::DeviceStatus& device) {
        return device.driver.starts_with("NVIDIA") && device.backend != "cuda";
      });
  if (other_driver && health.compiler.empty())
    problems.push_back(
        {false, "GPUs of NVIDIA are used through their OpenCL driver: " + printable(health.without_compiler),
         "install it, so that they are used through CUDA"});
  if (!health.compiler_release.empty() && health.compiler_release != status.release)
    problems.push_back(
        {true,
         printable(health.compiler) + " is of release " + printable(health.compiler_release) +
             ", cliqued is of release " + printable(status.release),
         "install the same release of both there, and restart cliqued: systemctl restart cliqued"});
  return problems;
}

std::string broken_text(const icd::NodeRoute& route, const std::vector<icd::NodeState>& states) {
  const std::string from = node_name(states[route.from]);
  const std::string to = node_name(states[route.to]);
  if (!route.outcome) return from + " has not said whether it reaches " + to + ": " + printable(route.reason);
  return from + " cannot reach " + to + " at " + place_of(route) + ": " + printable(route.reason);
}

std::string remedy_of(const icd::NodeRoute& route, const std::vector<icd::NodeState>& states) {
  using Outcome = protocol::ReachedNode::Outcome;
  const std::string from = node_name(states[route.from]);
  const std::string to = node_name(states[route.to]);
  const std::string port = "TCP port " + std::to_string(states[route.to].node.port);
  const std::string other_address = "set 'advertise' in cliqued.toml of " + to +
                                    " to a name or address by which " + from +
                                    " reaches it, or name it so in CLIQUE_NODES";
  if (!route.outcome) return "the log of cliqued on " + from + " may say why";
  if (route.astray) return "this name or address means another host there: " + other_address;
  switch (*route.outcome) {
    case Outcome::Refused:
      return "check that cliqued on " + to + " listens at this address (its setting 'listen'), and open " +
             port + " on its host for connections from " + from;
    case Outcome::Silent:
      return "open " + port + " on the host of " + to +
             ", and on firewalls on the way, for connections from " + from;
    case Outcome::Unresolved:
      return "enter the name in DNS or in /etc/hosts on " + from + "; or " + other_address;
    case Outcome::Foreign:
      return "check which program has this port there; if it is another host than you mean, " + other_address;
    default:
      return "check the network of " + from + ", and its routes to " + to;
  }
}

nlohmann::ordered_json json_of(const icd::NodeState& state) {
  nlohmann::ordered_json node{{"address", state.node.text()}, {"state", state_word(state)}};
  if (!state.status) {
    node["reason"] = state.failure;
    return node;
  }
  const protocol::Status& status = *state.status;
  node["reason"] = status.cause.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(status.cause);
  node["name"] = status.node;
  node["version"] = status.release;
  node["uptime_seconds"] = static_cast<double>(status.uptime_ms) / 1000;
  node["round_trip_ms"] = static_cast<double>(state.round_trip.count()) / 1000;
  node["encryption"] = to_text(status.encryption);
  node["administrator"] = status.administrator;
  node["sessions"] = status.sessions;
  node["session_limit"] =
      status.session_limit == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(status.session_limit);
  node["health"] = json_of_health(status);
  node["devices"] = nlohmann::ordered_json::array();
  for (const protocol::DeviceStatus& device : status.devices)
    node["devices"].push_back(json_of_device(device));
  return node;
}

nlohmann::ordered_json json_of(const protocol::SessionStatus& session) {
  const protocol::Usage& usage = session.usage;
  return {{"id", session.id},
          {"client", session.client},
          {"user", session.user.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(session.user)},
          {"address", session.address},
          {"program", session.program},
          {"seconds", static_cast<double>(session.age_ms) / 1000},
          {"own", session.own},
          {"devices", session.devices},
          {"share", session.share},
          {"load", json_of_known(session.load)},
          {"memory", usage.memory},
          {"peak_memory", usage.peak_memory},
          {"kernels", usage.kernels},
          {"network_in", usage.network_in},
          {"network_out", usage.network_out},
          {"shared_in", usage.shared_in},
          {"shared_out", usage.shared_out},
          {"peers_in", usage.peers_in},
          {"peers_out", usage.peers_out}};
}

nlohmann::ordered_json json_of(const protocol::PublicKey& key, const std::string& file) {
  return {{"file", file}, {"public_key", key.text()}, {"fingerprint", key.fingerprint()}};
}

void check_reason(const std::string& reason) {
  if (reason.size() > protocol::kLongestReason)
    throw Failed("the reason has " + std::to_string(reason.size()) + " bytes; at most " +
                 std::to_string(protocol::kLongestReason) + " are possible: shorten it");
}

}  // namespace clique::cli
