#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/common/commands.hpp"
#include "cli/output/node_view.hpp"
#include "cli/output/print_json.hpp"
#include "protocol/version.hpp"

namespace clique::cli {

void add_version(CLI::App& app, Action& chosen) {
  CLI::App* const command = app.add_subcommand("version", "Print the release and the protocol version");
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "Print JSON");
  command->callback([=, &chosen] {
    chosen = [as_json] {
      if (*as_json)
        print_json({{"version", CLIQUE_VERSION}, {"protocol", protocol::kVersion}});
      else
        std::printf("clique %s, protocol %u\n", CLIQUE_VERSION, protocol::kVersion);
    };
  });
}

}  // namespace clique::cli
