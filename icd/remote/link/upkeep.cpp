#include "icd/remote/link/upkeep.hpp"

#include "icd/remote/link/answers.hpp"
#include "icd/remote/link/inbox.hpp"
#include "icd/remote/link/outbox.hpp"
#include "icd/remote/link/reconnect.hpp"
#include "icd/remote/link/worker_clock.hpp"

namespace clique::icd {

namespace {

using namespace std::chrono_literals;

/// After an application's thread has received, the background thread leaves the descriptor to such threads
/// for this long.
constexpr auto kAttended = 5ms;

}  // namespace

Upkeep::Upkeep(Outbox& outbox, Inbox& inbox, Reconnect& reconnect, WorkerClock& clock, Answers& answers)
    : Reactor::Client(Reactor::instance()),
      outbox_(outbox),
      inbox_(inbox),
      reconnect_(reconnect),
      clock_(clock),
      answers_(answers) {}

void Upkeep::begin() {
  Reactor::instance().add(*this);
}

void Upkeep::end() {
  Reactor::instance().remove(*this);
}

void Upkeep::give_up(const std::string& reason) {
  if (inbox_.condemn(reason)) stir();
}

std::chrono::milliseconds Upkeep::idle() {
  Reactor& reactor = Reactor::instance();
  if (!reactor.here()) return Inbox::kLookAgain;
  reactor.tend();
  return 1ms;
}

void Upkeep::serve(Reactor::Clock::time_point now) {
  if (retired_.load()) return;
  outbox_.tend();
  inbox_.serve();
  clock_.tick(now);
  answers_.expire(now);
}

bool Upkeep::watch(Reactor::Clock::time_point now, std::vector<int>& fds) {
  const Inbox::View view = inbox_.view();
  if (view.ended) return true;
  if (view.condemned) return false;
  fds.push_back(answers_.timer());
  reconnect_.watch(fds);
  const bool lines_up = reconnect_.look(now);
  if (view.attendances != attendances_) {
    attendances_ = view.attendances;
    attended_at_ = now;
  }
  if (!lines_up || outbox_.pending()) return false;
  // A leader receives everything itself, and stirs when it leaves.
  if (view.led) return true;
  return view.settled && now - attended_at_ >= kAttended && inbox_.rest(fds);
}

}  // namespace clique::icd
