#include "daemon/server/server.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <numeric>
#include <set>
#include <system_error>

#include "daemon/common/caches.hpp"
#include "daemon/server/devices/descriptions.hpp"
#include "protocol/host_id.hpp"
#include "protocol/socket_address.hpp"
#include "protocol/version.hpp"

namespace clique::daemon {

namespace {

/// "1 running session", "2 running sessions".
std::string running(std::size_t count) {
  return fmt::format("{} running session{}", count, count == 1 ? "" : "s");
}
/// Clients that may wait for their workers to start; more are refused.
constexpr std::size_t kMaxWaiting = 256;
/// The same for connections of one client.
constexpr std::size_t kMaxWaitingOfOne = 64;
/// The largest number of sessions that one client may have without having attached to them.
constexpr std::size_t kMaxUnattached = 8;
/// The longest wait for events.
constexpr std::chrono::milliseconds kInterval{1000};
/// The same while a worker is ending.
constexpr std::chrono::milliseconds kEndingInterval{20};
/// How often to look after clients that wait or have not attached yet.
constexpr std::chrono::milliseconds kGuestInterval{500};

/// A client, for logs.
std::string described(const Greeting& greeting) {
  return fmt::format("{} at {}", greeting.hello.client, greeting.visitor.address);
}

/// Why a client of another version is refused.
std::string other_version(const protocol::Hello& hello, const std::string& node) {
  const bool old_client = hello.version < protocol::kOldestVersion;
  return fmt::format(
      "the client speaks versions {} to {} of the protocol, node {} speaks versions {} to {}; install a "
      "newer "
      "release of {}",
      hello.oldest, hello.version, node, protocol::kOldestVersion, protocol::kVersion,
      old_client ? "the package libclique1 on the client's host" : "the package cliqued on the node");
}

/// A wish in words, for logs.
const char* in_words(protocol::Wish wish) {
  switch (wish) {
    case protocol::Wish::Session:
      return "a session";
    case protocol::Wish::Devices:
      return "the devices";
    case protocol::Wish::Status:
      return "the node's state";
    case protocol::Wish::Steer:
      return "steering the node";
    case protocol::Wish::Reserve:
      return "the load of devices";
    case protocol::Wish::Reach:
      return "whether this node reaches others";
  }
  return "something unknown";
}

/// Whether a daemon that listens there does so at all addresses of its host.
bool any_address(const std::string& address) {
  return address == "0.0.0.0" || address == "::";
}

/// What a client wants to be admitted for.
Access::Purpose purpose_of(const protocol::Hello& hello) {
  switch (hello.wish) {
    case protocol::Wish::Status:
    case protocol::Wish::Steer:
    case protocol::Wish::Reach:
      return Access::Purpose::Operate;
    default:
      return Access::Purpose::Use;
  }
}

std::string sessions_text(std::size_t count) {
  return fmt::format("{} session{}", count, count == 1 ? "" : "s");
}

}  // namespace

Server::Server(Settings settings, const protocol::Identity& identity, NodeDevices devices,
               protocol::NodeHealth health)
    : settings_(std::move(settings)),
      devices_(std::move(devices)),
      access_(settings_.access, devices_),
      guest_memory_(settings_.guest_memory, settings_.guest_segments),
      gate_(settings_.listen, settings_.vsock, identity),
      reach_desk_(identity),
      lines_(WorkerLines::start(LinesTo::Log)),
      health_(std::move(health), settings_.session.folders) {
  settings_.listen.port = gate_.port();
  if (!settings_.metrics.empty()) {
    try {
      metrics_ = open_metrics(settings_.metrics);
    } catch (const std::runtime_error& error) {
      throw ConfigError(std::string("metrics: ") + error.what());
    }
    spdlog::info("metrics: http://{}/metrics", metrics_->address());
  }
  if (groups_.missing().empty())
    spdlog::info("each worker gets a control group below {}", groups_.description());
  else
    spdlog::info("workers get no control groups of their own: {}", groups_.missing());
  if (!settings_.access.munge) return;
  try {
    desk_ = std::make_unique<CredentialDesk>(protocol::Munge(*settings_.access.munge));
  } catch (const protocol::SecurityError& error) {
    throw ConfigError(std::string("auth: ") + error.what());
  }
}

int Server::run(int signal_fd) {
  while (true) {
    start_sets();
    if (const int signal = turn(signal_fd, Clock::time_point::max())) return signal;
    if (!drain_cause_.empty()) return SIGTERM;
  }
}

void Server::drain(int signal_fd, std::chrono::seconds limit) {
  close();
  const std::size_t count = sessions();
  spdlog::info("draining{}: no new sessions; {} {} {} s to finish",
               drain_cause_.empty() ? "" : ' ' + drain_cause_, running(count), count == 1 ? "has" : "have",
               limit.count());
  const auto deadline = Clock::now() + limit;
  while (!taken_.empty() && Clock::now() < deadline) {
    const int signal = turn(signal_fd, deadline);
    if (signal == SIGINT || signal == SIGTERM) return;
    if (signal == SIGUSR1) log_state();
  }
}

void Server::stop() {
  close();
  if (const std::size_t count = sessions()) spdlog::warn("ending {}", running(count));
  for (const Taken& taken : taken_)
    taken.process.control().send(
        Notice{Notice::Kind::Stop, fmt::format("node {} was stopped{}", settings_.name,
                                               drain_cause_.empty() ? "" : ' ' + drain_cause_)});
  const auto deadline = Clock::now() + kEndTime;
  while (!taken_.empty() && Clock::now() < deadline) turn(-1, deadline);
  for (Taken& taken : taken_) {
    const std::string how = taken.process.stop();
    session_log_.worker_ended(taken.session, taken.record, how);
  }
  taken_.clear();
}

void Server::close() {
  draining_ = true;
  for (Set& set : sets_) retire(std::move(set));
  sets_.clear();
  for (const Waiting& client : waiting_) refuse(client.guest, client.client, Refusal::Draining, drains());
  waiting_.clear();
}

std::chrono::milliseconds Server::patience() const {
  // No descriptor tells when a session may start because another one has ended, or when to try again.
  if (!looking_.empty() || (!waiting_.empty() && (full() || sets_.empty()))) return kEndingInterval;
  bool guests = !waiting_.empty();
  for (const Taken& taken : taken_) {
    if (taken.closed != Clock::time_point() || taken.kill_at != Clock::time_point()) return kEndingInterval;
    guests = guests || taken.guest != 0;
  }
  return guests ? kGuestInterval : kInterval;
}

std::vector<int> Server::wait(int signal_fd, Clock::time_point deadline) const {
  std::vector<pollfd> items;
  // -1 is no descriptor, which poll() ignores.
  const auto watch = [&items](int fd) { items.push_back({fd, POLLIN, 0}); };
  watch(gate_.fd());
  watch(signal_fd);
  if (desk_) watch(desk_->fd());
  watch(file_desk_.fd());
  watch(dial_desk_.fd());
  watch(reach_desk_.fd());
  for (const Set& set : sets_)
    for (const Worker& worker : set) watch(worker.process.control().fd());
  for (const Taken& taken : taken_)
    if (taken.closed == Clock::time_point()) watch(taken.process.control().fd());
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  const auto limit = std::clamp(left, std::chrono::milliseconds(0), patience());
  if (::poll(items.data(), items.size(), static_cast<int>(limit.count())) < 0) {
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "poll");
    return {};
  }
  std::vector<int> readable;
  for (const pollfd& item : items)
    if (item.revents != 0) readable.push_back(item.fd);
  return readable;
}

