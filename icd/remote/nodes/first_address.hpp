#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "icd/remote/nodes/deadline.hpp"
#include "icd/remote/nodes/resolve.hpp"

namespace clique::icd {

/// Calls talk(address, patience) with one address after the other, until it does not throw Unreachable.
/// @returns what it returns. Throws Unreachable with the reason of the first address, which is the one that
/// users mean; the others are for hosts that listen on some of their addresses only. If a daemon at one of
/// them refuses, that is the reason.
/// @param talk has to end by `patience`, so that an address that never answers leaves time for the others
template <typename Talk>
auto with_first_of(const std::vector<std::string>& addresses, std::chrono::steady_clock::time_point deadline,
                   Talk&& talk) {
  using Clock = std::chrono::steady_clock;
  std::string why;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const Clock::time_point patience = Clock::now() + left_until(deadline) / (addresses.size() - i);
    try {
      return talk(addresses[i], patience);
    } catch (const Refusal& refusal) {
      why = refusal.what();
      if (Clock::now() >= deadline) break;
    } catch (const Unreachable& error) {
      if (why.empty()) why = error.what();
      if (Clock::now() >= deadline) break;
    }
  }
  throw Unreachable(why);
}

/// The same with the addresses of a host, which it resolves.
template <typename Talk>
auto with_first_address(const std::string& host, std::chrono::steady_clock::time_point deadline,
                        Talk&& talk) {
  return with_first_of(resolve(host, deadline), deadline, std::forward<Talk>(talk));
}

}  // namespace clique::icd
