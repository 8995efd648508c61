#pragma once

#include <string>

namespace clique::icd {

/// How combined devices divide launches, from the environment (CombineSettings). Settings that cannot be used
/// count as not set: the platform has said so.
bool divides_always();
bool explains();

/// With CLIQUE_COMBINE_EXPLAIN: says it on standard error, unless it has been said. Any thread.
void explain(const std::string& text);

}  // namespace clique::icd