int Server::turn(int signal_fd, Clock::time_point deadline) {
  const std::vector<int> news = wait(signal_fd, deadline);
  const auto readable = [&news](int fd) { return std::find(news.begin(), news.end(), fd) != news.end(); };
  if (signal_fd >= 0 && readable(signal_fd)) {
    signalfd_siginfo signal{};
    if (::read(signal_fd, &signal, sizeof signal) == sizeof signal) return static_cast<int>(signal.ssi_signo);
  }

  look_at_sets(readable);
  taken_.remove_if([&](Taken& taken) { return has_ended(taken, readable(taken.process.control().fd())); });
  // Also if nothing has arrived, because it closes connections whose time is over.
  Arrivals arrivals = gate_.turn();
  for (Greeting& greeting : arrivals.greetings) greet(std::move(greeting));
  for (StreamVisit& visit : arrivals.streams) hand_over(std::move(visit));
  if (desk_ && readable(desk_->fd()))
    for (Greeting& greeting : desk_->done()) decide(std::move(greeting));
  if (readable(file_desk_.fd())) hand_out_files();
  if (readable(dial_desk_.fd())) hand_out_connections();
  if (readable(reach_desk_.fd())) tell_reached();
  // A client that asks after a failure causes another try, and is refused only if that fails as well.
  start_sets();
  serve_waiting();
  answer_looking();
  look_after_guests();
  publish_metrics();
  return 0;
}

