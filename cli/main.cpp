// clique: the command-line program for users and administrators.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/common/commands.hpp"

namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kWrongUse = 2;

}  // namespace

int main(int argc, char** argv) {
  using namespace clique::cli;
  CLI::App app;
  Action chosen;
  add_subcommands(app, chosen);
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
