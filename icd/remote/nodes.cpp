#include "icd/remote/nodes.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <optional>
#include <set>

#include "icd/remote/config.hpp"
#include "icd/remote/embedded.hpp"
#include "icd/remote/resolve.hpp"
#include "icd/remote/threads.hpp"
#include "protocol/transport/monitor.hpp"

namespace clique::icd {

namespace {

using Clock = std::chrono::steady_clock;

std::chrono::milliseconds left_until(Clock::time_point deadline) {
  return std::max(std::chrono::milliseconds(1),
                  std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()));
}

/// Tells people, once per process and text. A forked child has said what its parent had.
void say_once(const std::string& line) {
  static auto* const mutex = new std::mutex;
  static auto* const said = new std::set<std::string>;
  std::unique_lock lock(*mutex, std::try_to_lock);
  // Not had in the rare child of a fork during this; saying it twice does no harm.
  if (lock && !said->insert(line).second) return;
  std::fprintf(stderr, "clique: %s\n", line.c_str());
}

/// Program, process and host, for the nodes' logs.
std::string self_description() {
  char host[256] = "?";
  ::gethostname(host, sizeof host - 1);
  return std::string(program_invocation_short_name) + "[" + std::to_string(::getpid()) + "]@" + host;
}

/// Waits for something at one of the sockets' descriptors.
void wait_for_news(zmq::socket_ref socket, protocol::Monitor& monitor, Clock::time_point deadline) {
  pollfd fds[] = {{socket.get(zmq::sockopt::fd), POLLIN, 0}, {monitor.descriptor(), POLLIN, 0}};
  ::poll(fds, 2, static_cast<int>(left_until(deadline).count()));
}

/// What a daemon that can be reached has for the start of its drivers.
constexpr std::chrono::seconds kStartTimeout{60};

/// The daemon's answer; nothing where it has only said that it is at work, and may take until `deadline`.
std::optional<protocol::Welcome> read_answer(protocol::Incoming& incoming, Clock::time_point& deadline) {
  std::optional<protocol::Welcome> welcome;
  bool answered = false;
  const auto handler = [&](auto&& answer) {
    using M = std::remove_cvref_t<decltype(answer)>;
    answered = true;
    if constexpr (std::is_same_v<M, protocol::Welcome>) {
      welcome = std::forward<decltype(answer)>(answer);
    } else if constexpr (std::is_same_v<M, protocol::Refused>) {
      throw Unreachable("cliqued refused: " + answer.reason);
    } else {
      deadline = std::max(deadline, Clock::now() + kStartTimeout);
    }
  };
  protocol::BatchReader().read(
      protocol::MessageList<protocol::Welcome, protocol::Refused, protocol::Starting>{}, incoming.records,
      incoming.frames, incoming.owner, handler);
  if (!answered) throw Unreachable("cliqued gave an empty answer");
  return welcome;
}

[[noreturn]] void refuse_version(std::uint32_t theirs) {
  throw Unreachable("its cliqued speaks version " + std::to_string(theirs) +
                    " of the protocol, this library version " + std::to_string(protocol::kVersion) +
                    ". Install the same release of Clique on both");
}

/// The connection to a daemon has ended before its answer.
class Cut : public Unreachable {
 public:
  using Unreachable::Unreachable;
};

/// The connection to the daemon at a numeric address. While it lasts, the daemon's workers wait for us.
class Daemon {
 public:
  Daemon(zmq::context_t& zmq, std::string address, std::uint16_t port)
      : address_(std::move(address)), port_(port), socket_(configured(zmq)), monitor_(zmq, socket_) {
    socket_.connect("tcp://" + address_ + ":" + std::to_string(port_));
  }
  ~Daemon() { monitor_.stop(socket_); }
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  /// Asks for a session, instead of what it gave before. Throws Unreachable, Cut for one.
  protocol::Welcome say_hello(Clock::time_point deadline);

 private:
  static zmq::socket_t configured(zmq::context_t& zmq) {
    zmq::socket_t socket(zmq, zmq::socket_type::dealer);
    protocol::configure(socket);
    return socket;
  }

