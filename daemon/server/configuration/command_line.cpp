#include "daemon/server/configuration/command_line.hpp"

#include <CLI/CLI.hpp>

namespace clique::daemon {

void add_options(CLI::App& app, CommandLine& result) {
  app.name("cliqued");
  app.description(
      "cliqued offers this node's OpenCL devices to Clique clients. It runs in the foreground until SIGINT, "
      "or\n"
      "until SIGTERM, after which running sessions may finish.");
  app.set_version_flag("--version", "cliqued " CLIQUE_VERSION);
  app.add_option(
         "--config", result.settings_file,
         std::string(
             "TOML file with the settings below as keys, without dashes; options override it; default: ") +
             kDefaultSettingsFile + ", if it exists")
      ->type_name("FILE");
  app.add_flag(
      "--check", result.check,
      "Check the settings, and list the walls that this host can put up around sessions, and why others are "
      "missing; the exit status is 1 if a setting is wrong or a wall is missing");
  for (const Setting& setting : all_settings()) {
    const std::string name(setting.name);
    const std::string option = "--" + name;
    const auto set = [&result, name, option](const std::string& text) {
      result.values[name] = {text, option};
    };
    if (setting.type == Setting::Type::Switch) {
      app.add_flag_callback(option, [set] { set("true"); }, std::string(setting.help));
    } else {
      auto* const added = app.add_option_function<std::string>(option, set, std::string(setting.help));
      added->type_name(std::string(setting.placeholder));
      if (!setting.fallback.empty()) added->default_str(std::string(setting.fallback));
    }
  }
}

CommandLine read_command_line(int argc, char** argv) {
  CommandLine result;
  CLI::App app;
  add_options(app, result);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    result.exit_status = app.exit(error);
  }
  return result;
}

}  // namespace clique::daemon
