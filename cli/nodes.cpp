#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/node_view.hpp"
#include "cli/text_table.hpp"
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

void list_nodes(const NodesOptions& options) {
  const std::vector<icd::NodeState> states = NodeView(options.nodes).look();
  if (options.json) {
    auto nodes = nlohmann::ordered_json::array();
    for (const icd::NodeState& state : states) nodes.push_back(json_of(state));
    print_json({{"nodes", std::move(nodes)}});
  } else {
    print_nodes_table(states);
  }
  const auto unreachable =
      std::count_if(states.begin(), states.end(), [](const icd::NodeState& state) { return !state.status; });
  if (unreachable > 0)
    throw Failed(std::to_string(unreachable) + " of " + std::to_string(states.size()) +
                 " nodes cannot be reached");
}

}  // namespace

void add_nodes(CLI::App& app, Action& chosen) {
  CLI::App* const command = app.add_subcommand(
      "nodes", "List the configured nodes, and whether they can be used. The exit status is 1 if one cannot");
  auto options = std::make_shared<NodesOptions>();
  command->add_option(
      "NODE", options->nodes,
      "Nodes, written as in CLIQUE_NODES; by default the configured ones, and without any the "
      "daemon of this host");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([=, &chosen] { chosen = [=] { list_nodes(*options); }; });
}

}  // namespace clique::cli
