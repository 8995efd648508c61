#pragma once

#include <algorithm>
#include <chrono>

namespace clique::icd {

/// The time until a deadline; one millisecond if it has passed.
inline std::chrono::milliseconds left_until(std::chrono::steady_clock::time_point deadline) {
  return std::max(std::chrono::milliseconds(1), std::chrono::duration_cast<std::chrono::milliseconds>(
                                                    deadline - std::chrono::steady_clock::now()));
}

}  // namespace clique::icd
