#include "icd/common/unknown_variables.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "daemon/common/environment.hpp"
#include "icd/common/settings.hpp"

namespace clique::icd {
namespace {

using Texts = std::vector<std::string>;

std::string ignored(const std::string& name, const std::string& advice) {
  return "the environment variable " + name + " is not a setting of Clique and has no effect; " + advice;
}

TEST(UnknownVariables, AreNamedWithTheOneThatWasMeant) {
  EXPECT_EQ(describe_unknown_variables({"CLIQUE_NODE", "PATH", "CLIQUE_NODES", "CLIQUE_CONECT_TIMEOUT"}),
            (Texts{ignored("CLIQUE_NODE", "did you mean CLIQUE_NODES?"),
                   ignored("CLIQUE_CONECT_TIMEOUT", "did you mean CLIQUE_CONNECT_TIMEOUT_MS?")}));
}

TEST(UnknownVariables, AreNamedAloneWhereNoneIsSimilar) {
  for (const char* const name : {"CLIQUE_", "CLIQUE_ROOT", "CLIQUE_INSTALLATION_FOLDER"})
    EXPECT_EQ(describe_unknown_variables({name}),
              Texts{ignored(name, "docs/configuration.md lists the settings")});
}

TEST(UnknownVariables, AreNoneOfTheClientsNodesAndTests) {
  std::vector<std::string_view> names{"CLIQUE_TEST_MARK", "CLIQUEX", "cliques"};
  for (const SettingInfo& each : kVariables) names.push_back(each.name);
  for (const SettingInfo& each : kSystemVariables) names.push_back(each.name);
  for (const daemon::VariableInfo& each : daemon::kVariables) names.push_back(each.name);
  EXPECT_EQ(describe_unknown_variables(names), Texts{});
}

TEST(UnknownVariables, OfThisProcessAreFound) {
  EXPECT_EQ(unknown_variables(), Texts{}) << "CTest sets only variables of Clique";
  ::setenv("CLIQUE_DEVICE", "0", 1);
  EXPECT_EQ(unknown_variables(), Texts{ignored("CLIQUE_DEVICE", "did you mean CLIQUE_DEVICES?")});
  ::unsetenv("CLIQUE_DEVICE");
}

}  // namespace
}  // namespace clique::icd
