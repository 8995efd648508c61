#include "protocol/similar.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace clique::protocol {

namespace {

/// The Levenshtein distance: how many characters to insert, remove or replace.
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);  // the distances of the beginning of `from` to those of `to`
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (const char c : from) {
    std::size_t diagonal = row[0]++;
    for (std::size_t i = 0; i < to.size(); ++i) {
      const std::size_t replaced = diagonal + (c == to[i] ? 0 : 1);
      diagonal = row[i + 1];
      row[i + 1] = std::min({replaced, row[i] + 1, diagonal + 1});
    }
  }
  return row.back();
}

/// No setting has a longer name. Comparing takes time in proportion to both lengths.
constexpr std::size_t kLongestName = 100;

}  // namespace

std::string_view most_similar(std::string_view name, std::span<const std::string_view> candidates) {
  if (name.size() > kLongestName) return {};
  std::string_view best;
  // With more differences it is another word.
  std::size_t limit = std::max<std::size_t>(name.size() / 3, 1);
  for (const std::string_view candidate : candidates) {
    const std::size_t differences = distance(name, candidate);
    if (differences > limit || (differences == limit && !best.empty())) continue;
    best = candidate;
    limit = differences;
  }
  return best;
}

}  // namespace clique::protocol