void Server::look_after_guests() {
  const auto now = Clock::now();
  if (now < next_look_) return;
  next_look_ = now + kGuestInterval;
  reservations_.expire(now);
  access_.refresh();
  std::erase_if(waiting_,
                [this](const Waiting& client) { return !gate_.answer(client.guest, protocol::Starting{}); });
  for (Taken& taken : taken_) {
    if (taken.guest == 0) continue;
    const bool gone = !gate_.connected(taken.guest);
    const bool late = now - taken.since > std::chrono::seconds(kAttachSeconds);
    if (!gone && !late) continue;
    spdlog::trace("session {}: its client {}", taken.session,
                  gone ? "has left the daemon" : "has not left the daemon in time");
    if (gone) taken.process.control().send(Notice{Notice::Kind::HungUp, ""});
    if (late) gate_.dismiss(taken.guest);
    taken.guest = 0;
  }
}

std::size_t Server::sessions(const std::string& identity) const {
  std::set<std::uint64_t> running;
  for (const Taken& taken : taken_)
    if (taken.session != 0 && taken.closed == Clock::time_point() &&
        (identity.empty() || taken.identity == identity))
      running.insert(taken.session);
  return running.size();
}

std::size_t Server::unattached(const std::string& identity) const {
  std::set<std::uint64_t> sessions;
  for (const Taken& taken : taken_)
    if (taken.guest != 0 && (identity.empty() || taken.identity == identity) && gate_.connected(taken.guest))
      sessions.insert(taken.session);
  return sessions.size();
}

std::size_t Server::most_unattached() const {
  // A client that never attaches leaves half of the sessions to others.
  return settings_.sessions == 0 ? kMaxUnattached
                                 : std::clamp<std::size_t>(settings_.sessions / 2, 1, kMaxUnattached);
}

bool Server::waits_for_unattached(const Waiting& client) const {
  return full() && unattached() > 0 && unattached(client.permit.client) == 0;
}

void Server::greet(Greeting&& greeting) {
  access_.refresh();
  if (!desk_ || greeting.hello.credential.empty() ||
      !access_.wants_credential(greeting.visitor, purpose_of(greeting.hello))) {
    decide(std::move(greeting));
    return;
  }
  const GuestId guest = greeting.guest;
  const std::string client = described(greeting);
  if (!desk_->take(std::move(greeting)))
    refuse(guest, client, Refusal::Busy,
           fmt::format("too many clients of node {} wait for munged there; try again later", settings_.name));
}

