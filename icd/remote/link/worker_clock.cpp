#include "icd/remote/link/worker_clock.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "icd/remote/link/answers.hpp"
#include "icd/remote/link/inbox.hpp"
#include "icd/remote/link/outbox.hpp"

namespace clique::icd {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// The number of exchanges while the link opens, and the time after which no further one begins.
constexpr int kExchanges = 5;
constexpr auto kMeasuringTime = 20ms;
/// The time between exchanges later.
constexpr auto kPeriod = 2s;

}  // namespace

bool WorkerClock::ask(std::function<void()> answered) {
  const auto asked = now_ns();
  const auto id = answers_.expect(
      protocol::Op::ClockSynced,
      [this, asked, answered = std::move(answered)](void* reply, const std::string& /*failure*/) {
        if (reply) note(asked, static_cast<protocol::ClockSynced*>(reply)->clock, now_ns());
        if (answered) answered();
      });
  if (id == 0) return false;
  outbox_.compose([&](protocol::Batch& batch) { batch.add(protocol::SyncClock{id}); });
  return true;
}

void WorkerClock::note(std::int64_t asked, std::int64_t theirs, std::int64_t arrived) {
  round_trip_ = std::min(round_trip_, arrived - asked);
  if (estimate_.add(asked, theirs, arrived)) offset_.store(estimate_.offset(), std::memory_order_relaxed);
}

bool WorkerClock::measure(Inbox& inbox, Clock::time_point deadline) {
  const auto enough = std::min(Clock::now() + kMeasuringTime, deadline);
  for (int i = 0; i < kExchanges && Clock::now() < enough; ++i) {
    // Shared, because the answer may come after this thread has stopped waiting.
    const auto answered = std::make_shared<std::atomic<bool>>(false);
    if (!ask([answered] { answered->store(true, std::memory_order_release); })) return true;
    outbox_.flush();
    const auto known = [&] { return answered->load(std::memory_order_acquire); };
    // If the link is lost, every request has been answered with that.
    inbox.wait([&] { return known() || Clock::now() >= deadline; });
    if (!known()) return false;
  }
  return true;
}

void WorkerClock::tick(Clock::time_point now) {
  if (!started_.load() || now - asked_ <= kPeriod) return;
  // The first call only starts the period: the clock has just been measured.
  const bool measured_just_now = std::exchange(asked_, now) == Clock::time_point{};
  if (measured_just_now) return;
  if (asking_.exchange(true)) return;
  if (ask([this] { asking_.store(false); })) outbox_.try_flush();
}

}  // namespace clique::icd