  const std::string address_;
  const std::uint16_t port_;
  zmq::socket_t socket_;
  protocol::Monitor monitor_;
};

protocol::Welcome Daemon::say_hello(Clock::time_point deadline) {
  protocol::Batch hello;
  hello.add(protocol::Hello{protocol::kVersion, 0, self_description()});
  protocol::send(socket_, hello);
  const std::string somebody =
      "what answers there is not cliqued, or one of another release. Is the port right?";
  for (;;) {
    const protocol::Monitor::End end = monitor_.end();
    protocol::Incoming incoming;
    try {
      if (protocol::receive(socket_, incoming)) {
        auto welcome = read_answer(incoming, deadline);
        if (!welcome) continue;
        if (welcome->version != protocol::kVersion) refuse_version(welcome->version);
        return std::move(*welcome);
      }
    } catch (const protocol::DecodeError&) {
      throw Unreachable(somebody);
    }
    switch (end) {
      case protocol::Monitor::End::None:
        break;
      case protocol::Monitor::End::Refused:
        throw Unreachable(diagnose(address_, port_, deadline) + ". Is cliqued running there?");
      case protocol::Monitor::End::Handshake:
        throw Cut(somebody);
      case protocol::Monitor::End::Closed:
        throw Cut("the connection was closed. The log of cliqued there may tell why");
    }
    if (Clock::now() >= deadline) {
      const std::string cause = diagnose(address_, port_, Clock::now());
      if (cause == "connection closed")
        throw Unreachable(
            "something listens there but did not answer in time. Is it cliqued, and not overloaded?");
      throw Unreachable("no answer in time. Is the host up, and does its firewall let port " +
                        std::to_string(port_) + " through?");
    }
    wait_for_news(socket_, monitor_, deadline);
  }
}

/// A host as a part of an endpoint.
std::string bracketed(const std::string& host) {
  return host.find(':') == std::string::npos || host.starts_with('[') ? host : "[" + host + "]";
}

std::string tcp(const std::string& host, std::uint16_t port) {
  return "tcp://" + bracketed(host) + ":" + std::to_string(port);
}

/// Links to a node's workers, and why there is none to the others.
struct Opened {
  std::vector<std::unique_ptr<Link>> links;
  std::vector<std::string> failures;
};

Opened open_links(zmq::context_t& zmq, std::vector<WorkerEndpoint> workers, const Config& config,
                  Clock::time_point deadline) {
  Opened opened;
  opened.links.resize(workers.size());
  std::vector<std::string> failures(workers.size());
  in_parallel(workers.size(), [&](std::size_t i) {
    try {
      if (!config.shared_memory) workers[i].shared.clear();
      opened.links[i] = std::make_unique<Link>(zmq, std::move(workers[i]), left_until(deadline));
    } catch (const std::exception& error) {
      failures[i] = "worker " + std::to_string(i + 1) + " cannot be used: " + error.what();
    }
  });
  std::erase(opened.links, nullptr);
  std::erase(failures, "");
  opened.failures = std::move(failures);
  return opened;
}

/// The links, after people have been told which there are not.
std::vector<std::unique_ptr<Link>> tell(Opened opened, const std::string& label) {
  const std::string whose = label + ": ";
  for (const std::string& failure : opened.failures) say_once(whose + failure);
  return std::move(opened.links);
}

std::vector<WorkerEndpoint> endpoints(const protocol::Welcome& welcome, const NodeAddress& node,
                                      const std::string& address) {
  const std::string& peers_host = welcome.advertise.empty() ? node.host : welcome.advertise;
  std::vector<WorkerEndpoint> workers;
  for (const auto& worker : welcome.workers)
    workers.push_back({welcome.node, tcp(address, worker.commands), tcp(address, worker.reports),
                       tcp(peers_host, worker.peers), worker.token, worker.shared, nullptr});
  return workers;
}

/// How often a session is asked for. What breaks one that is being opened (a worker that dies at that moment,
/// a connection that is cut) seldom meets the next one, too.
constexpr int kAttempts = 3;

/// Opens a session with the daemon at one of a node's addresses. Throws Unreachable.
/// @param patience until when the daemon has to have answered
/// @param until when further attempts begin, where it has not answered
Opened open_session(zmq::context_t& zmq, const NodeAddress& node, const std::string& address,
                    const Config& config, Clock::time_point patience, Clock::time_point until) {
  std::optional<Daemon> daemon;
  for (int attempt = 1;; ++attempt) {
    const auto over = [&] { return attempt == kAttempts || Clock::now() >= until; };
    try {
      if (!daemon) daemon.emplace(zmq, address, node.port);
      const protocol::Welcome welcome = daemon->say_hello(patience);
      if (welcome.workers.empty()) throw Unreachable("it has no OpenCL driver. Is one installed there?");
      if (attempt == 1) until = Clock::now() + config.connect_timeout;
      Opened opened =
          open_links(zmq, endpoints(welcome, node, address), config, Clock::now() + config.connect_timeout);
      if (opened.failures.empty() || over()) return opened;
    } catch (const Cut&) {
      if (over()) throw;
      daemon.reset();
    }
    // It has answered, and may have to start other workers first.
    patience = Clock::now() + config.connect_timeout;
  }
}

std::vector<std::unique_ptr<Link>> open_node(zmq::context_t& zmq, const NodeAddress& node,
                                             const Config& config) {
  const auto deadline = Clock::now() + config.connect_timeout;
  const std::string label = "node '" + node.text() + "'";
  std::string why;
  try {
    const auto addresses = resolve(node.host, deadline);
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      // One that swallows everything must leave time for the others.
      const auto patience = Clock::now() + left_until(deadline) / (addresses.size() - i);
      try {
        return tell(open_session(zmq, node, addresses[i], config, patience, deadline), label);
      } catch (const Unreachable& error) {
        // The first address is what people mean; the others are tried for the hosts that listen on some only.
        if (why.empty()) why = error.what();
        if (Clock::now() >= deadline) break;
      }
    }
  } catch (const std::exception& error) {
    why = error.what();
  }
  say_once(label + " cannot be reached: " + why);
  return {};
}

std::vector<std::unique_ptr<Link>> open_embedded(zmq::context_t& zmq, const Config& config) {
  try {
    const auto deadline = Clock::now() + std::max(config.connect_timeout, kEmbeddedTimeout);
    return tell(open_links(zmq, start_embedded(deadline), config, deadline), "this host");
  } catch (const std::exception& error) {
    say_once(std::string("no node is configured, and no worker could be started on this host: ") +
             error.what());
    return {};
  }
}

}  // namespace

std::vector<std::unique_ptr<Link>> open_nodes(zmq::context_t& zmq) {
  Config config;
  try {
    config = Config::read();
  } catch (const ConfigError& error) {
    say_once(error.what());
    return {};
  }
  if (config.nodes.empty()) return open_embedded(zmq, config);

  std::vector<std::vector<std::unique_ptr<Link>>> opened(config.nodes.size());
  in_parallel(config.nodes.size(),
              [&](std::size_t i) { opened[i] = open_node(zmq, config.nodes[i], config); });
  std::vector<std::unique_ptr<Link>> links;
  for (auto& node : opened) std::move(node.begin(), node.end(), std::back_inserter(links));
  return links;
}

}  // namespace clique::icd
