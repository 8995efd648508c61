// Workers: starting them in advance, what they say, what they are handed, and their end.
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <system_error>

#include "daemon/confinement/fixed_peer.hpp"
#include "daemon/server/devices/descriptions.hpp"
#include "daemon/server/server.hpp"
#include "protocol/printable.hpp"

namespace clique::daemon {

namespace {

/// The places to which a session got no connection and that the log names as warnings.
constexpr std::size_t kNamedDials = 16;
/// Sets of workers that may start at the same time.
constexpr std::size_t kMaxSets = 4;
/// How long to wait before workers that failed are started again.
constexpr std::chrono::seconds kRestartInterval{1};

/// The limit on the memory of a worker's control group, in bytes: what `session-memory` allows in buffers,
/// which are in the host's memory on processors, and again in data that waits, and what drivers and compilers
/// need; 0: no limit.
std::uint64_t host_memory_limit(std::uint64_t session_memory) {
  constexpr std::uint64_t kDrivers = std::uint64_t{4} << 30U;
  return session_memory == 0 ? 0 : 2 * session_memory + kDrivers;
}

}  // namespace

Server::Worker Server::start_worker(const SelectedPlatform& platform, std::size_t position) {
  WorkerOptions worker;
  worker.log = log_options();
  worker.kind = platform.kind;
  worker.platform = platform.index;
  worker.devices = platform.devices;
  worker.bind = settings_.listen.address;
  worker.encryption = settings_.encryption;
  worker.session = settings_.session;
  WorkerLines::Pipe lines = WorkerLines::make_pipe();
  Worker started{
      static_cast<std::uint32_t>(position),
      platform.name,
      ChildProcess::start_worker(worker, groups_.create(host_memory_limit(settings_.session.memory)),
                                 lines.to_write.get()),
      UsagePage(),
      PacePage(),
      Sharing::make_bell(),
      {},
      std::nullopt};
  started.lines = lines_->add(std::move(lines.to_read), started.process.pid());
  const ControlChannel& control = started.process.control();
  control.send(Notice{Notice::Kind::Usage, ""}, started.usage.descriptor());
  control.send(Notice{Notice::Kind::Pace, ""}, started.pace.descriptor());
  control.send(Notice{Notice::Kind::Bell, ""}, started.bell.get());
  spdlog::debug("process {} starts the driver {} for a session", started.process.pid(), platform.name);
  return started;
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
    try {
      for (const SelectedPlatform& platform : devices_.served)
        set.push_back(start_worker(platform, set.size()));
    } catch (const std::system_error& error) {
      retire(std::move(set));
      fail_start(error);
      return;
    }
    if (set.empty()) {
      failure_ = fmt::format(
          "node {} has no OpenCL devices to offer; install an OpenCL driver there, or check its "
          "setting 'devices'",
          settings_.name);
      failed_at_ = now;
      return;
    }
    sets_.push_back(std::move(set));
  }
}

void Server::fail_start(const std::system_error& error) {
  std::string why = fmt::format("node {} cannot start a process for a session: {}; try again later",
                                settings_.name, error.what());
  // The same failure is tried again whenever a client asks; its first time tells enough.
  if (failure_ != why) spdlog::error("{}", why);
  failure_ = std::move(why);
  failed_at_ = Clock::now();
  next_start_ = failed_at_ + kRestartInterval;
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
      spdlog::trace("process {} describes the device {}", worker.process.pid(), described_name(*device));
      worker.devices.push_back(std::move(*device));
      return true;
    }
    worker.ready = std::get<WorkerReady>(std::move(said));
    worker.ready->address.driver = worker.driver;
    const std::string& without_ucx = worker.ready->address.without_ucx;
    if (settings_.session.ucx == UcxUse::Offered && !without_ucx.empty() && !std::exchange(told_ucx_, true))
      spdlog::warn("clients whose transport is ucx are refused: {}", without_ucx);
    spdlog::debug("process {} is ready for a session with {}", worker.process.pid(), worker.platform);
    failure_.clear();
    return true;
  } catch (const std::exception& error) {
    failure_ = fmt::format(
        "the OpenCL driver {} of node {} cannot be used: {}; see the node's log, and try 'clinfo' there",
        worker.platform, settings_.name, error.what());
    spdlog::error("{}", failure_);
    failed_at_ = Clock::now();
    next_start_ = failed_at_ + kRestartInterval;
    // A driver that was ready can be used, after all.
    if (worker.ready) failure_.clear();
    return false;
  }
}

