// What a source learns of the compiler from predefined macros.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace clang {
class Preprocessor;
}

namespace clique::daemon::compiler {

/// How a source has used macros that it does not define itself: conditions of the preprocessor that have to
/// hold for another compiler to see the same program.
struct MacroChecks {
  /// Such as `defined(NAME) && (NAME) == 1`.
  std::set<std::string> conditions;
  /// The macro whose use cannot be checked; empty: there is none.
  std::string unclear;
};

/// Notes what the preprocessor does from now on.
/// @param own what the program's build options define or undefine, as -DNAME… and -UNAME
void note_macros(clang::Preprocessor& preprocessor, const std::vector<std::string>& own, MacroChecks& checks);

/// A source that compiles only if all conditions hold.
std::string source_of(const MacroChecks& checks);

}  // namespace clique::daemon::compiler
