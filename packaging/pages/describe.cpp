// Prints what clique and cliqued are called with, and their settings, as JSON, from the definitions that the
// programs themselves use. `write_pages` makes manual pages and completions of it.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/common/commands.hpp"
#include "daemon/common/environment.hpp"
#include "daemon/server/configuration/command_line.hpp"
#include "daemon/server/configuration/settings.hpp"
#include "icd/common/settings.hpp"

namespace {

using Json = nlohmann::ordered_json;

/// An option, or an argument without dashes. CLI11 keeps what belongs to no group out of the help.
Json described(const CLI::Option& option) {
  Json names = Json::array();
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  const bool takes_value = option.get_items_expected_max() > 0;
  return {{"names", names},
          {"positional", option.get_positional() ? option.get_name(true) : ""},
          {"value", takes_value ? option.get_type_name() : ""},
          {"default", option.get_default_str()},
          {"required", option.get_required()},
          {"many", option.get_items_expected_max() > 1},
          {"help", option.get_description()}};
}

Json described(const CLI::App& app) {
  Json options = Json::array();
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty()) options.push_back(described(*option));
  Json commands = Json::array();
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!command->get_group().empty()) commands.push_back(described(*command));
  return {{"name", app.get_name()},
          {"help", app.get_description()},
          {"footer", app.get_footer()},
          {"options", options},
          {"commands", commands}};
}

template <typename List>
Json described_settings(const List& list) {
  Json settings = Json::array();
  for (const auto& setting : list)
    settings.push_back({{"name", setting.name}, {"default", setting.fallback}, {"help", setting.meaning}});
  return settings;
}

}  // namespace

int main() {
  CLI::App clique;
  clique::cli::Action unused;
  clique::cli::add_subcommands(clique, unused);
  CLI::App cliqued;
  clique::daemon::CommandLine command_line;
  clique::daemon::add_options(cliqued, command_line);
  Json settings = Json::array();
  for (const clique::daemon::Setting& setting : clique::daemon::all_settings()) {
    using Type = clique::daemon::Setting::Type;
    const char* const type = setting.type == Type::Number   ? "number"
                             : setting.type == Type::Switch ? "true or false"
                             : setting.type == Type::List   ? "string or list"
                                                            : "string";
    settings.push_back(
        {{"name", setting.name}, {"type", type}, {"default", setting.fallback}, {"help", setting.help}});
  }
  Json daemon_variables = Json::array();
  for (const auto& variable : clique::daemon::kVariables)
    daemon_variables.push_back({{"name", variable.name}, {"help", variable.meaning}});
  const Json all{{"version", CLIQUE_VERSION},
                 {"clique", described(clique)},
                 {"cliqued", described(cliqued)},
                 {"variables", described_settings(clique::icd::kVariables)},
                 {"keys", described_settings(clique::icd::kFileKeys)},
                 {"cliqued_settings", settings},
                 {"cliqued_variables", daemon_variables}};
  std::puts(all.dump(2).c_str());
}
