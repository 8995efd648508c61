#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/commands.hpp"
#include "protocol/version.hpp"

namespace clique::cli {

void add_version(CLI::App& app, Action& chosen) {
  CLI::App* const command = app.add_subcommand("version", "Print the release and the protocol version");
  command->callback([&chosen] {
    chosen = [] { std::printf("clique %s, protocol %u\n", CLIQUE_VERSION, protocol::kVersion); };
  });
}

}  // namespace clique::cli
