#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "cli/common/commands.hpp"
#include "cli/common/vendors.hpp"
#include "icd/common/node_address.hpp"

namespace clique::cli {

namespace {

// As the shell's, if it cannot start a program.
constexpr int kNotStarted = 126;
constexpr int kNotFound = 127;

struct RunOptions {
  std::optional<std::string> nodes;
  std::optional<std::string> devices;
};

/// The program to run and its arguments, then null; empty if there is none.
std::vector<char*>& program_to_run() {
  static std::vector<char*> arguments;
  return arguments;
}

[[noreturn]] void run_program(const RunOptions& options) {
  register_clique();
  if (options.nodes) ::setenv("CLIQUE_NODES", options.nodes->c_str(), 1);
  if (options.devices) ::setenv("CLIQUE_DEVICES", options.devices->c_str(), 1);
  char* const* const arguments = program_to_run().data();
  ::execvp(arguments[0], arguments);
  const int error = errno;
  std::fprintf(stderr, "clique: %s cannot be started: %s\n", arguments[0], std::strerror(error));
  std::exit(error == ENOENT ? kNotFound : kNotStarted);
}

}  // namespace

void take_program(int& argc, char** argv) {
  if (argc < 2 || std::string_view(argv[1]) != "run") return;
  char** const end = argv + argc;
  char** const mark =
      std::find_if(argv, end, [](const char* word) { return std::string_view(word) == "--"; });
  if (mark == end || mark + 1 == end) return;
  program_to_run().assign(mark + 1, end);
  program_to_run().push_back(nullptr);
  argc = static_cast<int>(mark - argv);
}

void add_run(CLI::App& app, Action& chosen) {
  CLI::App* const command = app.add_subcommand("run",
                                               "Run a program with Clique. The exit status is the program's; "
                                               "127 if it does not exist, 126 if it cannot "
                                               "be started");
  auto options = std::make_shared<RunOptions>();
  const auto are_nodes = [](const std::string& text) {
    try {
      if (text != "off") icd::parse_node_list(text);
      return std::string();
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
  };
  command->add_option("--nodes", options->nodes, "The nodes, as in CLIQUE_NODES; empty: this host, off: none")
      ->type_name("LIST")
      ->check(CLI::Validator(are_nodes, ""));
  command->add_option("--devices", options->devices, "The devices, as in CLIQUE_DEVICES")->type_name("LIST");
  command->footer(
      "Write the program and its arguments after --, as in: clique run --nodes alpha,beta -- clinfo -l");
  command->callback([=, &chosen] {
    if (program_to_run().empty()) throw CLI::RequiredError("-- PROGRAM");
    chosen = [=] { run_program(*options); };
  });
}

}  // namespace clique::cli
