#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>

#include "protocol/aggregate.hpp"

namespace clique::daemon {

inline void add(std::uint64_t& sum, std::uint64_t more) {
  sum += std::min(more, std::numeric_limits<std::uint64_t>::max() - sum);
}

/// Adds up structs of numbers, field by field. Sums stay at the largest number instead of wrapping around,
/// because a hostile kernel may have chosen the numbers.
template <protocol::Fielded Numbers>
void add(Numbers& sum, const Numbers& more) {
  const auto sums = sum.fields();
  const auto values = more.fields();
  [&]<std::size_t... I>(std::index_sequence<I...> /*positions*/) {
    (add(std::get<I>(sums), std::get<I>(values)), ...);
  }(std::make_index_sequence<protocol::kFieldCount<Numbers>>{});
}

}  // namespace clique::daemon
