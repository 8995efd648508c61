#include "daemon/server/devices/sharing.hpp"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <thread>

#include "protocol/no_signals.hpp"

namespace clique::daemon {

namespace {

Fd checked(int descriptor, const char* call) {
  if (descriptor < 0) throw std::system_error(errno, std::generic_category(), call);
  return Fd(descriptor);
}

}  // namespace

struct Sharing::State {
  /// Hears the bells. They are never read: each ring is an event of its own (EPOLLET), and a worker, which
  /// has the other descriptor of its bell, could have a read wait forever.
  const Fd ears = checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
  const Fd changed = make_bell();  // rings when what the mutex guards has changed
  std::mutex mutex;                // guards what follows
  std::map<Device, FairShare> devices;
  std::map<FairShare::Id, Fd> bells;
  FairShare::Id last = 0;
  bool ending = false;
  std::thread thread;

  State() {
    if (!hear(changed)) throw std::system_error(errno, std::generic_category(), "epoll_ctl");
  }

  /// @returns whether the bell is heard; errno says why not
  bool hear(const Fd& bell) const {
    epoll_event rings{};
    rings.events = EPOLLIN | EPOLLET;
    return ::epoll_ctl(ears.get(), EPOLL_CTL_ADD, bell.get(), &rings) == 0;
  }
  void tell() const {
    const std::uint64_t once = 1;
    // It would take centuries to make it fail.
    static_cast<void>(::write(changed.get(), &once, sizeof once));
  }

  void serve() {
    ::pthread_setname_np(::pthread_self(), "sharing");
    while (true) {
      bool busy = false;
      {
        const std::lock_guard lock(mutex);
        if (ending) return;
        const auto now = FairShare::Clock::now();
        for (auto& [device, share] : devices) busy = share.turn(now) || busy;
      }
      // Also before it waits for a bell, so that a worker that rings without end costs no more than sessions
      // that share a device.
      std::this_thread::sleep_for(FairShare::kInterval);
      if (busy) continue;
      std::array<epoll_event, 64> rung{};
      ::epoll_wait(ears.get(), rung.data(), static_cast<int>(rung.size()), -1);
    }
  }
};

Fd Sharing::make_bell() {
  return checked(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "eventfd");
}

Sharing::Sharing() : state_(std::make_shared<State>()) {
  const protocol::NoSignals quiet;
  state_->thread = std::thread([state = state_.get()] { state->serve(); });
}

Sharing::~Sharing() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->ending = true;
  }
  state_->tell();
  state_->thread.join();
}

Sharing::Part Sharing::join(const PacePage& page, Fd bell, std::uint32_t driver,
                            const std::vector<std::uint32_t>& places, std::uint32_t share) {
  const std::lock_guard lock(state_->mutex);
  // Without its bell the session would never be noticed, so it is not paced at all.
  if (!state_->hear(bell)) return nullptr;
  const FairShare::Id id = ++state_->last;
  for (const std::uint32_t place : places)
    if (place < PacePage::kDevices) state_->devices[{driver, place}].add(id, page, place, share);
  state_->bells.emplace(id, std::move(bell));
  state_->tell();
  return {state_.get(), [state = state_, id](const void*) {
            const std::lock_guard inner(state->mutex);
            for (auto& [device, one] : state->devices) one.remove(id);
            std::erase_if(state->devices, [](const auto& entry) { return entry.second.empty(); });
            const auto bell = state->bells.find(id);
            // Closing does not suffice, as long as the worker has the other descriptor.
            static_cast<void>(::epoll_ctl(state->ears.get(), EPOLL_CTL_DEL, bell->second.get(), nullptr));
            state->bells.erase(bell);
            state->tell();
          }};
}

}  // namespace clique::daemon