void Server::decide(Greeting&& greeting) {
  protocol::Hello& hello = greeting.hello;
  const std::string client = described(greeting);
  auto decision = access_.decide(greeting.visitor, purpose_of(hello), settings_.name);
  if (const auto* reason = std::get_if<std::string>(&decision)) {
    refuse(greeting.guest, client, Refusal::Access, *reason);
    return;
  }
  auto& permit = std::get<Permit>(decision);
  // Clients choose the number, which may stand for no wish.
  if (const auto wish = static_cast<std::size_t>(hello.wish); wish < kWishes) ++counts_.admissions[wish];
  spdlog::debug("{} is admitted as {}{}, and asks for {}", client, permit.client,
                permit.admin ? ", an administrator" : "", in_words(hello.wish));
  const auto of_this_client = std::count_if(waiting_.begin(), waiting_.end(), [&](const Waiting& waiting) {
    return waiting.permit.client == permit.client;
  });
  if (!protocol::speaks(hello.version, hello.oldest)) {
    refuse(greeting.guest, client, Refusal::Version, other_version(hello, settings_.name));
  } else if (purpose_of(hello) == Access::Purpose::Operate) {
    operate(std::move(greeting), std::move(permit));
  } else if (draining_) {
    refuse(greeting.guest, client, Refusal::Draining, drains());
  } else if (waiting_.size() >= kMaxWaiting || of_this_client >= static_cast<long>(kMaxWaitingOfOne)) {
    refuse(
        greeting.guest, client, Refusal::Busy,
        fmt::format("{} clients wait for a session on node {}, {} of them as {}; the limits are {} and {}; "
                    "try again later",
                    waiting_.size(), settings_.name, of_this_client, permit.client, kMaxWaiting,
                    kMaxWaitingOfOne));
  } else if (hello.wish == protocol::Wish::Reserve) {
    reserve(std::move(greeting), std::move(permit));
  } else {
    auto choice = wanted(greeting.choice, permit);
    if (const auto* reason = std::get_if<std::string>(&choice))
      refuse(greeting.guest, client, Refusal::Request, *reason);
    else
      waiting_.push_back({greeting.guest, std::move(permit), std::get<Wanted>(std::move(choice)),
                          std::move(greeting.visitor), std::move(hello), client, Clock::now()});
  }
}

std::string Server::drains() const {
  return fmt::format(
      "node {} is draining{}: it accepts no new sessions and will stop; leave it out, or try again after it "
      "has been started again",
      settings_.name, drain_cause_.empty() ? "" : ' ' + drain_cause_);
}

void Server::answer_devices() {
  if (drivers_.empty() || full() || (sets_.empty() && !failure_.empty())) return;
  std::erase_if(waiting_, [this](const Waiting& client) {
    if (wants_session(client) || !limit_of(client).empty()) return false;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    protocol::Offer offer{protocol::kVersion,
                          settings_.name,
                          {},
                          std::chrono::duration_cast<std::chrono::nanoseconds>(now).count(),
                          client.visitor.user == ::geteuid()};
    if (offer.same_user) offer.host = protocol::host_id();
    for (const protocol::Driver& driver : drivers_) {
      auto devices = permitted(client.permit, driver.id, driver.devices);
      if (devices.empty()) continue;
      offer.drivers.push_back(
          {driver.id, std::move(devices), driver.name, taken_exclusively(driver.id), driver.vendor});
    }
    spdlog::debug("{} is told about the devices of {} drivers", client.client, offer.drivers.size());
    gate_.answer(client.guest, offer);
    gate_.let_go(client.guest);
    return true;
  });
}

