#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/common/commands.hpp"
#include "cli/output/print_json.hpp"
#include "cli/output/text_table.hpp"
#include "icd/common/settings.hpp"
#include "protocol/printable.hpp"

namespace clique::cli {

namespace {

void show_settings(bool as_json) {
  const icd::SettingValues settings = icd::setting_values();
  if (as_json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const icd::SettingValue& each : settings.values)
      list.push_back({{"name", each.setting->name},
                      {"key", each.setting->key},
                      {"value", protocol::printable(each.value)},
                      {"source", protocol::printable(each.source)},
                      {"meaning", each.setting->meaning}});
    const nlohmann::ordered_json all{{"file", protocol::printable(settings.file)}, {"settings", list}};
    print_json(all);
  } else {
    std::vector<std::vector<std::string>> rows;
    for (const icd::SettingValue& each : settings.values)
      rows.push_back({std::string(each.setting->name), protocol::printable(each.value),
                      protocol::printable(each.source)});
    for (const std::string& line : table_lines({{"SETTING"}, {"VALUE"}, {"FROM"}}, rows))
      std::puts(line.c_str());
  }
  for (const std::string& text : icd::unknown_variables())
    std::fprintf(stderr, "clique: %s\n", protocol::printable(text).c_str());
  if (!settings.error.empty()) throw Failed(protocol::printable(settings.error));
}

}  // namespace

void add_config(CLI::App& app, Action& chosen) {
  CLI::App* const command = app.add_subcommand(
      "config", "Show the settings of programs that start here: each with its value, and where that is from");
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--show")->description("Show the settings, which this command does by default as well");
  command->add_flag("--json", *as_json, "Print JSON");
  command->callback([=, &chosen] { chosen = [=] { show_settings(*as_json); }; });
}

}  // namespace clique::cli
