// docs/configuration.md names every setting and environment variable of cliqued, and no other.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "daemon/common/environment.hpp"
#include "daemon/server/configuration/settings.hpp"

namespace clique::daemon {
namespace {

std::string whole_page() {
  std::ifstream file(CLIQUE_SOURCE_DIR "/docs/configuration.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The lines between this heading and the next one.
std::string section(const std::string& heading) {
  std::istringstream page(whole_page());
  std::string text;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with('#')) inside = line == heading;
    if (inside) text += line + '\n';
  }
  EXPECT_FALSE(text.empty()) << "docs/configuration.md has no section '" << heading << "'";
  return text;
}

/// The items of a section's list by their names, which they begin with: "- **`name`**" or "- **`one`,
/// `two`**". Each with its first line.
std::map<std::string, std::string, std::less<>> items(const std::string& text) {
  const std::string mark = "- **`";
  std::map<std::string, std::string, std::less<>> result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(mark)) continue;
    std::istringstream names(line.substr(mark.size(), line.find("`**") - mark.size()));
    std::string between;
    for (std::string name; std::getline(names, name, '`'); std::getline(names, between, '`'))
      result[name] = line;
  }
  return result;
}

TEST(Documentation, NamesEverySettingWithItsDefaultAndNoOther) {
  const auto documented = items(section("## cliqued"));
  std::set<std::string_view> known;
  for (const Setting& setting : all_settings()) {
    known.insert(setting.name);
    const auto found = documented.find(setting.name);
    if (found == documented.end()) {
      ADD_FAILURE() << setting.name << " is not documented";
      continue;
    }
    const bool in_words = setting.fallback.empty() || setting.fallback == "0";
    const std::string fallback(setting.fallback);
    const std::string& line = found->second;
    EXPECT_TRUE(in_words ? line.find("(default: ") != std::string::npos
                         : line.find("(default " + fallback + ")") != std::string::npos ||
                               line.find("(default `" + fallback + "`)") != std::string::npos)
        << line << "\nshould name the default " << fallback;
  }
  for (const auto& [name, line] : documented)
    EXPECT_TRUE(known.contains(name)) << name << " is not a setting";
}

TEST(Documentation, NamesEveryVariableAndNoOther) {
  const std::string page = whole_page();
  std::set<std::string_view> known;
  for (const VariableInfo& variable : kVariables) {
    known.insert(variable.name);
    // Readers know $HOME as ~.
    const std::string name(variable.name == "HOME" ? "~/" : variable.name);
    EXPECT_TRUE(page.find('`' + name) != std::string::npos || page.find("`$" + name) != std::string::npos)
        << variable.name << " is not documented";
  }
  for (const auto& [name, line] : items(section("### Environment of cliqued")))
    EXPECT_TRUE(known.contains(name)) << name << " is not read by cliqued";
}

TEST(Documentation, OfTheCodeNamesEveryVariableOnce) {
  std::set<std::string_view> names;
  for (const VariableInfo& variable : kVariables) {
    EXPECT_TRUE(names.insert(variable.name).second) << variable.name;
    EXPECT_FALSE(variable.meaning.empty()) << variable.name;
  }
}

}  // namespace
}  // namespace clique::daemon