std::string Server::limit_of(const Waiting& client) const {
  if (full())
    return fmt::format(
        "node {} has {}, which is its limit; try again when one has ended, or raise "
        "'sessions' in its configuration",
        settings_.name, sessions_text(settings_.sessions));
  const Permit& permit = client.permit;
  const auto reaches = [&](std::size_t limit) { return limit > 0 && sessions(permit.client) >= limit; };
  const bool of_all = reaches(settings_.client_sessions);
  if (!of_all && !reaches(permit.sessions))
    return wants_session(client) ? conflict_of(client) : std::string();
  return fmt::format("{} has {} on node {}, which is its limit; try again when one has ended, or raise {}",
                     permit.client, sessions_text(of_all ? settings_.client_sessions : permit.sessions),
                     settings_.name,
                     of_all ? "'client-sessions' in the node's configuration"
                            : "'sessions' in the node's authorized-clients");
}

void Server::refuse_overdue() {
  // Sessions that are about to end may make room, and those to which nobody attaches soon end.
  const auto now = Clock::now();
  for (Waiting& client : waiting_)
    if (waits_for_unattached(client)) client.hopeful = now;
  std::erase_if(waiting_, [&](const Waiting& client) {
    if (now - client.hopeful <= kEndTime) return false;
    const std::string limit = limit_of(client);
    if (limit.empty()) return false;
    refuse(client.guest, client.client, limit == conflict_of(client) ? Refusal::Exclusive : Refusal::Limit,
           limit);
    return true;
  });
}

std::deque<Server::Waiting>::iterator Server::next_in_turn() {
  auto next = waiting_.end();
  std::size_t fewest = most_unattached();
  for (auto client = waiting_.begin(); client != waiting_.end(); ++client) {
    if (!wants_session(*client) || !limit_of(*client).empty()) continue;
    const std::size_t count = unattached(client->permit.client);
    if (count >= fewest) continue;
    fewest = count;
    next = client;
  }
  return next;
}

void Server::serve_waiting() {
  refuse_overdue();
  answer_devices();
  for (auto set = sets_.begin(); set != sets_.end();) {
    const auto next = next_in_turn();
    if (next == waiting_.end()) break;
    if (!all_ready(*set)) {
      ++set;
      continue;
    }
    const Waiting client = std::move(*next);
    waiting_.erase(next);
    // A client that has waited may have gone meanwhile.
    if (!gate_.connected(client.guest)) continue;
    Set taken = take_workers(set, client);
    if (taken.empty()) {
      refuse(client.guest, client.client, Refusal::Failure,
             fmt::format("none of the devices that {} may use on node {} works at the moment; its log says "
                         "why; try again later",
                         client.permit.client, settings_.name));
    } else {
      welcome(client, std::move(taken));
    }
  }
  for (Waiting& client : waiting_) {
    if (std::exchange(client.told, true)) continue;
    const std::string limit = limit_of(client);
    spdlog::debug("{} has to wait: {}", client.client, limit.empty() ? "workers are starting" : limit);
    gate_.answer(client.guest, protocol::Starting{});
  }
  if (!sets_.empty() || failure_.empty()) return;
  while (!waiting_.empty() && waiting_.front().since <= failed_at_) {
    refuse(waiting_.front().guest, waiting_.front().client, Refusal::Failure, failure_);
    waiting_.pop_front();
  }
}

Server::Set Server::take_workers(std::deque<Set>::iterator& set, const Waiting& client) {
  Set taken;
  for (auto worker = set->begin(); worker != set->end();) {
    const auto next = std::next(worker);
    if (client.permit.may_use(worker->driver) && client.wanted.uses(worker->driver) &&
        hindrance(worker->driver, client.permit, client.wanted).empty())
      taken.splice(taken.end(), *set, worker);
    worker = next;
  }
  if (set->empty()) {
    set = sets_.erase(set);
    return taken;
  }
  try {
    for (const Worker& worker : taken)
      set->push_back(start_worker(devices_.served[worker.driver], worker.driver));
    set->sort([](const Worker& one, const Worker& other) { return one.driver < other.driver; });
    ++set;
  } catch (const std::system_error& error) {
    fail_start(error);
    retire(std::move(*set));
    set = sets_.erase(set);
  }
  return taken;
}

