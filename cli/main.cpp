// clique: what users and administrators of Clique do on a command line.
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
      "clique manages the keys by which clients and nodes of Clique know each other.\n"
      "Exit status: 0 done, 1 failed, 2 wrong use.",
      "clique");
  app.require_subcommand(1);
  Action chosen;
  for (const auto add : {add_keygen, add_key, add_trust, add_authorize, add_version}) add(app, chosen);
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
