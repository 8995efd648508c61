#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "icd/remote/link/link_control.hpp"
#include "icd/remote/link/reactor.hpp"

namespace clique::icd {

class Answers;
class Inbox;
class Outbox;
class Reconnect;
class WorkerClock;

/// What the background thread does for a link: it sends what is in the outbox, receives if no other thread
/// does, has broken lines connected again, asks for the worker's clock, and fails requests whose limit is
/// over.
class Upkeep final : public Reactor::Client, public LinkControl {
 public:
  Upkeep(Outbox& outbox, Inbox& inbox, Reconnect& reconnect, WorkerClock& clock, Answers& answers);

  /// Registers the link with the background thread.
  void begin();
  /// The link is lost: nothing is left to be done. Any thread.
  void retire() { retired_.store(true); }
  /// Reverts begin(). Returns when the background thread is not at work on this link.
  void end();

  // LinkControl
  void stir() override { Reactor::Client::stir(); }
  void give_up(const std::string& reason) override;
  std::chrono::milliseconds idle() override;

  // Reactor::Client
  void serve(Reactor::Clock::time_point now) override;
  bool watch(Reactor::Clock::time_point now, std::vector<int>& fds) override;

 private:
  Outbox& outbox_;
  Inbox& inbox_;
  Reconnect& reconnect_;
  WorkerClock& clock_;
  Answers& answers_;
  std::atomic<bool> retired_{false};
  // How often an application's thread had begun or ceased to receive, and when the count last changed.
  unsigned attendances_ = 0;
  Reactor::Clock::time_point attended_at_;
};

}  // namespace clique::icd
