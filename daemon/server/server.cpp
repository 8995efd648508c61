#include "daemon/server/server.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "protocol/version.hpp"

namespace clique::daemon {

namespace {
/// The longest message: clients send nothing but Hello.
constexpr std::int64_t kMaxMessage = 64 << 10;
/// Clients that may wait for their workers to start; more are refused.
constexpr std::size_t kMaxWaiting = 64;
/// Sets of workers that may start at the same time.
constexpr std::size_t kMaxSets = 4;
/// How long to wait before workers that failed are started again.
constexpr std::chrono::seconds kRestartInterval{1};
/// The longest wait for events.
constexpr long kPollMs = 1000;
/// The same while a worker is ending.
constexpr long kEndingPollMs = 20;
/// How long a worker whose channel is closed may take to exit; then it is killed.
constexpr std::chrono::seconds kEndTime{2};
/// How often to look whether clients that have not attached yet are still there.
constexpr std::chrono::milliseconds kHungUpInterval{500};
}  // namespace

Server::Server(Settings settings, std::vector<SelectedPlatform> platforms)
    : settings_(std::move(settings)),
      platforms_(std::move(platforms)),
      context_(1),
      socket_(context_, zmq::socket_type::router) {
  protocol::configure(socket_);
  socket_.set(zmq::sockopt::maxmsgsize, kMaxMessage);
  socket_.set(zmq::sockopt::router_mandatory, 1);
  ListenAddress& listen = settings_.listen;
  socket_.bind(listen.port == 0 ? listen.endpoint().substr(0, listen.endpoint().size() - 1) + "*"
                                : listen.endpoint());
  const std::string bound = socket_.get(zmq::sockopt::last_endpoint);
  listen.port = static_cast<std::uint16_t>(std::stoi(bound.substr(bound.rfind(':') + 1)));
}

int Server::run(int signal_fd) {
  while (true) {
    start_sets();
    if (const int signal = turn(signal_fd, Clock::time_point::max())) return signal;
  }
}

void Server::drain(int signal_fd, std::chrono::seconds limit) {
  close();
  spdlog::info("draining: no new sessions; {} running sessions have {} s to finish", sessions(),
               limit.count());
  const auto deadline = Clock::now() + limit;
  while (!taken_.empty() && Clock::now() < deadline)
    if (turn(signal_fd, deadline) != 0) return;
}

void Server::stop() {
  close();
  if (const std::size_t count = sessions()) spdlog::warn("ending {} running sessions", count);
  for (const Taken& taken : taken_)
    taken.process.control().send(
        Notice{Notice::Kind::Stop, fmt::format("node {} was stopped", settings_.name)});
  const auto deadline = Clock::now() + kEndTime;
  while (!taken_.empty() && Clock::now() < deadline) turn(-1, deadline);
}

void Server::close() {
  draining_ = true;
  for (Set& set : sets_) retire(std::move(set));
  sets_.clear();
  for (const Waiting& client : waiting_) refuse(client.routing_id, client.client, drains());
  waiting_.clear();
}

int Server::turn(int signal_fd, Clock::time_point deadline) {
  std::vector<zmq::pollitem_t> items{{socket_.handle(), 0, ZMQ_POLLIN, 0}};
  // -1 is no descriptor.
  const auto watch = [&items](int fd) {
    if (fd >= 0) items.push_back({nullptr, fd, ZMQ_POLLIN, 0});
  };
  watch(signal_fd);
  for (const Set& set : sets_)
    for (const Worker& worker : set) watch(worker.process.control().fd());
  // No descriptor tells when a session may start because another one has ended, or when to try again.
  long patience = !waiting_.empty() && (full() || sets_.empty()) ? kEndingPollMs : kPollMs;
  for (const Taken& taken : taken_) {
    const bool ending = taken.closed != Clock::time_point();
    if (ending) {
      patience = kEndingPollMs;
    } else {
      if (!taken.routing_id.empty()) patience = std::min(patience, kHungUpInterval.count());
      watch(taken.process.control().fd());
    }
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  if (zmq_poll(items.data(), static_cast<int>(items.size()), std::clamp<long>(left, 0, patience)) < 0 &&
      zmq_errno() != EINTR)
    throw zmq::error_t();
  const auto readable = [&items](int fd) {
    return std::any_of(items.begin(), items.end(), [&](const zmq::pollitem_t& item) {
      return item.socket == nullptr && item.fd == fd && item.revents != 0;
    });
  };
  if (signal_fd >= 0 && readable(signal_fd)) {
    signalfd_siginfo signal{};
    if (::read(signal_fd, &signal, sizeof signal) == sizeof signal) return static_cast<int>(signal.ssi_signo);
  }

  for (auto set = sets_.begin(); set != sets_.end();) {
    bool lost = false, changed = false;
    set->remove_if([&](Worker& worker) {
      if (!readable(worker.process.control().fd())) return false;
      changed = true;
      const bool was_ready = worker.ready.has_value();
      if (look_at(worker)) return false;
      lost = lost || was_ready;
      return true;
    });
    // A set does without a driver that cannot start. If a driver was ready and failed, the set is replaced.
    if (lost || set->empty()) {
      set = sets_.erase(set);
    } else {
      if (changed && all_ready(*set)) note_devices(*set);
      ++set;
    }
  }
  taken_.remove_if([&](Taken& taken) { return has_ended(taken, readable(taken.process.control().fd())); });
  if (items[0].revents != 0) take_messages();
  // A client that asks after a failure causes another try, and is refused only if that fails as well.
  start_sets();
  serve_waiting();
  look_for_hung_up();
  return 0;
}

void Server::look_for_hung_up() {
  const auto now = Clock::now();
  if (now < next_look_) return;
  next_look_ = now + kHungUpInterval;
  for (Taken& taken : taken_) {
    if (taken.routing_id.empty()) continue;
    // The message does not matter, only whether its receiver is still connected.
    const bool gone = !answer(taken.routing_id, protocol::Starting{});
    if (gone) taken.process.control().send(Notice{Notice::Kind::HungUp, ""});
    if (gone || now - taken.since > std::chrono::seconds(kAttachSeconds)) taken.routing_id.clear();
  }
}

std::size_t Server::sessions() const {
  std::set<std::uint64_t> running;
  for (const Taken& taken : taken_)
    if (taken.session != 0 && taken.closed == Clock::time_point()) running.insert(taken.session);
  return running.size();
}

bool Server::has_ended(Taken& taken, bool readable) {
  // A worker that has a session sends nothing more; its channel becomes readable when the process ends. The
  // driver of a busy device may take long to release the process, and other clients must not wait for that.
  const auto now = Clock::now();
  if (taken.closed == Clock::time_point()) {
    if (!readable) return false;
    taken.closed = now;
  }
  const auto how = taken.process.ended();
  if (!how && now - taken.closed > kEndTime) taken.process.kill();
  if (how && !how->empty() && taken.session != 0)
    spdlog::warn("a worker of the session of {} exited: {}", taken.client, *how);
  return how.has_value();
}

void Server::retire(Set set) {
  for (Worker& worker : set) {
    worker.process.kill();
    taken_.push_back({"", "no client", 0, std::move(worker.process), Clock::now(), Clock::now()});
  }
}

void Server::start_sets() {
  if (draining_) return;
  const auto now = Clock::now();
  // After a failure another try is made only when a client asks.
  const auto sessions =
      static_cast<std::size_t>(std::count_if(waiting_.begin(), waiting_.end(), wants_session));
  const std::size_t wanted = sessions + (failure_.empty() || sessions < waiting_.size() ? 1 : 0);
  while (sets_.size() < std::min(wanted, kMaxSets) && now >= next_start_) {
    Set set;
    for (const SelectedPlatform& platform : platforms_) {
      WorkerOptions worker;
      worker.log_level = log_level();
      worker.kind = platform.kind;
      worker.platform = platform.index;
      worker.devices = platform.devices;
      worker.bind = settings_.listen.address;
      worker.session = settings_.session;
      set.push_back({static_cast<std::uint32_t>(set.size()),
                     platform.name,
                     ChildProcess::start("worker", worker_arguments(worker)),
                     {},
                     std::nullopt});
    }
    if (set.empty()) {
      failure_ =
          "this node has no OpenCL devices to offer; install an OpenCL driver there, or check the setting "
          "'devices'";
      failed_at_ = now;
      return;
    }
    sets_.push_back(std::move(set));
  }
}

bool Server::look_at(Worker& worker) {
  try {
    const auto packet = worker.process.control().receive();
    if (!packet) {
      const auto how = worker.process.stop();
      throw std::runtime_error("its worker exited" + (how.empty() ? "" : ": " + how));
    }
    auto said = parse_worker(*packet);
    if (auto* device = std::get_if<protocol::DeviceDescription>(&said)) {
      worker.devices.push_back(std::move(*device));
      return true;
    }
    worker.ready = std::get<WorkerReady>(std::move(said));
    worker.ready->address.driver = worker.driver;
    failure_.clear();
    return true;
  } catch (const std::exception& error) {
    failure_ = fmt::format("the OpenCL driver {} cannot be used: {}", worker.platform, error.what());
    spdlog::error("{}", failure_);
    failed_at_ = Clock::now();
    next_start_ = failed_at_ + kRestartInterval;
    // A driver that was ready can be used, after all.
    if (worker.ready) failure_.clear();
    return false;
  }
}

void Server::take_messages() {
  protocol::Incoming incoming;
  while (true) {
    try {
      if (!protocol::receive(socket_, incoming)) return;
      reader_.read(protocol::MessageList<protocol::Hello>{}, incoming.records, incoming.frames,
                   incoming.owner,
                   [&](protocol::Hello&& message) { hello(incoming.routing_id, std::move(message)); });
    } catch (const protocol::DecodeError& error) {
      warn_limited(strangers_, fmt::format("dropped a stranger's message: {}", error.what()));
    }
  }
}

void Server::hello(const std::string& routing_id, protocol::Hello&& message) {
  forgo(routing_id);
  if (message.version != protocol::kVersion) {
    refuse(routing_id, message.client,
           fmt::format("the client speaks version {} of the protocol, node {} speaks version {}; install the "
                       "same version of "
                       "Clique on both",
                       message.version, settings_.name, protocol::kVersion));
  } else if (draining_) {
    refuse(routing_id, message.client, drains());
  } else if (waiting_.size() >= kMaxWaiting) {
    refuse(routing_id, message.client,
           fmt::format("{} clients are waiting for a session on node {}, which is the limit; try again later",
                       kMaxWaiting, settings_.name));
  } else {
    waiting_.push_back({routing_id, message.wish, std::move(message.client), Clock::now()});
  }
}

void Server::forgo(const std::string& routing_id) {
  // A client that asks again could not attach to all of its workers, and will not use the others.
  for (Taken& taken : taken_) {
    if (taken.routing_id != routing_id) continue;
    taken.process.control().send(Notice{Notice::Kind::Forgone, ""});
    taken.routing_id.clear();
  }
}

std::string Server::drains() const {
  return fmt::format(
      "node {} is draining: it accepts no new sessions and will stop; leave it out, or try again after it "
      "has been started again",
      settings_.name);
}

bool Server::all_ready(const Set& set) {
  return std::all_of(set.begin(), set.end(), [](const Worker& worker) {
    // The channel of a worker that has died since the last look is readable.
    pollfd news{worker.process.control().fd(), POLLIN, 0};
    return worker.ready.has_value() && ::poll(&news, 1, 0) == 0;
  });
}

void Server::note_devices(const Set& set) {
  drivers_.clear();
  for (const Worker& worker : set) drivers_.push_back({worker.driver, worker.devices});
}

void Server::answer_devices() {
  if (drivers_.empty() || full() || (sets_.empty() && !failure_.empty())) return;
  std::erase_if(waiting_, [this](const Waiting& client) {
    if (wants_session(client)) return false;
    answer(client.routing_id, protocol::Offer{protocol::kVersion, settings_.name, drivers_});
    return true;
  });
}

void Server::serve_waiting() {
  // Waits for sessions that are about to end, so that one may follow another.
  while (!waiting_.empty() && full() && Clock::now() - waiting_.front().since > kEndTime) {
    refuse(waiting_.front().routing_id, waiting_.front().client,
           fmt::format("node {} has {} sessions, which is its limit; try again when one has ended, or raise "
                       "'sessions' in its configuration",
                       settings_.name, settings_.sessions));
    waiting_.pop_front();
  }
  answer_devices();
  for (auto set = sets_.begin(); set != sets_.end() && !full();) {
    const auto next = std::find_if(waiting_.begin(), waiting_.end(), wants_session);
    if (next == waiting_.end()) break;
    if (!all_ready(*set)) {
      ++set;
      continue;
    }
    const Waiting client = std::move(*next);
    waiting_.erase(next);
    // A client that has waited may have gone meanwhile.
    if (client.told && !answer(client.routing_id, protocol::Starting{})) continue;
    Set taken = std::move(*set);
    set = sets_.erase(set);
    welcome(client, std::move(taken));
  }
  for (Waiting& client : waiting_) {
    if (std::exchange(client.told, true)) continue;
    answer(client.routing_id, protocol::Starting{});
  }
  if (!sets_.empty() || failure_.empty()) return;
  while (!waiting_.empty() && waiting_.front().since <= failed_at_) {
    refuse(waiting_.front().routing_id, waiting_.front().client, failure_);
    waiting_.pop_front();
  }
}

void Server::welcome(const Waiting& client, Set set) {
  protocol::Welcome message;
  message.version = protocol::kVersion;
  message.node = settings_.name;
  message.advertise = settings_.advertise;
  ++last_session_;
  for (Worker& worker : set) {
    message.workers.push_back(worker.ready->address);
    worker.process.control().send(Notice{Notice::Kind::Taken, client.client});
    taken_.push_back(
        {client.routing_id, client.client, last_session_, std::move(worker.process), Clock::now()});
  }
  spdlog::info("session for {}: workers assigned", client.client);
  answer(client.routing_id, message);
}

void Server::refuse(const std::string& routing_id, const std::string& client, const std::string& reason) {
  warn_limited(strangers_, fmt::format("refused {}: {}", client, reason));
  answer(routing_id, protocol::Refused{reason});
}

template <typename M>
bool Server::answer(const std::string& routing_id, const M& message) {
  protocol::Batch batch;
  batch.add(message);
  return protocol::send(socket_, batch, routing_id);
}

}  // namespace clique::daemon
