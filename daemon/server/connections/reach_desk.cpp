#include "daemon/server/connections/reach_desk.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "daemon/common/log.hpp"
#include "daemon/server/connections/dial_desk.hpp"
#include "protocol/socket_address.hpp"
#include "protocol/tcp.hpp"
#include "protocol/throw_errno.hpp"
#include "protocol/transport/endpoint.hpp"
#include "protocol/version.hpp"

namespace clique::daemon {

namespace {

using ReachClock = std::chrono::steady_clock;
using protocol::ReachedNode;
using Outcome = ReachedNode::Outcome;

/// Attempts at a time, which take a thread each, and those of one client.
constexpr std::size_t kMostReaches = 8 * protocol::kMostReached;
constexpr std::size_t kMostReachesOfOne = 2 * protocol::kMostReached;

/// Waits for events of a socket. @returns false at the deadline
bool wait_for(int socket, short events, ReachClock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - ReachClock::now()).count();
  pollfd item{socket, events, 0};
  return left > 0 && ::poll(&item, 1, static_cast<int>(left)) > 0;
}

ReachedNode not_in_time() {
  return {Outcome::Silent, "connection timed out"};
}

ReachedNode not_connected(const protocol::SocketAddress& address, int error) {
  if (address.refused(error)) return {Outcome::Refused, "connection refused"};
  if (error == ETIMEDOUT) return not_in_time();
  return {Outcome::Other, error_text(error)};
}

/// Connects, and has the other end prove its key.
ReachedNode reach_address(const protocol::SocketAddress& address, const protocol::TlsContext& tls,
                          ReachClock::time_point deadline) {
  Fd socket(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return {Outcome::Other, "no socket can be made: " + error_text(errno)};
  if (::connect(socket.get(), address.get(), address.size()) != 0) {
    if (errno != EINPROGRESS) return not_connected(address, errno);
    if (!wait_for(socket.get(), POLLOUT, deadline)) return not_in_time();
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return not_connected(address, error);
  }
  protocol::TlsChannel channel(tls, std::move(socket), protocol::kKiB);
  try {
    for (channel.work(); !channel.open(); channel.work()) {
      if (channel.ended()) return {Outcome::Foreign, "the connection was closed before a handshake"};
      const auto events = static_cast<short>(POLLIN | (channel.wants_to_send() ? POLLOUT : 0));
      if (!wait_for(channel.fd(), events, deadline))
        return {Outcome::Foreign, "something accepts the connection, but does not answer"};
    }
  } catch (const protocol::SecurityError&) {
    return {Outcome::Foreign, "what listens there is not cliqued, or of another release"};
  }
  const auto& key = channel.peer().bytes();
  return {Outcome::Reached,
          "",
          {key.begin(), key.end()},
          static_cast<std::uint64_t>(protocol::round_trip(channel.fd()).count())};
}

/// Tries the addresses of an endpoint, until one of them is a daemon's.
ReachedNode reach_endpoint(const std::string& endpoint, const protocol::TlsContext& tls,
                           ReachClock::time_point deadline) {
  if (!protocol::is_tcp_endpoint(endpoint)) return {Outcome::Other, "it is not tcp://HOST:PORT"};
  std::vector<protocol::SocketAddress> addresses;
  try {
    constexpr bool kNumeric = true;
    addresses = protocol::addresses_of(endpoint, !kNumeric);
  } catch (const std::runtime_error& error) {
    return {Outcome::Unresolved, error.what()};
  }
  std::optional<ReachedNode> first;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    // An address that never answers must leave time for the others.
    const auto now = ReachClock::now();
    const auto until = now + (deadline - now) / static_cast<int>(addresses.size() - i);
    ReachedNode node = reach_address(addresses[i], tls, until);
    if (node.outcome == Outcome::Reached) return node;
    if (!first) first = std::move(node);
  }
  return first.value_or(ReachedNode{Outcome::Unresolved, "its name has no address"});
}

}  // namespace

