#pragma once

#include <string>

namespace clique::icd {

/// Prints "clique: TEXT" as one line on standard error. The text may come from nodes: protocol::printable()
/// escapes it.
void say(const std::string& text);

}  // namespace clique::icd
