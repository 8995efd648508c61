#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace clique::icd {

/// For each variable that begins with CLIQUE_ and that nothing of Clique knows, a text for people, which
/// suggests the known name if there is a similar one.
/// @param names of variables
std::vector<std::string> describe_unknown_variables(const std::vector<std::string_view>& names);

}  // namespace clique::icd
