// The subcommands of `clique`, each in the file of its name.
#pragma once

#include <functional>
#include <stdexcept>

namespace CLI {
class App;
}

namespace clique::cli {

/// A subcommand failed. what() says why, and what the user can do.
class Failed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Runs the chosen subcommand with its options. Throws Failed, or another exception with a message for users.
using Action = std::function<void()>;

/// Takes the command line after "--" away from that of `clique run`, which runs it unchanged: CLI11 would
/// take a word in brackets for a list.
void take_program(int& argc, char** argv);

/// Makes the app that of the command line of `clique`, with all subcommands.
void add_subcommands(CLI::App& app, Action& chosen);

// Each function adds a subcommand, which sets `chosen` if the command line contains it.

void add_authorize(CLI::App& app, Action& chosen);
void add_bench(CLI::App& app, Action& chosen);
void add_config(CLI::App& app, Action& chosen);
void add_devices(CLI::App& app, Action& chosen);
void add_doctor(CLI::App& app, Action& chosen);
void add_doctor_probe(CLI::App& app, Action& chosen);
void add_drain(CLI::App& app, Action& chosen);
void add_key(CLI::App& app, Action& chosen);
void add_keygen(CLI::App& app, Action& chosen);
void add_kill(CLI::App& app, Action& chosen);
void add_nodes(CLI::App& app, Action& chosen);
void add_run(CLI::App& app, Action& chosen);
void add_top(CLI::App& app, Action& chosen);
void add_trace(CLI::App& app, Action& chosen);
void add_trust(CLI::App& app, Action& chosen);
void add_version(CLI::App& app, Action& chosen);

}  // namespace clique::cli
