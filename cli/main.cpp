// clique: the command-line program for users and administrators.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/commands.hpp"

namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kWrongUse = 2;

}  // namespace

int main(int argc, char** argv) {
  using namespace clique::cli;
  CLI::App app(
      "Shows the nodes, devices and settings of Clique, steers nodes, and manages the keys of clients and "
      "nodes.\n"
      "Exit status: 0 success, 1 failure, 2 invalid command line.",
      "clique");
  app.require_subcommand(1);
  Action chosen;
  for (const auto add : {add_keygen, add_key, add_trust, add_authorize, add_version}) add(app, chosen);
  for (const auto add : {add_devices, add_run, add_config, add_doctor, add_doctor_probe}) add(app, chosen);
  for (const auto add : {add_nodes, add_top, add_kill, add_drain}) add(app, chosen);
  add_trace(app, chosen);
  take_program(argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kWrongUse;
  }
  try {
    chosen();
  } catch (const std::exception& error) {
    std::fflush(stdout);
    std::fprintf(stderr, "clique: %s\n", error.what());
    return kFailed;
  }
  return kDone;
}
