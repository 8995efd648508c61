#include "daemon/server/sharing.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <thread>

#include "protocol/no_signals.hpp"

namespace clique::daemon {

struct Sharing::State {
  std::mutex mutex;  // guards what follows
  std::map<Device, FairShare> devices;
  FairShare::Id last = 0;
  bool ending = false;
  int bell = -1;
  std::thread thread;

  void ring() const {
    const std::uint64_t once = 1;
    // It can only fail because it rings.
    static_cast<void>(::write(bell, &once, sizeof once));
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
      // Also before it looks at the bell, so that a worker that rings without end costs no more than sessions
      // that share a device.
      std::this_thread::sleep_for(FairShare::kInterval);
      if (busy) continue;
      pollfd rung{bell, POLLIN, 0};
      ::poll(&rung, 1, -1);
      std::uint64_t times = 0;
      static_cast<void>(::read(bell, &times, sizeof times));
    }
  }
};

namespace {

Fd make_bell() {
  Fd bell(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!bell) throw std::system_error(errno, std::generic_category(), "eventfd");
  return bell;
}

}  // namespace

Sharing::Sharing() : bell_(make_bell()), state_(std::make_shared<State>()) {
  state_->bell = bell_.get();
  const protocol::NoSignals quiet;
  state_->thread = std::thread([state = state_.get()] { state->serve(); });
}

Sharing::~Sharing() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->ending = true;
  }
  state_->ring();
  state_->thread.join();
}

Sharing::Part Sharing::join(const PacePage& page, std::uint32_t driver,
                            const std::vector<std::uint32_t>& places, std::uint32_t share) {
  const std::lock_guard lock(state_->mutex);
  const FairShare::Id id = ++state_->last;
  for (const std::uint32_t place : places)
    if (place < PacePage::kDevices) state_->devices[{driver, place}].add(id, page, place, share);
  state_->ring();
  return {state_.get(), [state = state_, id](const void*) {
            const std::lock_guard inner(state->mutex);
            for (auto& [device, one] : state->devices) one.remove(id);
            std::erase_if(state->devices, [](const auto& entry) { return entry.second.empty(); });
            if (!state->ending) state->ring();
          }};
}

}  // namespace clique::daemon
