// Threads that the application does not notice.
#pragma once

#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "protocol/no_signals.hpp"

namespace clique::icd {

using protocol::NoSignals;

/// Calls task(0) ... task(count - 1), each on a thread of its own, and returns when all calls have returned.
/// task must not throw.
template <typename F>
void in_parallel(std::size_t count, F&& task) {
  if (count == 1) {
    task(std::size_t{0});
    return;
  }
  const NoSignals quiet;
  std::vector<std::jthread> threads;
  threads.reserve(count);
  for (std::size_t i = 0; i < count; ++i) threads.emplace_back([&task, i] { task(i); });
}

}  // namespace clique::icd
