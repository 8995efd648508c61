// docs/configuration.md names every setting of the client, and no other.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "icd/common/settings.hpp"

namespace clique::icd {
namespace {

using Names = std::set<std::string>;

/// What is between `begin` and the next `end` in each line of the section for programs that starts with
/// `begin`.
Names documented(const std::string& begin, const std::string& end) {
  std::ifstream page(CLIQUE_SOURCE_DIR "/docs/configuration.md");
  Names names;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) inside = line.starts_with("## Programs");
    if (!inside || !line.starts_with(begin)) continue;
    names.insert(line.substr(begin.size(), line.find(end, begin.size()) - begin.size()));
  }
  return names;
}

template <typename List>
Names names_of(const List& list) {
  Names names;
  for (const SettingInfo& setting : list) {
    EXPECT_TRUE(names.emplace(setting.name).second) << setting.name << " is listed twice";
    EXPECT_FALSE(setting.meaning.empty()) << setting.name;
  }
  return names;
}

TEST(Documentation, OfProgramsNamesEveryVariableAndNoOther) {
  EXPECT_EQ(documented("- **`", "`**"), names_of(kVariables));
}

TEST(Documentation, OfProgramsNamesEveryKeyOfTheNodesFileAndNoOther) {
  EXPECT_EQ(documented("| `", "` |"), names_of(kFileKeys));
}

TEST(Documentation, OfVariablesNamesKeysThatExist) {
  for (const SettingInfo& variable : kVariables) {
    if (variable.key.empty()) continue;
    EXPECT_TRUE(names_of(kFileKeys).contains(std::string(variable.key))) << variable.key;
  }
}

TEST(Documentation, OfTheCodeNamesTheDefaults) {
  const NodeSettings standard;
  for (const SettingInfo& setting : kVariables) {
    if (setting.name == "CLIQUE_CONNECT_TIMEOUT_MS") {
      EXPECT_EQ(setting.fallback, std::to_string(standard.connect_timeout.count()));
    }
    if (setting.name == "CLIQUE_BUILD_TIMEOUT_S") {
      EXPECT_EQ(setting.fallback, std::to_string(standard.build_timeout.count()));
    }
    if (setting.name == "CLIQUE_REMEMBER_UNREACHABLE") {
      EXPECT_EQ(setting.fallback, standard.remember_unreachable ? "1" : "0");
    }
    if (setting.name == "CLIQUE_DEVICE_NAMES") {
      EXPECT_EQ(setting.fallback, standard.device_names_with_node ? "node" : "plain");
    }
    if (setting.name == "CLIQUE_VENDOR") {
      EXPECT_FALSE(VendorChoice::parse(setting.fallback, "").is_native_for("hashcat"));
    }
    if (setting.name == "CLIQUE_LOCAL_MEMORY") {
      EXPECT_EQ(standard.local_memory, parse_local_memory(setting.fallback, ""));
    }
    if (setting.name == "CLIQUE_SHARED_MEMORY") {
      EXPECT_EQ(setting.fallback, standard.shared_memory ? "1" : "0");
    }
  }
  for (const SettingInfo& key : kFileKeys) {
    if (key.name == "[[node]] port") {
      EXPECT_EQ(key.fallback, std::to_string(NodeAddress().port));
    }
    if (key.name == "connect-timeout-ms") {
      EXPECT_EQ(key.fallback, std::to_string(standard.connect_timeout.count()));
    }
  }
}

}  // namespace
}  // namespace clique::icd
