#include "icd/common/unknown_variables.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "icd/common/settings.hpp"

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

/// The Levenshtein distance: how many characters to insert, remove or replace.
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);  // the distances of the beginning of `from` to those of `to`
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (const char c : from) {
    std::size_t diagonal = row[0]++;
    for (std::size_t i = 0; i < to.size(); ++i) {
      const std::size_t replaced = diagonal + (c == to[i] ? 0 : 1);
      diagonal = row[i + 1];
      row[i + 1] = std::min({replaced, row[i] + 1, diagonal + 1});
    }
  }
  return row.back();
}

/// The user's variable with the most similar name; empty if none is similar.
std::string_view nearest(std::string_view name) {
  const std::string_view own = name.substr(kPrefix.size());
  std::string_view best;
  // With more differences it is another word.
  std::size_t limit = std::max<std::size_t>(own.size() / 3, 1);
  for (const SettingInfo& each : kVariables) {
    const std::size_t differences = distance(own, each.name.substr(kPrefix.size()));
    if (differences > limit || (differences == limit && !best.empty())) continue;
    best = each.name;
    limit = differences;
  }
  return best;
}

}  // namespace

std::vector<std::string> describe_unknown_variables(const std::vector<std::string_view>& names) {
  std::vector<std::string> texts;
  for (const std::string_view name : names) {
    if (!name.starts_with(kPrefix) || is_known(name)) continue;
    const std::string_view meant = nearest(name);
    texts.push_back("the environment variable " + std::string(name) +
                    " is not a setting of Clique and has no effect; " +
                    (meant.empty() ? "docs/configuration.md lists the settings"
                                   : "did you mean " + std::string(meant) + "?"));
  }
  return texts;
}

}  // namespace clique::icd
