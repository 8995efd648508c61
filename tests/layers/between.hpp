// What the tests ask of the library that stands between them and Clique.
#pragma once

namespace clique::test {

/// Calls of a function so far that went through the library; -1: it does not count them.
/// The library has it as "calls_of".
using CallsOf = int (*)(const char* function);

}  // namespace clique::test
