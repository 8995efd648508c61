#include "daemon/compiler/contract/build_options.hpp"

#include <utility>

#include "protocol/sources/build_options.hpp"

namespace clique::daemon::compiler {

std::vector<std::string> split_options(std::string_view text) {
  std::vector<std::string> words;
  for (protocol::OptionWord& word : protocol::option_words(text)) words.push_back(std::move(word.text));
  return words;
}

bool is_cuda_source(std::string_view options) {
  const auto words = split_options(options);
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] == "-x" && i + 1 < words.size() && words[i + 1] == "cuda") return true;
  return false;
}

}  // namespace clique::daemon::compiler
