// The words of build options, and which of them say what a source includes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace clique::protocol {

/// A word of build options. Quotes and backslashes in them work as in a shell.
struct OptionWord {
  std::string text;                ///< without quotes and backslashes
  std::size_t begin = 0, end = 0;  ///< its place in the options
};

/// Splits build options at white space.
std::vector<OptionWord> option_words(std::string_view options);

/// The values of an option, such as -I, that stand in its own word or in the next one.
struct OptionValue {
  std::string text;                ///< without quotes and backslashes
  std::string raw;                 ///< as given
  std::size_t begin = 0, end = 0;  ///< the place of the option with its value
};
std::vector<OptionValue> option_values(std::string_view options, std::string_view name);

}  // namespace clique::protocol