/// The nodes of one request. It exists as long as a thread works on it.
struct ReachDesk::Round {
  std::string client;
  protocol::Reach request;
  ReachClock::time_point attempts_until;
  ReachClock::time_point deadline;

  std::mutex mutex;  // guards the members below
  std::condition_variable changed;
  std::vector<std::optional<ReachedNode>> nodes;
  std::size_t left = 0;

  void attempt(std::size_t i, const protocol::TlsContext& tls) {
    const auto earliest = ReachClock::now() + kDialFailureTime;
    ReachedNode node;
    try {
      node = reach_endpoint(request.endpoints[i], tls, attempts_until);
    } catch (const std::exception& error) {
      node.reason = error.what();
    }
    if (node.outcome != Outcome::Reached) std::this_thread::sleep_until(earliest);
    note(i, std::move(node));
  }

  void note(std::size_t i, ReachedNode node) {
    const std::lock_guard lock(mutex);
    nodes[i] = std::move(node);
    if (--left == 0) changed.notify_all();
  }

  /// Waits for the attempts, until the deadline.
  protocol::Reached result() {
    std::unique_lock lock(mutex);
    changed.wait_until(lock, deadline, [this] { return left == 0; });
    protocol::Reached reached{protocol::kVersion, {}};
    // A node without an answer waits for a name server: all other steps have time limits of their own.
    for (const auto& node : nodes)
      reached.nodes.push_back(
          node.value_or(ReachedNode{Outcome::Unresolved, "its name was not resolved in time"}));
    return reached;
  }
};

ReachDesk::ReachDesk(const protocol::Identity& identity)
    : tls_(std::make_shared<const protocol::TlsContext>(protocol::TlsContext::Role::Client, identity)) {}

ReachDesk::~ReachDesk() = default;

std::string ReachDesk::reach(GuestId guest, const std::string& client, protocol::Reach request) {
  if (request.endpoints.size() > protocol::kMostReached)
    return fmt::format("a request names {} nodes to reach; at most {} are possible", request.endpoints.size(),
                       protocol::kMostReached);
  std::size_t all = request.endpoints.size();
  std::size_t own = all;
  std::erase_if(rounds_, [&](const std::weak_ptr<Round>& one) {
    const auto round = one.lock();
    if (!round) return true;
    all += round->request.endpoints.size();
    own += round->client == client ? round->request.endpoints.size() : 0;
    return false;
  });
  if (all > kMostReaches || own > kMostReachesOfOne)
    return fmt::format(
        "this node is to reach {} nodes at the same time, {} of them for {}; at most {} and {} are possible; "
        "try again in some seconds",
        all, own, client, kMostReaches, kMostReachesOfOne);
  const auto round = std::make_shared<Round>();
  round->client = client;
  round->request = std::move(request);
  const std::chrono::milliseconds patience(std::min(round->request.patience_ms, protocol::kLongestReachMs));
  const auto now = ReachClock::now();
  // The rest is for threads that the system runs late.
  round->attempts_until = now + patience * 3 / 4;
  round->deadline = now + patience;
  round->left = round->request.endpoints.size();
  round->nodes.resize(round->left);
  rounds_.push_back(round);
  const auto failure = [](const std::system_error& error) {
    return fmt::format("this node cannot start a thread: {}", error.what());
  };
  try {
    std::thread([round, guest, answers = answers_] { answers->add({guest, round->result()}); }).detach();
  } catch (const std::system_error& error) {
    return failure(error);
  }
  for (std::size_t i = 0; i < round->request.endpoints.size(); ++i) {
    try {
      std::thread([round, i, tls = tls_] { round->attempt(i, *tls); }).detach();
    } catch (const std::system_error& error) {
      round->note(i, {Outcome::Other, failure(error)});
    }
  }
  return {};
}

}  // namespace clique::daemon
