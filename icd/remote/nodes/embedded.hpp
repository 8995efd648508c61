// Private workers on this host, for processes without a configuration.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "icd/remote/worker_endpoint.hpp"
#include "protocol/descriptions.hpp"
#include "protocol/messages/session.hpp"

namespace clique::icd {

/// The time allowed for starting private workers: drivers take long when they start for the first time.
inline constexpr std::chrono::milliseconds kEmbeddedTimeout{20'000};

/// The cliqued that PrivateWorkers starts: CLIQUE_DAEMON, or else the one beside this library or where it was
/// installed with it, or else the one in PATH. Throws std::runtime_error with the cause, for people.
std::string find_daemon();

/// The drivers of this host, and `cliqued embedded`, which starts their workers. It is not a child of this
/// process, so its exit raises no SIGCHLD and wait() does not see it. It is in a process group of its own, so
/// Ctrl-C does not end it before the application. It ends with this object and the lifelines of all
/// endpoints, and its workers with it; a forked child does not keep them running. One thread at a time.
class PrivateWorkers {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Starts find_daemon(), and waits for its drivers. Throws std::runtime_error with the cause, for people.
  explicit PrivateWorkers(Time deadline);

  /// This host's name.
  const std::string& host() const { return host_; }
  const std::vector<protocol::Driver>& drivers() const { return drivers_; }

  struct Started {
    std::vector<WorkerEndpoint> workers;
    std::vector<protocol::Withheld> withheld;
  };
  /// Starts workers of these drivers, all at the same time, and waits for them. Each call starts others.
  /// Throws std::runtime_error with the cause, for people.
  /// @param drivers Driver::id
  Started start(std::span<const std::uint32_t> drivers, Time deadline);

 private:
  class Lifeline;

  void take(const std::vector<char>& packet);
  WorkerEndpoint endpoint_of(const protocol::WorkerAddress& worker) const;

  std::string daemon_;
  std::string host_;
  std::shared_ptr<Lifeline> lifeline_;
  std::vector<protocol::Driver> drivers_;
  std::set<std::uint32_t> asked_;  // drivers whose workers are on their way
  std::map<std::uint32_t, protocol::WorkerAddress> ready_;
  std::map<std::uint32_t, std::string> refused_;
};

}  // namespace clique::icd
