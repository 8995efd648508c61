// Splits build options into words, and finds those that determine what a source includes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace clique::protocol {

/// A word of build options. Quotes and backslashes work as in a shell.
struct OptionWord {
  std::string text;                ///< without quotes and backslashes
  std::size_t begin = 0, end = 0;  ///< its place in the options
};

/// Splits build options at white space.
std::vector<OptionWord> option_words(std::string_view options);

/// A value of an option such as -I, which may be in the same word or in the next one.
struct OptionValue {
  std::string text;                ///< without quotes and backslashes
  std::string raw;                 ///< as given
  std::size_t begin = 0, end = 0;  ///< the place of the option with its value
};
std::vector<OptionValue> option_values(std::string_view options, std::string_view name);

}  // namespace clique::protocol
