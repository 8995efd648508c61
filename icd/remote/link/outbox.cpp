#include "icd/remote/link/outbox.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "icd/remote/link/link_control.hpp"
#include "icd/remote/transfers/copy.hpp"
#include "protocol/transport/line.hpp"
#include "protocol/transport/shared_memory.hpp"

namespace clique::icd {

namespace {

/// How long a payload waits for room in the arena. Other payloads may stay there for any time, if their
/// commands wait for something that the application has yet to do.
constexpr std::chrono::milliseconds kPatience{20};
/// The pause before looking again whether the worker has made room.
constexpr std::chrono::microseconds kPause{20};

}  // namespace

Outbox::Outbox(std::shared_ptr<protocol::Line> commands, std::shared_ptr<protocol::SharedMemory> shared,
               LinkControl& control)
    : control_(control), commands_(std::move(commands)), shared_(std::move(shared)) {}

void Outbox::compose(FunctionRef<void(protocol::Batch&)> function) {
  std::unique_lock lock(mutex_);
  function(batch_);
  appended(lock);
}

void Outbox::appended(std::unique_lock<std::mutex>& lock) {
  if (closed_) {
    batch_.clear();
    return;
  }
  const auto& payloads = std::as_const(batch_).payloads();
  for (; payloads_counted_ < payloads.size(); ++payloads_counted_)
    payload_bytes_ += payloads[payloads_counted_].bytes.size();
  const bool large = batch_.size() > kLargeRecords || payload_bytes_ > kLargePayloads;
  const bool first = !pending_ && !batch_.empty();
  if (first) {
    pending_ = true;
    pending_since_ = Clock::now();
  }
  ++appends_;
  const bool due = large || (!first && turn_over());
  if (due) turn_ = std::min(2 * turn_, kLastTurn);
  lock.unlock();
  if (due) {
    std::lock_guard sending(sending_mutex_);
    send_taken();
  } else if (first) {
    control_.stir();
  }
}

bool Outbox::turn_over() {
  return turn_ < kLastTurn && pending_ && Clock::now() - pending_since_ >= turn_;
}

void Outbox::flush() {
  std::lock_guard sending(sending_mutex_);
  send_taken(kFirstTurn);
}

void Outbox::try_flush() {
  try_to_send(true);
}

void Outbox::tend() {
  bool wanted = true;
  {
    const std::lock_guard lock(mutex_);
    wanted = appends_ == appends_seen_ || Clock::now() - pending_since_ >= kLastTurn;
    appends_seen_ = appends_;
  }
  try_to_send(wanted);
}

void Outbox::try_to_send(bool wanted) {
  std::unique_lock sending(sending_mutex_, std::try_to_lock);
  if (!sending) return;
  if (wanted) send_taken();
  if (!commands_->up() || commands_->behind()) try_to([this] { commands_->listen(); });
}

void Outbox::reconnect() {
  const std::lock_guard sending(sending_mutex_);
  if (!closing_.load()) try_to([this] { commands_->reconnect(); });
}

void Outbox::try_to(FunctionRef<void()> action) {
  try {
    action();
  } catch (const protocol::Line::Over& over) {
    control_.give_up(over.what());
  } catch (const std::exception& error) {
    control_.give_up(std::string("sending commands failed: ") + error.what());
  }
}

void Outbox::send_taken(std::optional<std::chrono::microseconds> next_turn) {
  {
    std::lock_guard lock(mutex_);
    turn_ = next_turn.value_or(turn_);
    if (!pending_) return;
    std::swap(batch_, sending_);
    payloads_counted_ = 0;
    payload_bytes_ = 0;
    pending_ = false;
  }
  try_to([this] {
    if (shared_)
      send_through_memory();
    else
      send_through_socket();
  });
  sending_.clear();
}

void Outbox::send_through_socket() {
  for (auto& payload : sending_.payloads()) payload.owner = loans_.lend(std::move(payload.owner));
  commands_->send(sending_);
}

void Outbox::send_through_memory() {
  using Sent = protocol::SharedMemory::Sent;
  const auto impatient = std::chrono::steady_clock::now() + kPatience;
  bool elsewhere = false;
  while (!closing_.load()) {
    const Sent sent = elsewhere ? Sent::RingFull : shared_->try_send(sending_, copy);
    if (sent == Sent::Yes) {
      crowded_ = false;
      return;
    }
    if (sent == Sent::ArenaFull) crowded_ = crowded_ || std::chrono::steady_clock::now() > impatient;
    elsewhere = elsewhere || sent == Sent::TooLarge || (sent == Sent::ArenaFull && crowded_);
    if (elsewhere && shared_->try_send_elsewhere()) {
      send_through_socket();
      return;
    }
    std::this_thread::sleep_for(kPause);
  }
  sending_.clear();
}

bool Outbox::pending() {
  std::lock_guard lock(mutex_);
  return pending_ || commands_->behind();
}

void Outbox::close(int linger_ms) {
  closing_ = true;
  std::lock_guard sending(sending_mutex_);
  if (shared_) shared_->forget_loans();
  protocol::Batch dropped;
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    pending_ = false;
    std::swap(batch_, dropped);
  }
  commands_->close(linger_ms);
  loans_.await_return(std::chrono::milliseconds(linger_ms));
}

}  // namespace clique::icd