std::string Server::advertised_to(const Visitor& visitor) const {
  if (!settings_.advertise.empty() || !visitor.address.starts_with(protocol::kVsockPrefix))
    return settings_.advertise;
  // Other nodes, and this node's own workers, cannot use the address that a virtual machine uses.
  return any_address(settings_.listen.address) ? host_name() : settings_.listen.address;
}

bool Server::give(const GuestMemory::Region& region, const ControlChannel& worker) {
  Notice notice{Notice::Kind::GuestMemory, "", region.at()};
  notice.segments_at = region.segments_at();
  notice.segments_size = region.segments_size();
  return worker.send(notice, region.descriptor());
}

void Server::welcome(const Waiting& client, Set set) {
  protocol::Welcome message;
  message.version = protocol::kVersion;
  message.node = settings_.name;
  message.advertise = advertised_to(client.visitor);
  for (std::uint32_t driver = 0; driver < devices_.served.size(); ++driver) {
    if (!client.permit.may_use(driver) || !client.wanted.uses(driver)) continue;
    std::string why = hindrance(driver, client.permit, client.wanted);
    if (!why.empty()) message.withheld.push_back({driver, std::move(why)});
  }
  ++last_session_;
  ++counts_.sessions;
  SessionOwner owner{client.permit.client, client.visitor,     client.hello.client, {},
                     client.permit.shared, client.permit.share};
  for (Worker& worker : set) {
    message.workers.push_back(worker.ready->address);
    auto region = guest_memory_.assign(client.wanted.memory);
    if (region && give(region, worker.process.control())) {
      message.workers.back().memory_at = region.at();
      message.workers.back().segments_at = region.segments_at();
      message.workers.back().segments_size = region.segments_size();
    }
    for (const auto& device : permitted(client.permit, worker.driver, worker.devices))
      owner.devices.push_back(described_name(device));
    const auto& subset = client.permit.devices;
    if (!client.permit.shared) worker.process.use_programs_of(client.permit.client);
    Notice notice{Notice::Kind::Taken, client.client, client.permit.memory};
    if (subset) notice.devices = subset->at(worker.driver);
    notice.title = fmt::format("{} session {} {}", settings_.name, last_session_, client.permit.client);
    worker.process.control().send(notice);
    spdlog::debug("session {} gets process {} for {}", last_session_, worker.process.pid(), worker.platform);
    taken_.push_back({client.guest, client.permit.client, client.client, last_session_,
                      worker.ready->address.streams, std::move(worker.process), std::move(worker.usage),
                      Clock::now()});
    Taken& taken = taken_.back();
    taken.driver = worker.driver;
    taken.exclusive = client.wanted.exclusive;
    taken.files = client.permit.files;
    taken.memory = std::move(region);
    for (const ServedDevice& device : client.wanted.devices)
      if (device.driver == worker.driver) taken.chosen.push_back(device.place);
    std::vector<std::uint32_t> places(worker.devices.size());
    std::iota(places.begin(), places.end(), 0U);
    taken.part = sharing_.join(worker.pace, std::move(worker.bell), worker.driver,
                               subset ? subset->at(worker.driver) : places, client.permit.share);
  }
  if (!client.wanted.devices.empty()) reservations_.remove({client.permit.client, client.wanted.reservation});
  session_log_.begin(last_session_, std::move(owner), set.size());
  LogFields fields = owner_fields(session_log_.sessions().at(last_session_));
  fields.insert(fields.begin(), {"session", last_session_});
  for (const Worker& worker : set) lines_->describe(worker.lines, client.permit.client, fields);
  gate_.answer(client.guest, message);
}

void Server::refuse(GuestId guest, const std::string& client, Refusal kind, const std::string& reason) {
  ++counts_.refusals[static_cast<std::size_t>(kind)];
  warn_limited(strangers_, fmt::format("refused {}: {}", client, reason));
  gate_.refuse(guest, reason);
}

}  // namespace clique::daemon
