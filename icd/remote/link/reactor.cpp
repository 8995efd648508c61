#include "icd/remote/link/reactor.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <span>
#include <system_error>
#include <thread>

#include "icd/remote/threads.hpp"
#include "protocol/spin.hpp"

namespace clique::icd {

namespace {

/// The period in which the thread runs while a client stirs: how long a command may wait for others, unless
/// the application flushes or waits.
constexpr timespec kTick{0, 500'000};
/// The same on a host with processors to spare.
constexpr timespec kShortTick{0, 100'000};
/// How long a client counts as busy after it stirred.
constexpr std::chrono::milliseconds kRestless{5};

thread_local const Reactor* thread_of = nullptr;

}  // namespace

Reactor& Reactor::instance() {
  // Without a lock, because a forked child might inherit it locked.
  static constinit std::atomic<Reactor*> current{nullptr};
  Reactor* known = current.load(std::memory_order_acquire);
  while (!known || known->birthplace_.foreign()) {
    auto* fresh = new Reactor;
    if (current.compare_exchange_strong(known, fresh)) return *fresh;
    ::close(fresh->event_fd_);
    delete fresh;
  }
  return *known;
}

Reactor::Reactor() : event_fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (event_fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

void Reactor::add(Client& client) {
  {
    std::lock_guard lock(mutex_);
    if (!running_) {
      const NoSignals quiet;
      std::thread([this] { run(); }).detach();
      running_ = true;
    }
    clients_.push_back(&client);
  }
  client.stir();
}

void Reactor::remove(Client& client) {
  std::unique_lock lock(mutex_);
  std::erase(clients_, &client);
  if (here()) return;
  left_.wait(lock, [&] { return std::find(inside_.begin(), inside_.end(), &client) == inside_.end(); });
}

bool Reactor::here() const {
  return thread_of == this;
}

bool Reactor::tend() {
  {
    // Nobody has polled their descriptors.
    const std::lock_guard lock(mutex_);
    for (Client* client : clients_) client->resting_ = false;
  }
  const auto now = Clock::now();
  serve(now);
  return look(now);
}

void Reactor::wake() {
  if (ticking_.load(std::memory_order_relaxed) || ticking_.exchange(true)) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(event_fd_, &one, sizeof one);
}

template <typename F>
void Reactor::with_each(F&& function) {
  if (rounds_.size() == depth_) rounds_.emplace_back();
  std::vector<Client*>& round = rounds_[depth_++];
  {
    std::lock_guard lock(mutex_);
    round.clear();
    std::copy_if(clients_.begin(), clients_.end(), std::back_inserter(round),
                 [this](const Client* client) { return !rests(*client); });
  }
  for (Client* client : round) {
    {
      std::lock_guard lock(mutex_);
      if (std::find(clients_.begin(), clients_.end(), client) == clients_.end()) continue;
      inside_.push_back(client);
    }
    function(*client);
    {
      std::lock_guard lock(mutex_);
      inside_.pop_back();
    }
    left_.notify_all();
  }
  --depth_;
}

bool Reactor::rests(const Client& client) const {
  if (!client.resting_ || client.news()) return false;
  if (client.polled_at_ == 0) return true;
  const auto mine = std::span(polled_).subspan(client.polled_at_, client.fds_.size());
  return std::none_of(mine.begin(), mine.end(), [](const pollfd& fd) { return fd.revents != 0; });
}

void Reactor::serve(Clock::time_point now) {
  with_each([&](Client& client) {
    client.resting_ = false;
    client.serve(now);
  });
}

bool Reactor::look(Clock::time_point now) {
  bool restless = false;
  with_each([&](Client& client) {
    const unsigned stirs = client.stirs_.load(std::memory_order_relaxed);
    if (stirs != client.stirs_seen_) {
      client.stirs_seen_ = stirs;
      client.stirred_at_ = now;
    }
    client.fds_.clear();
    const bool quiet = client.watch(now, client.fds_);
    client.resting_ = quiet && now - client.stirred_at_ >= kRestless;
    client.polled_at_ = 0;
    if (!client.resting_) restless = true;
  });
  return restless;
}

void Reactor::run() {
  thread_of = this;
  pthread_setname_np(pthread_self(), "clique-reactor");
  const bool often = protocol::spare_processors();
  // The kernel ends sleeps up to 50 us late otherwise. Failure only makes ticks longer.
  if (often) ::prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0);
  const timespec tick = often ? kShortTick : kTick;
  for (;;) {
    ticking_.store(true);
    wakeups_.fetch_add(1, std::memory_order_relaxed);
    const auto now = Clock::now();
    serve(now);
    bool restless = look(now);
    if (!restless) {
      // A client that stirs after the second look sees that the thread does not tick, and wakes it.
      ticking_.store(false);
      restless = look(Clock::now());
      if (restless) ticking_.store(true);
    }
    sleep(restless ? &tick : nullptr);
  }
}

void Reactor::sleep(const timespec* limit) {
  polled_.clear();
  polled_.push_back({event_fd_, POLLIN, 0});
  {
    const std::lock_guard lock(mutex_);
    for (Client* client : clients_) {
      client->polled_at_ = polled_.size();
      for (const int fd : client->fds_) polled_.push_back({fd, POLLIN, 0});
    }
  }
  ::ppoll(polled_.data(), polled_.size(), limit, nullptr);
  if (polled_[0].revents != 0) {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(event_fd_, &count, sizeof count);
  }
}

}  // namespace clique::icd
