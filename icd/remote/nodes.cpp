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

/// How long a node that has no session of ours is taken to be as it was.
constexpr std::chrono::seconds kAnswerIsTrue{1};

/// What a daemon that can be reached has for the start of its drivers.
constexpr std::chrono::seconds kStartTimeout{60};

/// The daemon's answer; nothing where it has only said that it is at work, and may take until `deadline`.
template <typename Answer>
std::optional<Answer> read_answer(protocol::Incoming& incoming, Clock::time_point& deadline) {
  std::optional<Answer> wanted;
  bool answered = false;
  const auto handler = [&](auto&& answer) {
    using M = std::remove_cvref_t<decltype(answer)>;
    answered = true;
    if constexpr (std::is_same_v<M, Answer>) {
      wanted = std::forward<decltype(answer)>(answer);
    } else if constexpr (std::is_same_v<M, protocol::Refused>) {
      throw Unreachable("cliqued refused: " + answer.reason);
    } else {
      deadline = std::max(deadline, Clock::now() + kStartTimeout);
    }
  };
  protocol::BatchReader().read(protocol::MessageList<Answer, protocol::Refused, protocol::Starting>{},
                               incoming.records, incoming.frames, incoming.owner, handler);
  if (!answered) throw Unreachable("cliqued gave an empty answer");
  return wanted;
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
  protocol::Welcome ask_for_session(Clock::time_point deadline) {
    return ask<protocol::Welcome>(protocol::Wish::Session, deadline);
  }
  /// Asks what it offers. Throws Unreachable, Cut for one.
  protocol::Offer ask_for_devices(Clock::time_point deadline) {
    return ask<protocol::Offer>(protocol::Wish::Devices, deadline);
  }

 private:
  template <typename Answer>
  Answer ask(protocol::Wish wish, Clock::time_point deadline);
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

template <typename Answer>
Answer Daemon::ask(protocol::Wish wish, Clock::time_point deadline) {
  protocol::Batch hello;
  hello.add(protocol::Hello{protocol::kVersion, wish, self_description()});
  protocol::send(socket_, hello);
  const std::string somebody =
      "what answers there is not cliqued, or one of another release. Is the port right?";
  for (;;) {
    const protocol::Monitor::End end = monitor_.end();
    protocol::Incoming incoming;
    try {
      if (protocol::receive(socket_, incoming)) {
        auto answer = read_answer<Answer>(incoming, deadline);
        if (!answer) continue;
        if (answer->version != protocol::kVersion) refuse_version(answer->version);
        return std::move(*answer);
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
  for (const std::string& failure : opened.failures) say_once(label + ": " + failure);
  return std::move(opened.links);
}

/// Tells people that a node is not there, and why.
std::string cannot_be_reached(const NodeAddress& node, const std::string& why) {
  std::string line = "node '" + node.text() + "' cannot be reached: " + why;
  say_once(line);
  return line;
}

std::vector<WorkerEndpoint> endpoints(const protocol::Welcome& welcome, const NodeAddress& node,
                                      const std::string& address) {
  const std::string& peers_host = welcome.advertise.empty() ? node.host : welcome.advertise;
  std::vector<WorkerEndpoint> workers;
  for (const auto& worker : welcome.workers)
    workers.push_back({welcome.node, tcp(address, worker.commands), tcp(address, worker.reports),
                       tcp(peers_host, worker.peers), worker.token, worker.shared, nullptr, worker.driver});
  return workers;
}

/// How often a daemon is asked for something. What breaks that (a worker that dies at that moment, a
/// connection that is cut) seldom meets the next attempt, too.
constexpr int kAttempts = 3;

/// Opens a session with the daemon at one of a node's addresses. Throws Unreachable.
Opened open_session(zmq::context_t& zmq, const NodeAddress& node, const std::string& address,
                    const Config& config) {
  std::optional<Daemon> daemon;
  auto patience = Clock::now() + config.connect_timeout;
  auto until = patience;  // when further attempts begin
  for (int attempt = 1;; ++attempt) {
    const auto over = [&] { return attempt == kAttempts || Clock::now() >= until; };
    try {
      if (!daemon) daemon.emplace(zmq, address, node.port);
      const protocol::Welcome welcome = daemon->ask_for_session(patience);
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

/// Asks the daemon at one of a node's addresses what it offers, which is something. Throws Unreachable.
/// @param patience until when the daemon has to have answered
/// @param until when further attempts begin, where it has not answered
protocol::Offer ask_for_devices(zmq::context_t& zmq, const NodeAddress& node, const std::string& address,
                                Clock::time_point patience, Clock::time_point until) {
  for (int attempt = 1;; ++attempt) {
    try {
      protocol::Offer offer = Daemon(zmq, address, node.port).ask_for_devices(patience);
      if (offer.drivers.empty()) throw Unreachable("it has no OpenCL driver. Is one installed there?");
      return offer;
    } catch (const Cut&) {
      if (attempt == kAttempts || Clock::now() >= until) throw;
    }
  }
}

/// The node whose daemon at one of its addresses has made an offer.
std::unique_ptr<Node> node_at(zmq::context_t& zmq, const NodeAddress& node, const std::string& address,
                              const std::shared_ptr<const Config>& config, protocol::Offer offer) {
  const auto open = [&zmq, node, address, config] {
    try {
      return tell(open_session(zmq, node, address, *config), "node '" + node.text() + "'");
    } catch (const Unreachable& error) {
      throw Error(CL_DEVICE_NOT_AVAILABLE, cannot_be_reached(node, error.what()));
    }
  };
  const auto ask = [&zmq, node, address, config] {
    try {
      const auto patience = Clock::now() + config->connect_timeout;
      ask_for_devices(zmq, node, address, patience, patience);
      return true;
    } catch (const Unreachable&) {
      return false;
    }
  };
  return std::make_unique<Node>(std::move(offer.node), std::move(offer.drivers), open, ask);
}

std::unique_ptr<Node> find_node(zmq::context_t& zmq, const NodeAddress& node,
                                const std::shared_ptr<const Config>& config) {
  const auto deadline = Clock::now() + config->connect_timeout;
  std::string why;
  try {
    const auto addresses = resolve(node.host, deadline);
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      // One that swallows everything must leave time for the others.
      const auto patience = Clock::now() + left_until(deadline) / (addresses.size() - i);
      try {
        return node_at(zmq, node, addresses[i], config,
                       ask_for_devices(zmq, node, addresses[i], patience, deadline));
      } catch (const Unreachable& error) {
        // The first address is what people mean; the others are tried for the hosts that listen on some only.
        if (why.empty()) why = error.what();
        if (Clock::now() >= deadline) break;
      }
    }
  } catch (const std::exception& error) {
    why = error.what();
  }
  cannot_be_reached(node, why);
  return nullptr;
}

/// Workers of this host's, which were started for this process and have its session.
std::unique_ptr<Node> start_node(zmq::context_t& zmq, const Config& config) {
  try {
    const auto deadline = Clock::now() + std::max(config.connect_timeout, kEmbeddedTimeout);
    auto links = tell(open_links(zmq, start_embedded(deadline), config, deadline), "this host");
    if (links.empty()) return nullptr;
    std::vector<protocol::Driver> drivers;
    for (const auto& link : links) drivers.push_back({link->endpoint().driver, link->attached().devices});
    const std::string name = links[0]->endpoint().node;
    auto once = std::make_shared<std::vector<std::unique_ptr<Link>>>(std::move(links));
    return std::make_unique<Node>(
        name, std::move(drivers), [once] { return std::move(*once); }, [] { return true; });
  } catch (const std::exception& error) {
    say_once(std::string("no node is configured, and no worker could be started on this host: ") +
             error.what());
    return nullptr;
  }
}

/// The names of a driver's devices.
std::vector<protocol::Bytes> names(const std::vector<protocol::DeviceDescription>& devices) {
  std::vector<protocol::Bytes> result;
  for (const protocol::DeviceDescription& device : devices)
    for (const protocol::Property& property : device.properties)
      if (property.name == CL_DEVICE_NAME) result.push_back(property.value);
  return result;
}

}  // namespace

Node::Node(std::string name, std::vector<protocol::Driver> drivers, Open open, Ask ask)
    : name_(std::move(name)),
      drivers_(std::move(drivers)),
      open_(std::move(open)),
      ask_(std::move(ask)),
      links_(drivers_.size()) {}

Link& Node::link(std::size_t driver) {
  const std::lock_guard lock(mutex_);
  if (!links_[driver]) {
    for (std::unique_ptr<Link>& opened : open_()) {
      const auto served = std::find_if(drivers_.begin(), drivers_.end(), [&](const protocol::Driver& each) {
        return each.id == opened->endpoint().driver;
      });
      if (served == drivers_.end()) continue;
      // A daemon that was started anew meanwhile may serve others.
      if (names(served->devices) != names(opened->attached().devices)) continue;
      std::unique_ptr<Link>& mine = links_[static_cast<std::size_t>(served - drivers_.begin())];
      if (!mine) mine = std::move(opened);
    }
  }
  if (!links_[driver])
    throw Error(CL_DEVICE_NOT_AVAILABLE, "node " + name_ + " does not serve the device any more");
  return *links_[driver];
}

bool Node::available() {
  const std::lock_guard lock(mutex_);
  if (Clock::now() - asked_ > kAnswerIsTrue) {
    available_ = ask_();
    asked_ = Clock::now();
  }
  return available_;
}

void Node::say_goodbye() {
  // One that is being opened by another thread at this moment is not waited for.
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;
  for (const std::unique_ptr<Link>& link : links_)
    if (link) link->say_goodbye();
}

std::vector<std::unique_ptr<Node>> find_nodes(zmq::context_t& zmq) {
  std::vector<std::unique_ptr<Node>> nodes;
  std::shared_ptr<const Config> config;
  try {
    config = std::make_shared<const Config>(Config::read());
  } catch (const ConfigError& error) {
    say_once(error.what());
    return nodes;
  }
  if (config->nodes.empty()) {
    nodes.push_back(start_node(zmq, *config));
  } else {
    nodes.resize(config->nodes.size());
    in_parallel(nodes.size(), [&](std::size_t i) { nodes[i] = find_node(zmq, config->nodes[i], config); });
  }
  std::erase(nodes, nullptr);
  return nodes;
}

}  // namespace clique::icd
