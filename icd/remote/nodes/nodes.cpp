#include "icd/remote/nodes/nodes.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "icd/common/say.hpp"
#include "icd/common/settings.hpp"
#include "icd/remote/nodes/daemon_connection.hpp"
#include "icd/remote/nodes/deadline.hpp"
#include "icd/remote/nodes/discovery.hpp"
#include "icd/remote/nodes/embedded.hpp"
#include "icd/remote/nodes/first_address.hpp"
#include "icd/remote/nodes/resolve.hpp"
#include "icd/remote/nodes/trust.hpp"
#include "icd/remote/nodes/unreachable_nodes.hpp"
#include "icd/remote/threads.hpp"
#include "icd/remote/transfers/guest_memory.hpp"
#include "protocol/host_id.hpp"
#include "protocol/printable.hpp"
#include "protocol/properties.hpp"
#include "protocol/socket_address.hpp"
#include "protocol/spin.hpp"
#include "protocol/streams/ucx_channel.hpp"
#include "protocol/transport/endpoint.hpp"

namespace clique::icd {

namespace {

using Clock = std::chrono::steady_clock;

/// How long a node's answer, that it is available, is taken to hold.
constexpr std::chrono::seconds kAnswerIsTrue{1};

/// A session, and for each of its workers without a link the reason.
struct Attempt {
  OpenedSession opened;
  std::vector<std::string> failures;
};

/// What to do if a link could not be opened.
std::string remedy_for(const std::exception& error) {
  const auto* const failure = dynamic_cast<const std::system_error*>(&error);
  if (failure == nullptr || failure->code() != std::errc::too_many_files_open) return "";
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return ". This process may have " + std::to_string(limit.rlim_cur) +
         " open files, and each node that it uses takes about 8; allow more with 'ulimit -n'";
}

Attempt open_links(protocol::ZmqContext& zmq, std::vector<WorkerEndpoint> workers,
                   const NodeSettings& settings, Clock::time_point deadline) {
  std::vector<std::unique_ptr<Link>> links(workers.size());
  std::vector<std::string> failures(workers.size());
  in_parallel(workers.size(), [&](std::size_t i) {
    try {
      if (!settings.shared_memory) workers[i].shared.clear();
      if (settings.transport == Transport::ZeroMq) workers[i].streams.clear();
      workers[i].build_timeout = settings.build_timeout;
      workers[i].ucx = settings.transport == Transport::Ucx;
      if (!settings.compresses) workers[i].compression = protocol::Compression::None;
      links[i] = std::make_unique<Link>(zmq, std::move(workers[i]), left_until(deadline));
    } catch (const std::exception& error) {
      failures[i] =
          "worker " + std::to_string(i + 1) + " cannot be used: " + error.what() + remedy_for(error);
    }
  });
  std::erase(links, nullptr);
  std::erase(failures, "");
  return {{std::move(links)}, std::move(failures)};
}

/// Returns the session, after reporting the failures.
OpenedSession tell(Attempt attempt, const std::string& label) {
  for (const std::string& failure : attempt.failures)
    say_once(std::string(label).append(": ").append(failure));
  return std::move(attempt.opened);
}

/// Reports that a node cannot be reached. @returns the text.
std::string cannot_be_reached(const NodeAddress& node, const std::string& why) {
  std::string line = "node '" + node.text() + "' cannot be reached: " + why;
  say_once(line);
  return line;
}

/// More workers than any node has drivers.
constexpr std::size_t kMostWorkers = 256;

/// Throws Unreachable if the answer is not that of a daemon.
std::vector<WorkerEndpoint> endpoints(const protocol::Welcome& welcome, const NodeAddress& node,
                                      const std::string& address) {
  if (welcome.workers.size() > kMostWorkers)
    throw Unreachable("its cliqued offers " + std::to_string(welcome.workers.size()) + " workers; at most " +
                      std::to_string(kMostWorkers) + " are possible");
  const std::string& peers_host = host_for_nodes(node, welcome.advertise);
  if (!protocol::is_tcp_endpoint(protocol::endpoint_of(peers_host, node.port)))
    throw Unreachable("its cliqued advertises '" + peers_host +
                      "', which is neither a host name nor an address. "
                      "Correct its setting 'advertise'");
  // Workers that listen at no port of their own have number 0.
  const auto own = [](const std::string& host, std::uint16_t port) {
    return port == 0 ? std::string() : protocol::endpoint_of(host, port);
  };
  std::vector<WorkerEndpoint> workers;
  for (const auto& worker : welcome.workers)
    workers.push_back({welcome.node, own(address, worker.commands), own(address, worker.reports),
                       own(peers_host, worker.peers), worker.client, worker.peer, worker.shared, nullptr,
                       worker.driver, worker.streams, protocol::endpoint_of(address, node.port),
                       protocol::endpoint_of(peers_host, node.port), "", worker.memory_at, worker.segments_at,
                       worker.segments_size});
  return workers;
}

/// What is needed to reach nodes.
struct Configuration {
  explicit Configuration(const NodeSettings& read) : settings(read), trust(read.security) {}
  const NodeSettings settings;
  const Trust trust;
};

/// Throws Unreachable if one of the node's workers encrypts less than the client demands, or lets other
/// workers send it their data with less.
void check_encryption(const protocol::Welcome& welcome, const SecuritySettings& security) {
  for (const protocol::WorkerAddress& worker : welcome.workers) {
    const auto offered = std::min(worker.client.encryption(), worker.peer.encryption());
    if (offered >= security.encryption) continue;
    const std::string demanded = protocol::in_quotes(to_text(security.encryption));
    throw Unreachable(
        "its encryption is " + protocol::in_quotes(to_text(offered)) + ", and " + demanded +
        " is demanded here, by CLIQUE_ENCRYPTION or encryption in nodes.toml. Set encryption to " + demanded +
        " in the configuration of cliqued there, or demand less here");
  }
}

/// Throws Unreachable if the client's transport is UCX, and one of the node's workers cannot use it.
void check_transport(const protocol::Welcome& welcome, Transport transport) {
  if (transport != Transport::Ucx) return;
  for (const protocol::WorkerAddress& worker : welcome.workers)
    if (!worker.without_ucx.empty())
      throw Unreachable(
          "the transport is \"ucx\" here, but the node does not offer it: " + worker.without_ucx +
          ". Do that there, or remove the setting 'transport' (CLIQUE_TRANSPORT) here");
}

/// The choice, with the name of the memory that the session can use.
std::optional<protocol::Choice> with_memory(std::optional<protocol::Choice> choice,
                                            const std::optional<GuestMemory>& memory) {
  if (!memory) return choice;
  if (!choice) choice.emplace();
  choice->memory.assign(memory->id.begin(), memory->id.end());
  return choice;
}

/// How often a daemon is asked for something. What makes an attempt fail (a worker that dies at that moment,
/// a connection that is cut) seldom affects the next one.
constexpr int kAttempts = 3;

/// Opens a session with the daemon at one of a node's addresses. Throws Unreachable.
Attempt open_session(protocol::ZmqContext& zmq, const NodeAddress& node, const std::string& address,
                     const Configuration& configuration, const std::optional<protocol::Choice>& choice) {
  const NodeSettings& settings = configuration.settings;
  std::optional<DaemonConnection> daemon;
  auto patience = Clock::now() + settings.connect_timeout;
  auto until = patience;  // no further attempt begins after this
  for (int attempt = 1;; ++attempt) {
    const auto over = [&] { return attempt == kAttempts || Clock::now() >= until; };
    try {
      // Workers that the daemon gave to an earlier connection, and to which this client is not attached, end
      // with that.
      daemon.emplace(node, address, configuration.trust);
      const auto memory = settings.shared_memory && settings.transport != Transport::ZeroMq
                              ? find_guest_memory(settings.guest_memory)
                              : std::nullopt;
      protocol::Welcome welcome = daemon->ask_for_session(patience, with_memory(choice, memory));
      check_encryption(welcome, settings.security);
      check_transport(welcome, settings.transport);
      if (attempt == 1) until = Clock::now() + settings.connect_timeout;
      std::vector<WorkerEndpoint> workers = endpoints(welcome, node, address);
      for (WorkerEndpoint& worker : workers)
        if (memory) worker.memory = memory->file;
      Attempt made = open_links(zmq, std::move(workers), settings, Clock::now() + settings.connect_timeout);
      made.opened.withheld = std::move(welcome.withheld);
      if (made.failures.empty() || over()) return made;
    } catch (const Cut&) {
      if (over()) throw;
    }
    // The daemon has answered, and may have to start other workers first.
    patience = Clock::now() + settings.connect_timeout;
  }
}

/// Asks the daemon at one of a node's addresses for its devices. Throws Unreachable, also if it has none.
/// @param patience the time by which the daemon must have answered
/// @param until no further attempt begins after this
protocol::Offer ask_for_devices(const NodeAddress& node, const std::string& address, const Trust& trust,
                                Clock::time_point patience, Clock::time_point until) {
  for (int attempt = 1;; ++attempt) {
    try {
      protocol::Offer offer = DaemonConnection(node, address, trust).ask_for_devices(patience);
      if (offer.drivers.empty()) throw Unreachable("it has no OpenCL driver. Install one on the node");
      return offer;
    } catch (const Cut&) {
      if (attempt == kAttempts || Clock::now() >= until) throw;
    }
  }
}

/// Those of the drivers whose devices no session has exclusively.
std::set<std::uint32_t> free_drivers(const std::vector<protocol::Driver>& drivers) {
  std::set<std::uint32_t> result;
  for (const protocol::Driver& driver : drivers)
    if (!driver.taken) result.insert(driver.id);
  return result;
}

/// @param same_user whether the node's workers run on this host, as this process's user
DeviceUse use_of(const NodeSettings& settings, bool same_user) {
  return {settings.device_names_with_node, settings.idle_first, settings.exclusive,
          same_user && settings.shared_memory,
          is_quarter_for(settings.local_memory, program_invocation_short_name)};
}

/// The node whose daemon at one of its addresses has sent an offer.
std::unique_ptr<Node> node_at(protocol::ZmqContext& zmq, const NodeAddress& node, const std::string& address,
                              const std::shared_ptr<const Configuration>& configuration,
                              protocol::Offer offer) {
  const auto open = [&zmq, node, address, configuration](const std::optional<protocol::Choice>& choice,
                                                         const auto& /*needed*/) {
    try {
      return tell(open_session(zmq, node, address, *configuration, choice), "node '" + node.text() + "'");
    } catch (const Unreachable& error) {
      throw Error(CL_DEVICE_NOT_AVAILABLE, cannot_be_reached(node, error.what()));
    }
  };
  const auto ask = [node, address, configuration] {
    try {
      const auto patience = Clock::now() + configuration->settings.connect_timeout;
      return free_drivers(ask_for_devices(node, address, configuration->trust, patience, patience).drivers);
    } catch (const Unreachable&) {
      return std::set<std::uint32_t>();
    }
  };
  const auto reserve = [node, address, configuration](const protocol::Choice& choice) {
    const auto patience = Clock::now() + configuration->settings.connect_timeout;
    return DaemonConnection(node, address, configuration->trust).reserve(choice, patience);
  };
  // Of a client whose connection is passed on by a process of the node's host, such as ssh or QEMU, the
  // daemon only sees that process.
  const bool same_user = offer.same_user && (offer.host.empty() || offer.host == protocol::host_id());
  return std::make_unique<Node>(std::move(offer.node), std::move(offer.drivers), open, ask,
                                use_of(configuration->settings, same_user), node, reserve);
}

/// How long a node that has lately been silent may take to accept a connection. Then it has the same time as
/// all others.
constexpr std::chrono::milliseconds kBriefly{150};

/// Throws Unreachable if nothing at any of the addresses accepts or refuses a connection within a short time.
/// @param silent_for how long ago a program waited for the node in vain
void knock(const NodeAddress& node, const std::vector<std::string>& addresses,
           std::chrono::seconds silent_for) {
  std::atomic<bool> heard{false};
  const auto until = Clock::now() + kBriefly;
  in_parallel(addresses.size(), [&](std::size_t i) {
    const std::string outcome = diagnose(addresses[i], node.port, until);
    if (outcome == "connection closed" || outcome == "connection refused") heard = true;
  });
  if (heard) return;
  const auto left = std::max(UnreachableNodes::kTime - silent_for, std::chrono::seconds(1));
  throw Unreachable("no answer " + std::to_string(silent_for.count()) + " s ago, and none within " +
                    std::to_string(kBriefly.count()) + " ms now. Programs wait for it again in " +
                    std::to_string(left.count()) + " s, or always with CLIQUE_REMEMBER_UNREACHABLE=0");
}

/// The outcome of looking for a node.
struct Found {
  std::unique_ptr<Node> node;  ///< null: it cannot be reached
  bool silent = false;         ///< this program has waited for it in vain
};

/// @param silent_for how long ago another program waited for the node in vain
Found find_node(protocol::ZmqContext& zmq, const NodeAddress& node,
                const std::shared_ptr<const Configuration>& configuration,
                std::optional<std::chrono::seconds> silent_for) {
  const auto begin = Clock::now();
  const auto deadline = begin + configuration->settings.connect_timeout;
  std::vector<std::string> addresses;
  try {
    addresses = resolve(node.host, deadline);
    if (silent_for) knock(node, addresses, *silent_for);
  } catch (const std::exception& error) {
    cannot_be_reached(node, error.what());
    return {};
  }
  try {
    return {with_first_of(addresses, deadline, [&](const std::string& address, Clock::time_point patience) {
      return node_at(zmq, node, address, configuration,
                     ask_for_devices(node, address, configuration->trust, patience, deadline));
    })};
  } catch (const std::exception& error) {
    cannot_be_reached(node, error.what());
    return {nullptr, Clock::now() - begin > 2 * kBriefly};
  }
}

/// Finds configured nodes, all at the same time. Null where one cannot be reached.
std::vector<std::unique_ptr<Node>> find_configured(protocol::ZmqContext& zmq, const NodeSettings& settings) {
  if (settings.transport == Transport::Ucx && !protocol::ucx_missing().empty())
    throw SettingError("the transport is \"ucx\" (CLIQUE_TRANSPORT, or transport in nodes.toml), but " +
                       protocol::ucx_missing() + ", or set the transport to auto");
  const auto configuration = std::make_shared<const Configuration>(settings);
  UnreachableNodes memory(settings.unreachable_file);
  std::vector<Found> found(settings.nodes.size());
  in_parallel(found.size(), [&](std::size_t i) {
    found[i] = find_node(zmq, settings.nodes[i], configuration, memory.silent_for(settings.nodes[i]));
  });
  std::vector<NodeAddress> silent;
  std::vector<NodeAddress> answered;
  std::vector<std::unique_ptr<Node>> nodes;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i].silent) silent.push_back(settings.nodes[i]);
    if (found[i].node) answered.push_back(settings.nodes[i]);
    nodes.push_back(std::move(found[i].node));
  }
  memory.note(silent, answered);
  return nodes;
}