void Server::hand_over(StreamVisit&& visit) {
  const auto worker = std::find_if(taken_.begin(), taken_.end(), [&](const Taken& taken) {
    return std::equal(taken.streams.begin(), taken.streams.end(), visit.worker.begin(), visit.worker.end()) &&
           taken.closed == Clock::time_point();
  });
  Notice notice{Notice::Kind::Stream, visit.address};
  notice.request.assign(visit.request.begin(), visit.request.end());
  // Unless a worker takes it, the connection is closed, and whoever made it tries again if it still needs it.
  try {
    confinement::fix_peer(visit.socket.get());
  } catch (const std::system_error& error) {
    spdlog::trace("closed a connection of {}: {}", visit.address, error.what());
    return;
  }
  if (worker == taken_.end()) {
    // The buffer of a new connection has room for this.
    static_cast<void>(::send(visit.socket.get(), protocol::StreamAnswer::kNoSuchWorker.data(),
                             protocol::StreamAnswer::kNoSuchWorker.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
    warn_limited(strangers_,
                 fmt::format("closed a connection of {}: no session of this node has its number; it "
                             "may have ended",
                             visit.address));
  } else if (!worker->process.control().send(notice, visit.socket.get())) {
    warn_limited(strangers_, fmt::format("closed a connection of {}: the worker of {} does not take it",
                                         visit.address, worker->client));
  } else {
    spdlog::trace("session {}: process {} gets a connection of {}", worker->session, worker->process.pid(),
                  visit.address);
  }
}

void Server::look_at_sets(const std::function<bool(int)>& readable) {
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
  for (const Worker& worker : set)
    drivers_.push_back({worker.driver, worker.devices, worker.platform, false, worker.ready->vendor});
}

bool Server::hear(Taken& taken) {
  try {
    const auto packet = taken.process.control().receive();
    // A kernel may have taken the worker over, and could keep the daemon busy.
    if (!packet || taken.record) return false;
    auto said = parse_from_session(*packet);
    if (auto* record = std::get_if<SessionRecord>(&said)) {
      taken.record = std::move(*record);
      spdlog::trace("session {}: process {} has sent its record", taken.session, taken.process.pid());
      return true;
    }
    // The number is limited: a kernel could ask for any.
    if (auto* dial = std::get_if<DialRequest>(&said)) {
      if (!taken.dials.has_room()) {
        warn_limited(
            refused_dials_,
            fmt::format("session {} of {} asks for more than {} connections at a time, the last one to "
                        "{}: its worker is ended",
                        taken.session, taken.identity, kMostDials,
                        protocol::in_quotes(protocol::printable(dial->endpoint))));
        return false;
      }
      spdlog::trace("session {} of {} asks for a connection to {}", taken.session, taken.identity,
                    protocol::in_quotes(protocol::printable(dial->endpoint)));
      dial_desk_.dial(taken.dials, std::move(*dial));
      return true;
    }
    // One at a time.
    if (taken.opening != 0) return false;
    auto& request = std::get<FileRequest>(said);
    spdlog::debug("session {} of {} asks for the file {}", taken.session, taken.identity,
                  protocol::in_quotes(protocol::printable(request.path)));
    taken.opening = ++last_file_;
    file_desk_.open(taken.opening, taken.files, std::move(request));
    return true;
  } catch (const std::exception& error) {
    spdlog::warn("a worker of the session of {} has failed: {}", taken.client, error.what());
    return false;
  }
}

void Server::hand_out_files() {
  for (const FileDesk::Answer& answer : file_desk_.done()) {
    const auto taken = std::find_if(taken_.begin(), taken_.end(),
                                    [&](const Taken& one) { return one.opening == answer.number; });
    // The worker may have ended.
    if (taken == taken_.end()) continue;
    taken->opening = 0;
    if (!answer.notice.text.empty())
      spdlog::debug("session {} of {} does not get the file: {}", taken->session, taken->identity,
                    answer.notice.text);
    // A worker that does not read its channel is up to no good.
    if (!answer.send(taken->process.control())) taken->process.kill();
  }
}

void Server::note_refused_dial(Taken& taken, const DialDesk::Answer& answer) {
  const std::string line =
      fmt::format("session {} of {} gets no connection to {}: {}", taken.session, taken.identity,
                  protocol::in_quotes(protocol::printable(answer.endpoint)), answer.notice.text);
  // A worker tries again for as long as its session waits for another node.
  const bool first =
      taken.refused_dials.size() < kNamedDials && taken.refused_dials.insert(answer.endpoint).second;
  if (first)
    warn_limited(refused_dials_, line);
  else
    spdlog::debug("{}", line);
}

void Server::hand_out_connections() {
  for (const DialDesk::Answer& answer : dial_desk_.done()) {
    const auto taken = std::find_if(taken_.begin(), taken_.end(),
                                    [&](const Taken& one) { return answer.is_for(one.dials); });
    if (taken == taken_.end()) continue;
    if (!answer.socket) note_refused_dial(*taken, answer);
    // As with files.
    if (!answer.send(taken->process.control())) taken->process.kill();
  }
}

bool Server::has_ended(Taken& taken, bool readable) {
  // The channel's end tells that the process ends. The driver of a busy device may take long to release the
  // process, and other clients must not wait for that.
  const auto now = Clock::now();
  if (taken.closed == Clock::time_point()) {
    if (taken.kill_at != Clock::time_point() && now > taken.kill_at) taken.process.kill();
    if (!readable || hear(taken)) return false;
    taken.closed = now;
  }
  const pid_t pid = taken.process.pid();
  const auto how = taken.process.ended();
  if (how)
    spdlog::debug("session {}: process {} has ended{}{}", taken.session, pid, how->empty() ? "" : ": ", *how);
  if (!how && now - taken.closed > kEndTime) taken.process.kill();
  if (how && !how->empty() && taken.session != 0)
    spdlog::warn("a worker of the session of {} exited: {}", taken.client, *how);
  if (how) {
    count_usage(taken);
    session_log_.worker_ended(taken.session, taken.record, *how);
  }
  return how.has_value();
}

void Server::retire(Set set) {
  for (Worker& worker : set) {
    spdlog::debug("process {} for {} ends without a session", worker.process.pid(), worker.platform);
    worker.process.kill();
    taken_.push_back({0,
                      "",
                      "no client",
                      0,
                      {},
                      std::move(worker.process),
                      std::move(worker.usage),
                      Clock::now(),
                      Clock::now()});
  }
}

}  // namespace clique::daemon
