#include "daemon/compiler/contract/build_options.hpp"

#include <optional>
#include <utility>

namespace clique::daemon::compiler {

std::vector<std::string> split_options(std::string_view text) {
  std::vector<std::string> words;
  std::optional<std::string> word;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
    if (quote == 0 && space) {
      if (word) words.push_back(*std::exchange(word, std::nullopt));
      continue;
    }
    if (!word) word.emplace();
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else if (c == '\\' && quote != '\'' && i + 1 < text.size() &&
               (quote == 0 || text[i + 1] == quote || text[i + 1] == '\\')) {
      word->push_back(text[++i]);
    } else {
      word->push_back(c);
    }
  }
  if (word) words.push_back(*word);
  return words;
}

bool is_cuda_source(std::string_view options) {
  const auto words = split_options(options);
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] == "-x" && i + 1 < words.size() && words[i + 1] == "cuda") return true;
  return false;
}

}  // namespace clique::daemon::compiler
