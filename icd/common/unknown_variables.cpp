#include "icd/common/unknown_variables.hpp"

#include <algorithm>

#include "icd/common/settings.hpp"
#include "protocol/similar.hpp"

namespace clique::icd {

namespace {

constexpr std::string_view kPrefix = "CLIQUE_";

bool is_known(std::string_view name) {
  const auto has_name = [name](const auto& list) {
    return std::any_of(list.begin(), list.end(),
                       [name](const SettingInfo& each) { return each.name == name; });
  };
  return has_name(kVariables) || has_name(kSystemVariables) ||
         std::find(kOthersVariables.begin(), kOthersVariables.end(), name) != kOthersVariables.end() ||
         name.starts_with(kTestsVariables);
}

/// The user's variable with the most similar name; empty if none is similar.
std::string nearest(std::string_view name) {
  std::vector<std::string_view> own;
  own.reserve(std::size(kVariables));
  for (const SettingInfo& each : kVariables) own.push_back(each.name.substr(kPrefix.size()));
  const std::string_view meant = protocol::most_similar(name.substr(kPrefix.size()), own);
  return meant.empty() ? std::string() : std::string(kPrefix).append(meant);
}

}  // namespace

std::vector<std::string> describe_unknown_variables(const std::vector<std::string_view>& names) {
  std::vector<std::string> texts;
  for (const std::string_view name : names) {
    if (!name.starts_with(kPrefix) || is_known(name)) continue;
    const std::string meant = nearest(name);
    texts.push_back(
        "the environment variable " + std::string(name) + " is not a setting of Clique and has no effect; " +
        (meant.empty() ? "docs/configuration.md lists the settings" : "did you mean " + meant + "?"));
  }
  return texts;
}

}  // namespace clique::icd
