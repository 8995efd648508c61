#pragma once

#include <optional>

#include "daemon/server/configuration/settings.hpp"

namespace CLI {
class App;
}

namespace clique::daemon {

inline constexpr const char* kDefaultSettingsFile = "/etc/clique/cliqued.toml";

/// What the command line of `cliqued` asks for.
struct CommandLine {
  GivenValues values;
  std::string settings_file;  ///< --config; empty: kDefaultSettingsFile if it exists
  bool check = false;         ///< --check: check the settings and the host's walls, instead of serving
  /// Set after --help, --version and mistakes, which were answered: the process is to end with this status.
  std::optional<int> exit_status;
};

/// Makes the app that of the command line of `cliqued`. Parsing fills `result`, which must live as long.
void add_options(CLI::App& app, CommandLine& result);

CommandLine read_command_line(int argc, char** argv);

}  // namespace clique::daemon
