#include "daemon/server.hpp"

#include <poll.h>

#include <algorithm>

#include "protocol/version.hpp"

namespace clique::daemon {

namespace {
/// Hello is all that anybody may say here.
constexpr std::int64_t kMaxMessage = 64 << 10;
/// Clients that wait for their workers to start; more are refused.
constexpr std::size_t kMaxWaiting = 64;
/// Sets of workers that start at the same time.
constexpr std::size_t kMaxSets = 4;
/// Workers that die while they are idle are not replaced more often than this.
constexpr std::chrono::seconds kRestartInterval{1};
constexpr long kPollMs = 1000;
/// While a worker is about to end.
constexpr long kEndingPollMs = 20;
/// For a worker whose channel is closed to end; then it is killed.
constexpr std::chrono::seconds kEndTime{2};
}  // namespace

Server::Server(Options options)
    : options_(std::move(options)), context_(1), socket_(context_, zmq::socket_type::router) {
  protocol::configure(socket_);
  socket_.set(zmq::sockopt::maxmsgsize, kMaxMessage);
  socket_.set(zmq::sockopt::router_mandatory, 1);
  ListenAddress& listen = options_.listen;
  socket_.bind(listen.port == 0 ? listen.endpoint().substr(0, listen.endpoint().size() - 1) + "*"
                                : listen.endpoint());
  const std::string bound = socket_.get(zmq::sockopt::last_endpoint);
  listen.port = static_cast<std::uint16_t>(std::stoi(bound.substr(bound.rfind(':') + 1)));
}

void Server::run(int signal_fd) {
  while (true) {
    start_sets();
    std::vector<zmq::pollitem_t> items{{socket_.handle(), 0, ZMQ_POLLIN, 0},
                                       {nullptr, signal_fd, ZMQ_POLLIN, 0}};
    for (const Set& set : sets_)
      for (const Worker& worker : set)
        items.push_back({nullptr, worker.process.control().fd(), ZMQ_POLLIN, 0});
    long patience = kPollMs;
    for (const Taken& taken : taken_) {
      const bool ending = taken.closed != std::chrono::steady_clock::time_point();
      if (ending) patience = kEndingPollMs;
      if (!ending) items.push_back({nullptr, taken.process.control().fd(), ZMQ_POLLIN, 0});
    }
    if (zmq_poll(items.data(), static_cast<int>(items.size()), patience) < 0 && zmq_errno() != EINTR)
      throw zmq::error_t();
    if (items[1].revents != 0) return;

    const auto readable = [&items](const ChildProcess& process) {
      return std::any_of(items.begin(), items.end(), [&](const zmq::pollitem_t& item) {
        return item.socket == nullptr && item.fd == process.control().fd() && item.revents != 0;
      });
    };
    for (auto set = sets_.begin(); set != sets_.end();) {
      bool lost = false;
      set->remove_if([&](Worker& worker) {
        const bool was_ready = worker.ready.has_value();
        if (!readable(worker.process) || look_at(worker)) return false;
        lost = lost || was_ready;
        return true;
      });
      // A driver that cannot start is left out; one that was ready belongs into the set, so there must be a
      // new one.
      set = lost || set->empty() ? sets_.erase(set) : std::next(set);
    }
    taken_.remove_if([&](Taken& taken) { return has_ended(taken, readable(taken.process)); });
    if (items[0].revents != 0) take_messages();
    // Whoever asks after a failure makes it be tried again, and is refused only where it is too early for
    // that.
    start_sets();
    serve_waiting();
  }
}

bool Server::has_ended(Taken& taken, bool readable) {
  // All that a worker says after it was taken is that it is gone. The driver of a device that is busy may
  // take its time to let go of the process, and others are not to wait for that.
  const auto now = std::chrono::steady_clock::now();
  if (taken.closed == std::chrono::steady_clock::time_point()) {
    if (!readable) return false;
    taken.closed = now;
  }
  const auto how = taken.process.ended();
  if (!how && now - taken.closed > kEndTime) taken.process.kill();
  if (how && !how->empty()) spdlog::warn("a worker of {} ended: {}", taken.client, *how);
  return how.has_value();
}

void Server::start_sets() {
  const auto now = std::chrono::steady_clock::now();
  // After a failure only somebody who asks is worth another try.
  const std::size_t wanted = waiting_.size() + (failure_.empty() ? 1 : 0);
  while (sets_.size() < std::min(wanted, kMaxSets) && now >= next_start_) {
    Set set;
    for (const SelectedPlatform& platform : options_.platforms) {
      WorkerOptions worker;
      worker.kind = platform.kind;
      worker.platform = platform.index;
      worker.devices = platform.devices;
      worker.bind = options_.listen.address;
      worker.ports = options_.worker_ports;
      worker.kernel_timeout = options_.kernel_timeout;
      set.push_back({platform.name, ChildProcess::start(worker_arguments(worker)), std::nullopt});
    }
    if (set.empty()) {
      failure_ = "this node has no OpenCL devices to offer";
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
      throw std::runtime_error("its worker ended" + (how.empty() ? "" : ": " + how));
    }
    worker.ready = parse_worker_ready(*packet);
    failure_.clear();
    return true;
  } catch (const std::exception& error) {
    failure_ = fmt::format("the driver {} cannot be used: {}", worker.platform, error.what());
    spdlog::error("{}", failure_);
    next_start_ = std::chrono::steady_clock::now() + kRestartInterval;
    // One that was ready has only to be replaced.
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
  if (message.version != protocol::kVersion) {
    refuse(
        routing_id, message.client,
        fmt::format(
            "the client speaks version {} of the protocol, node {} version {}; install the same version of "
            "Clique on both",
            message.version, options_.node, protocol::kVersion));
  } else if (waiting_.size() >= kMaxWaiting) {
    refuse(routing_id, message.client, "too many clients are waiting for a session; try again later");
  } else {
    waiting_.push_back({routing_id, std::move(message.client)});
  }
}

bool Server::all_ready(const Set& set) {
  return std::all_of(set.begin(), set.end(), [](const Worker& worker) {
    // One that has died since it was looked at last has something to read.
    pollfd news{worker.process.control().fd(), POLLIN, 0};
    return worker.ready.has_value() && ::poll(&news, 1, 0) == 0;
  });
}

void Server::serve_waiting() {
  for (auto set = sets_.begin(); set != sets_.end() && !waiting_.empty();) {
    if (!all_ready(*set)) {
      ++set;
      continue;
    }
    Set taken = std::move(*set);
    set = sets_.erase(set);
    const Waiting client = std::move(waiting_.front());
    waiting_.pop_front();
    welcome(client, std::move(taken));
  }
  for (Waiting& client : waiting_) {
    if (std::exchange(client.told, true)) continue;
    answer(client.routing_id, protocol::Starting{});
  }
  if (sets_.empty() && !failure_.empty()) {
    for (const Waiting& client : waiting_) refuse(client.routing_id, client.client, failure_);
    waiting_.clear();
  }
}

void Server::welcome(const Waiting& client, Set set) {
  protocol::Welcome message;
  message.version = protocol::kVersion;
  message.node = options_.node;
  message.advertise = options_.advertise;
  for (Worker& worker : set) {
    message.workers.push_back(worker.ready->address);
    worker.process.control().send(client.client);
    taken_.push_back({client.client, std::move(worker.process)});
  }
  spdlog::info("session for {}", client.client);
  answer(client.routing_id, message);
}

void Server::refuse(const std::string& routing_id, const std::string& client, const std::string& reason) {
  warn_limited(strangers_, fmt::format("refused {}: {}", client, reason));
  answer(routing_id, protocol::Refused{reason});
}

template <typename M>
void Server::answer(const std::string& routing_id, const M& message) {
  protocol::Batch batch;
  batch.add(message);
  // Whoever has gone meanwhile needs no answer; his workers end when he does not attach.
  protocol::send(socket_, batch, routing_id);
}

}  // namespace clique::daemon
