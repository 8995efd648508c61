#include "protocol/sources/build_options.hpp"

#include <optional>
#include <utility>

namespace clique::protocol {

std::vector<OptionWord> option_words(std::string_view options) {
  std::vector<OptionWord> words;
  std::optional<OptionWord> word;
  char quote = 0;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const char c = options[i];
    const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
    if (quote == 0 && space) {
      if (word) words.push_back(*std::exchange(word, std::nullopt));
      continue;
    }
    if (!word) word.emplace(OptionWord{{}, i, i});
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else if (c == '\\' && quote != '\'' && i + 1 < options.size() &&
               (quote == 0 || options[i + 1] == quote || options[i + 1] == '\\')) {
      word->text.push_back(options[++i]);
    } else {
      word->text.push_back(c);
    }
    word->end = i + 1;
  }
  if (word) words.push_back(*word);
  return words;
}

std::vector<OptionValue> option_values(std::string_view options, std::string_view name) {
  std::vector<OptionValue> values;
  const auto words = option_words(options);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const OptionWord& word = words[i];
    if (!word.text.starts_with(name)) continue;
    if (word.text.size() > name.size()) {
      std::string raw(options.substr(word.begin, word.end - word.begin));
      if (raw.starts_with(name)) raw.erase(0, name.size());
      values.push_back({word.text.substr(name.size()), std::move(raw), word.begin, word.end});
    } else if (i + 1 < words.size()) {
      const OptionWord& value = words[++i];
      values.push_back({value.text, std::string(options.substr(value.begin, value.end - value.begin)),
                        word.begin, value.end});
    }
  }
  return values;
}

}  // namespace clique::protocol
