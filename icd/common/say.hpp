#pragma once

#include <string>

namespace clique::icd {

/// Prints "clique: TEXT" as one line on standard error. The text may contain what nodes wrote: it is shown as
/// protocol::printable() says.
void say(const std::string& text);

}  // namespace clique::icd
