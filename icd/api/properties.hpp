// Property lists: names and values, closed by 0, as contexts, queues and samplers take them.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "icd/common/error.hpp"

namespace clique::icd::api {

/// A copy of the list with its closing 0, as queries return it; empty for NULL.
template <typename T>
std::vector<T> property_list(const T* list) {
  std::vector<T> copy;
  if (list == nullptr) return copy;
  for (; *list != 0; list += 2) copy.insert(copy.end(), {list[0], list[1]});
  copy.push_back(0);
  return copy;
}

/// Calls property(name, value) for each entry. Throws Error(twice) if a name occurs more than once.
template <typename T, typename F>
void for_each_property(const std::vector<T>& list, cl_int twice, F&& property) {
  std::vector<T> seen;
  for (std::size_t i = 0; i + 1 < list.size(); i += 2) {
    require(std::find(seen.begin(), seen.end(), list[i]) == seen.end(), twice, "property ",
            Hex{static_cast<std::uint64_t>(list[i])}, " occurs twice");
    seen.push_back(list[i]);
    property(list[i], list[i + 1]);
  }
}

}  // namespace clique::icd::api
