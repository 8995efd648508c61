// The interface between the tests and the library that stands between them and Clique.
#pragma once

namespace clique::test {

/// The number of calls of a function that went through the library so far; -1 if it does not count the
/// function. The library exports it as "calls_of".
using CallsOf = int (*)(const char* function);

}  // namespace clique::test
