// Expands macros in computed includes.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/sources/includes.hpp"

namespace clique::protocol {

/// Macro definitions, and the expansion of computed includes with them. Ignores conditionals, #undef and the
/// compiler's predefined macros. A macro with several definitions may mean any of them.
class Macros {
 public:
  /// Adds the text after a #define: `NAME body` or `NAME(parameters) body`.
  void define(std::string_view definition);
  /// Adds the definition of an option -D: `NAME`, `NAME=body` or `NAME(parameters)=body`.
  void define_by_option(std::string_view definition);

  /// The files that the operand may name. Empty if it names none, or if the expansion would take too long.
  std::vector<Include> expansions(const Include& computed) const;

 private:
  struct Token {
    std::string text;
    bool identifier = false;
    bool after_space = false;  ///< white space precedes it
  };
  using Tokens = std::vector<Token>;
  struct Definition {
    bool with_parameters = false;
    std::vector<std::string> parameters;
    Tokens body;
  };
  class Expansion;

  static Tokens tokens_of(std::string_view text);
  static std::string text_of(const Tokens& tokens);
  void add(std::string_view definition, bool by_option);

  /// The different definitions of each macro.
  std::map<std::string, std::vector<Definition>, std::less<>> definitions_;
};

}  // namespace clique::protocol
