#include <CLI/CLI.hpp>

#include "cli/common/commands.hpp"

namespace clique::cli {

void add_subcommands(CLI::App& app, Action& chosen) {
  app.name("clique");
  app.description(
      "Shows the nodes, devices and settings of Clique, steers nodes, and manages the keys of clients and "
      "nodes.\n"
      "Exit status: 0 success, 1 failure, 2 invalid command line.");
  app.require_subcommand(1);
  for (const auto add : {add_keygen, add_key, add_trust, add_authorize, add_version}) add(app, chosen);
  for (const auto add : {add_devices, add_run, add_config, add_doctor, add_doctor_probe}) add(app, chosen);
  for (const auto add : {add_nodes, add_top, add_kill, add_drain}) add(app, chosen);
  for (const auto add : {add_trace, add_bench}) add(app, chosen);
}

}  // namespace clique::cli
