// Finds the include directives of a source.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace clique::protocol {

/// The operand of an #include or a __has_include. #include_next, #import, #embed and __has_embed count as
/// well.
struct Include {
  enum class Form : std::uint8_t {
    Quoted,    ///< "name"
    Angled,    ///< <name>
    Computed,  ///< macros, to be expanded
  };
  Form form = Form::Quoted;
  std::string name;   ///< name of the file; for a computed include, the operand
  bool next = false;  ///< #include_next: the search starts after the including file's own folder
  /// The operand's place in the source, with its quotes or brackets.
  std::size_t begin = 0, end = 0;
};

/// A source includes more than the protocol allows, would take too long to scan, or is made to mislead the
/// scanner. what() names the limit and the value.
class TooMuchIncluded : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// All includes, in their order in the text. Ignores conditionals, and also finds some includes within
/// comments and strings, but misses none that a compiler would see. Throws TooMuchIncluded.
std::vector<Include> find_includes(std::string_view source);

/// The macro definitions (`NAME body` or `NAME(parameters) body`), found in the same way. Throws
/// TooMuchIncluded.
std::vector<std::string> find_definitions(std::string_view source);

}  // namespace clique::protocol
