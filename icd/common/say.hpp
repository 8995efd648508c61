#pragma once

#include <string>

namespace clique::icd {

/// Prints "clique: TEXT" as one line on standard error. The text may come from nodes: protocol::printable()
/// escapes it.
void say(const std::string& text);

/// Does so unless this process, or its parent before a fork, has printed the text already. Any thread.
void say_once(const std::string& text);

}  // namespace clique::icd
