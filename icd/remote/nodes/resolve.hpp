// Resolving host names within a time limit.
#pragma once

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace clique::icd {

/// A node that cannot be reached. what() completes the sentence "node … cannot be reached: …", such as
/// "connection refused".
class Unreachable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The node's daemon has answered, and refuses.
class Refusal : public Unreachable {
 public:
  using Unreachable::Unreachable;
};

/// The numeric addresses of a host, in the order in which to try them; IPv6 addresses in brackets.
/// Throws Unreachable if there is none, or if resolving takes longer than until `deadline`.
std::vector<std::string> resolve(const std::string& host, std::chrono::steady_clock::time_point deadline);

/// Says in words why a TCP connection to a numeric address fails, by trying to connect. Waits until
/// `deadline` at most.
std::string diagnose(const std::string& address, std::uint16_t port,
                     std::chrono::steady_clock::time_point deadline);

}  // namespace clique::icd