/// This host as a node, whose workers are private.
std::unique_ptr<Node> start_node(protocol::ZmqContext& zmq, const NodeSettings& settings) {
  const auto patience = std::max(settings.connect_timeout, kEmbeddedTimeout);
  try {
    const auto workers = std::make_shared<PrivateWorkers>(Clock::now() + patience);
    const auto open = [&zmq, settings, patience, workers](const auto& /*chosen*/, auto needed) {
      try {
        const auto until = Clock::now() + patience;
        PrivateWorkers::Started started = workers->start(needed, until);
        OpenedSession session =
            tell(open_links(zmq, std::move(started.workers), settings, until), "this host");
        session.withheld = std::move(started.withheld);
        return session;
      } catch (const std::exception& error) {
        const std::string text = std::string("no worker could be started on this host: ") + error.what();
        say_once(text);
        throw Error(CL_DEVICE_NOT_AVAILABLE, text);
      }
    };
    std::set<std::uint32_t> available = free_drivers(workers->drivers());
    return std::make_unique<Node>(
        workers->host(), workers->drivers(), open, [available = std::move(available)] { return available; },
        use_of(settings, /*same_user=*/true));
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

Node::Node(std::string name, std::vector<protocol::Driver> drivers, Open open, Ask ask, DeviceUse use,
           std::optional<NodeAddress> address, Reserve reserve)
    : name_(std::move(name)),
      drivers_(std::move(drivers)),
      open_(std::move(open)),
      ask_(std::move(ask)),
      use_(use),
      address_(std::move(address)),
      reserve_(std::move(reserve)),
      links_(drivers_.size()),
      available_(free_drivers(drivers_)) {}

Node::~Node() {
  end_use();
}

void Node::before_stop() {
  if (birthplace_.foreign()) return;
  said_lost_ = true;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;
  for (const std::unique_ptr<Link>& link : links_)
    if (link) link->announce_end();
}

std::optional<protocol::Choice> Node::wanted() const {
  const bool first = std::all_of(links_.begin(), links_.end(), [](const auto& link) { return !link; });
  if (first) return choice_;
  protocol::Choice rest = choice_.value_or(protocol::Choice{});
  const std::vector<protocol::ChosenDevice> chosen = std::exchange(rest.devices, {});
  for (std::size_t driver = 0; driver < drivers_.size(); ++driver) {
    if (links_[driver]) continue;
    const auto devices = static_cast<std::uint32_t>(drivers_[driver].devices.size());
    for (std::uint32_t device = 0; device < devices; ++device)
      if (chosen.empty() || std::any_of(chosen.begin(), chosen.end(), [&](const auto& each) {
            return each.driver == drivers_[driver].id && each.device == device;
          }))
        rest.devices.push_back({drivers_[driver].id, device});
  }
  return rest;
}

Link& Node::link(std::size_t driver) {
  const std::lock_guard lock(mutex_);
  const std::string failure = open_locked(std::array{driver})[0];
  if (!failure.empty()) throw Error(CL_DEVICE_NOT_AVAILABLE, failure);
  return *links_[driver];
}

std::vector<std::string> Node::open(std::span<const std::size_t> drivers) {
  const std::lock_guard lock(mutex_);
  return open_locked(drivers);
}

std::vector<std::string> Node::open_locked(std::span<const std::size_t> drivers) {
  std::vector<std::string> failures(drivers.size());
  std::vector<std::uint32_t> needed;
  for (const std::size_t driver : drivers)
    if (!links_[driver]) needed.push_back(drivers_[driver].id);
  if (needed.empty()) return failures;
  std::string failure = "node " + name_ + " no longer offers the device";
  std::vector<protocol::Withheld> withheld;
  try {
    OpenedSession session = open_(wanted(), needed);
    take(std::move(session.links));
    withheld = std::move(session.withheld);
  } catch (const Error& error) {
    failure = error.what();
  }
  for (std::size_t i = 0; i < drivers.size(); ++i) {
    if (links_[drivers[i]]) continue;
    const auto refused = std::find_if(withheld.begin(), withheld.end(), [&](const auto& each) {
      return each.driver == drivers_[drivers[i]].id;
    });
    if (refused != withheld.end()) say_once(refused->reason);
    failures[i] = refused != withheld.end() ? refused->reason : failure;
  }
  return failures;
}

void Node::take(std::vector<std::unique_ptr<Link>> links) {
  for (std::unique_ptr<Link>& opened : links) {
    const auto served = std::find_if(drivers_.begin(), drivers_.end(), [&](const protocol::Driver& each) {
      return each.id == opened->endpoint().driver;
    });
    if (served == drivers_.end()) continue;
    // A daemon that was restarted meanwhile may serve other devices under this id.
    if (names(served->devices) != names(opened->attached().devices)) continue;
    std::unique_ptr<Link>& mine = links_[static_cast<std::size_t>(served - drivers_.begin())];
    if (mine) continue;
    mine = std::move(opened);
    if (!mine->shares_memory()) begin_use();
  }
}

bool Node::available(std::size_t driver) {
  const std::lock_guard lock(mutex_);
  if (Clock::now() - asked_ > kAnswerIsTrue) {
    available_ = ask_();
    asked_ = Clock::now();
  }
  return available_.contains(drivers_[driver].id);
}

void Node::say_lost(const std::string& why) {
  if (birthplace_.foreign() || said_lost_.exchange(true)) return;
  say(why +
      ". The session with this node is lost, and commands for its devices fail. To use them again, "
      "start the program again");
}

void Node::say_goodbye() {
  // Does not wait for a session that another thread is opening at this moment.
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;
  for (const std::unique_ptr<Link>& link : links_)
    if (link) link->say_goodbye();
}

std::vector<std::unique_ptr<Node>> find_nodes(protocol::ZmqContext& zmq) {
  for (const std::string& text : unknown_variables()) say_once(text);
  std::vector<std::unique_ptr<Node>> nodes;
  try {
    NodeSettings settings = NodeSettings::read();
    for (const std::string& problem : settle_nodes(settings)) say_once(problem);
    for (const NodeAddress& node : remove_repeated(settings.nodes))
      say_once("node '" + node.text() +
               "' is listed more than once, and used once; remove the other entries");
    protocol::set_spin_time(settings.spin_time);
    if (settings.nodes.empty()) {
      if (!settings.discover) nodes.push_back(start_node(zmq, settings));
    } else {
      nodes = find_configured(zmq, settings);
    }
  } catch (const SettingError& error) {
    say_once(error.what());
  } catch (const protocol::SecurityError& error) {
    say_once(error.what());
  }
  std::erase(nodes, nullptr);
  return nodes;
}

}  // namespace clique::icd
