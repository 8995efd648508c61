#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/common/commands.hpp"
#include "cli/output/node_view.hpp"
#include "cli/output/print_json.hpp"

namespace clique::cli {

namespace {

struct DrainOptions {
  std::string node;
  std::string reason;
  bool json = false;
};

void drain_node(const DrainOptions& options) {
  check_reason(options.reason);
  const icd::NodeAddress node = icd::parse_node(options.node);
  const std::string name =
      NodeView({options.node}).steer(node, {protocol::Steer::Act::Drain, 0, options.reason});
  if (options.json)
    print_json({{"node", name}, {"address", node.text()}, {"draining", true}});
  else
    std::printf("node %s is draining: it refuses new sessions, and stops when the running ones have ended\n",
                name.c_str());
}

}  // namespace

void add_drain(CLI::App& app, Action& chosen) {
  CLI::App* const command = app.add_subcommand(
      "drain",
      "Have a node refuse new sessions and stop when the running ones have ended, as cliqued does at "
      "SIGTERM; for its administrators");
  auto options = std::make_shared<DrainOptions>();
  command->add_option("NODE", options->node, "The node, written as in CLIQUE_NODES")->required();
  command->add_option("--reason", options->reason, "Why, for those whom the node refuses from now on")
      ->type_name("TEXT");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([=, &chosen] { chosen = [=] { drain_node(*options); }; });
}

}  // namespace clique::cli
