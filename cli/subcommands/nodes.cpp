#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/common/commands.hpp"
#include "cli/output/node_view.hpp"
#include "cli/output/print_json.hpp"
#include "cli/output/text_table.hpp"
#include "protocol/printable.hpp"

namespace clique::cli {

namespace {

struct NodesOptions {
  std::vector<std::string> nodes;
  bool json = false;
};

void print_nodes_table(const std::vector<icd::NodeState>& states) {
  std::vector<std::vector<std::string>> rows;
  for (const icd::NodeState& state : states) {
    std::vector<std::string> row{node_name(state), state.node.text(), "-", "-", "-", "-", "-",
                                 state_text(state)};
    if (const auto& status = state.status) {
      row[2] = protocol::printable(status->release);
      row[3] = round_trip_text(state);
      row[4] = devices_text(*status);
      row[5] = sessions_text(*status);
      row[6] = to_text(status->encryption);
    }
    rows.push_back(std::move(row));
  }
  for (const std::string& line : table_lines({{"NODE"},
                                              {"ADDRESS"},
                                              {"VERSION"},
                                              {"ROUND TRIP", true},
                                              {"DEVICES"},
                                              {"SESSIONS", true},
                                              {"ENCRYPTION"},
                                              {"STATE"}},
                                             rows))
    std::printf("%s\n", line.c_str());
}

void print_health(const std::vector<icd::NodeState>& states) {
  for (const icd::NodeState& state : states)
    if (state.status)
      for (const HealthProblem& problem : health_problems(*state.status))
        std::printf("%s: %s\n  → %s\n", node_name(state).c_str(), problem.text.c_str(),
                    problem.remedy.c_str());
}

void print_routes(const std::vector<icd::NodeRoute>& routes, const std::vector<icd::NodeState>& states) {
  if (routes.empty()) return;
  if (std::all_of(routes.begin(), routes.end(), [](const icd::NodeRoute& route) { return route.works(); })) {
    std::printf("node-to-node: all reachable\n");
    return;
  }
  for (const icd::NodeRoute& route : routes)
    if (!route.works())
      std::printf("node-to-node: %s\n  → %s\n", broken_text(route, states).c_str(),
                  remedy_of(route, states).c_str());
}

nlohmann::ordered_json json_of_routes(const std::vector<icd::NodeRoute>& routes,
                                      const std::vector<icd::NodeState>& states) {
  auto list = nlohmann::ordered_json::array();
  for (const icd::NodeRoute& route : routes) {
    nlohmann::ordered_json one{
        {"from", states[route.from].status->node},
        {"to", states[route.to].status->node},
        {"endpoint", route.endpoint},
        {"reached", route.outcome ? nlohmann::ordered_json(route.works()) : nlohmann::ordered_json()},
        {"round_trip_ms", nullptr},
        {"reason", nullptr},
        {"remedy", nullptr}};
    if (route.works()) {
      one["round_trip_ms"] = static_cast<double>(route.round_trip.count()) / 1000;
    } else {
      one["reason"] = route.reason;
      one["remedy"] = remedy_of(route, states);
    }
    list.push_back(std::move(one));
  }
  return list;
}

void list_nodes(const NodesOptions& options) {
  const NodeView view(options.nodes);
  const std::vector<icd::NodeState> states = view.look();
  if (!options.json) print_nodes_table(states);
  const std::vector<icd::NodeRoute> routes = view.routes(states);
  if (options.json) {
    auto nodes = nlohmann::ordered_json::array();
    for (const icd::NodeState& state : states) nodes.push_back(json_of(state));
    print_json({{"nodes", std::move(nodes)}, {"node_to_node", json_of_routes(routes, states)}});
  } else {
    print_health(states);
    print_routes(routes, states);
  }
  const auto unreachable =
      std::count_if(states.begin(), states.end(), [](const icd::NodeState& state) { return !state.status; });
  if (unreachable > 0)
    throw Failed(std::to_string(unreachable) + " of " + std::to_string(states.size()) +
                 " nodes cannot be reached; 'clique doctor' says what to do");
  // A node that has not said whether it reaches another one may well do so.
  const auto broken = std::count_if(routes.begin(), routes.end(), [](const icd::NodeRoute& route) {
    return route.outcome && !route.works();
  });
  if (broken > 0)
    throw Failed(std::to_string(broken) + " of " + std::to_string(routes.size()) +
                 " ways from one node to another do not work: programs that use these nodes together will "
                 "fail. 'clique doctor' says which ports to open");
}

}  // namespace

void add_nodes(CLI::App& app, Action& chosen) {
  CLI::App* const command = app.add_subcommand("nodes",
                                               "List the configured nodes, whether they can be used, and "
                                               "whether they reach each other. The exit status "
                                               "is 1 if one cannot be used, or cannot reach another one");
  auto options = std::make_shared<NodesOptions>();
  command->add_option(
      "NODE", options->nodes,
      "Nodes, written as in CLIQUE_NODES; by default the configured ones, and without any the "
      "daemon of this host");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([=, &chosen] { chosen = [=] { list_nodes(*options); }; });
}

}  // namespace clique::cli
