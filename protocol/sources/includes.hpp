// The places in a source at which it includes others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace clique::protocol {

/// The operand of an #include, or of a __has_include, which only asks whether a file exists. #include_next,
/// #import, #embed and __has_embed count as well.
struct Include {
  enum class Form : std::uint8_t {
    Quoted,    ///< "name"
    Angled,    ///< <name>
    Computed,  ///< whatever the macros in it expand to
  };
  Form form = Form::Quoted;
  std::string name;   ///< of the file; if computed: the operand
  bool next = false;  ///< of #include_next: the folders up to the including file's own are left out
  /// The operand's place in the source, with its quotes or brackets.
  std::size_t begin = 0, end = 0;
};

/// A source includes more than the protocol allows, or is made to keep its reader busy or to mislead it.
/// what() says what and how much.
class TooMuchIncluded : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// All places, in their order. They are found as text: what conditionals leave out counts as well, and so do
/// some places within comments and strings. None that a compiler sees is missed.
/// Throws TooMuchIncluded.
std::vector<Include> find_includes(std::string_view source);

/// The definitions of macros (`NAME body` or `NAME(parameters) body`), found in the same way. Throws
/// TooMuchIncluded.
std::vector<std::string> find_definitions(std::string_view source);

}  // namespace clique::protocol
