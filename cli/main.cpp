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
      "Manages the keys by which Clique's clients and nodes identify each other.\n"
      "Exit status: 0 success, 1 failure, 2 invalid command line.",
      "clique");
  app.require_subcommand(1);
  Action chosen;
  for (const auto add : {add_keygen, add_key, add_trust, add_authorize, add_version}) add(app, chosen);
  add_trace(app, chosen);
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
