// From a host's name to addresses, within a time.
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "icd/remote/config.hpp"

namespace clique::icd {

/// A node that cannot be reached. what() is a clause for people: "connection refused. Is cliqued running
/// there?".
class Unreachable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The numeric addresses of a host, in the order in which to try them; IPv6 in brackets.
/// Throws Unreachable where there is none, or where the answer takes beyond `deadline`.
std::vector<std::string> resolve(const std::string& host, std::chrono::steady_clock::time_point deadline);

/// Why a TCP connection to a numeric address does not come about, in words: tries one. Waits until `deadline`
/// at most.
std::string diagnose(const std::string& address, std::uint16_t port,
                     std::chrono::steady_clock::time_point deadline);

}  // namespace clique::icd
