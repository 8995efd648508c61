#include "icd/remote/link/inbox.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>
#include <utility>

#include "icd/remote/link/link_control.hpp"
#include "protocol/transport/line.hpp"
#include "protocol/transport/shared_memory.hpp"

namespace clique::icd {

namespace {

using Clock = std::chrono::steady_clock;

/// When a connection ends, messages that have arrived are handled for this long at most.
constexpr std::chrono::milliseconds kLastMessages{200};

int make_event_fd() {
  const int fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  return fd;
}

}  // namespace

Inbox::Inbox(std::shared_ptr<protocol::Line> reports, std::shared_ptr<protocol::SharedMemory> shared,
             Handler& handler, LinkControl& control)
    : handler_(handler),
      control_(control),
      wake_fd_(make_event_fd()),
      reports_(std::move(reports)),
      shared_(std::move(shared)),
      spinning_(shared_ != nullptr) {}

Inbox::~Inbox() {
  ::close(wake_fd_);
}

bool Inbox::wait(Done done) {
  if (leading()) {
    ++nested_;
    Errand none;
    const Led led = lead(done, none);
    --nested_;
    return led == Led::Done;
  }
  std::unique_lock lock(mutex_);
  Follower me{arrivals_++, done, {}, false};
  followers_.push_back(&me);
  for (;;) {
    const bool over = ended_;
    const bool yes = done();
    const bool led = leader_.load() != std::thread::id();
    // The last waiting thread leaves no errand behind.
    if (over || (yes && (led || followers_.size() > 1 || !unsettled()))) {
      std::erase(followers_, &me);
      // Leading, or an errand, may have been offered to this thread only.
      if (!errands_.empty()) {
        call_all();
        wake();
      } else if (!led) {
        call_oldest();
      }
      return yes;
    }
    if (!led && !ended_) {
      std::erase(followers_, &me);
      leader_.store(std::this_thread::get_id());
      leader_arrival_ = me.arrival;
      ++attendances_;
      lock.unlock();
      Errand errand;
      const Led led_until = lead_and_leave(done, errand);
      if (led_until != Led::ForErrand) return led_until == Led::Done;
      lock.lock();
      run_errand(lock, std::move(errand));
      followers_.push_back(&me);
      continue;
    }
    // A leader that has waited longer runs the errand itself; and a thread that can lead does that first.
    const auto offered = [&] {
      return !errands_.empty() && leader_.load() != std::thread::id() && me.arrival < leader_arrival_ &&
             oldest() == me.arrival;
    };
    me.turn.wait_for(lock, kLookAgain,
                     [&] { return leader_.load() == std::thread::id() || me.called || ended_ || offered(); });
    me.called = false;
    if (!offered()) continue;
    std::erase(followers_, &me);
    run_errand(lock, take_errand());
    followers_.push_back(&me);
  }
}

void Inbox::call(Follower& follower) {
  follower.called = true;
  follower.turn.notify_one();
}

void Inbox::call_all() {
  for (Follower* follower : followers_) call(*follower);
}

void Inbox::call_oldest() {
  if (!followers_.empty()) call(**oldest_follower());
}

Inbox::Led Inbox::lead_and_leave(Done done, Errand& errand) {
  struct Leave {
    Inbox& inbox;
    ~Leave() { inbox.leave(true); }
  } leave{*this};
  return lead(done, errand);
}

std::vector<Inbox::Follower*>::const_iterator Inbox::oldest_follower() const {
  return std::min_element(followers_.begin(), followers_.end(),
                          [](const Follower* a, const Follower* b) { return a->arrival < b->arrival; });
}

Inbox::Arrival Inbox::oldest() const {
  return followers_.empty() ? std::numeric_limits<Arrival>::max() : (*oldest_follower())->arrival;
}

void Inbox::run(Errand errand) {
  {
    const std::lock_guard lock(mutex_);
    // Within a handler's wait() this thread cannot step down.
    if (!followers_.empty() && (nested_ == 0 || oldest() < leader_arrival_)) {
      errands_.push_back(std::move(errand));
      unsettled_.store(true);
      call_oldest();
      return;
    }
  }
  errand.run();
  if (errand.then) errand.then();
}

void Inbox::post(std::function<void()> function) {
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    afterwards_.push_back(std::move(function));
    unsettled_.store(true);
    settled_ = false;
    if (std::exchange(sleeping_, false)) wake();
    if (leader_.load() != std::thread::id() || !followers_.empty()) return;
  }
  control_.stir();
}

Errand Inbox::take_errand() {
  Errand errand = std::move(errands_.front());
  errands_.pop_front();
  unsettled_.store(unsettled());
  if (errand.then) ++errands_running_;
  return errand;
}

void Inbox::run_errand(std::unique_lock<std::mutex>& lock, Errand errand) {
  lock.unlock();
  errand.run();
  errand.run = nullptr;
  lock.lock();
  if (!errand.then) return;
  --errands_running_;
  afterwards_.push_back(std::move(errand.then));
  unsettled_.store(true);
  if (std::exchange(sleeping_, false)) wake();
  // settle_all() may be waiting for it.
  if (errands_running_ == 0) errands_over_.notify_all();
}

bool Inbox::settle_errand() {
  if (!unsettled_.load(std::memory_order_acquire)) return false;
  Errand errand;
  {
    const std::lock_guard lock(mutex_);
    if (!afterwards_.empty()) {
      errand.then = std::move(afterwards_.front());
      afterwards_.pop_front();
    } else if (!errands_.empty() &&
               (followers_.empty() || ending_ || (nested_ > 0 && leader_arrival_ < oldest()))) {
      errand = std::move(errands_.front());
      errands_.pop_front();
      // An errand without `then` sends something, which is pointless now.
      if (ending_ && !errand.then) errand.run = nullptr;
    } else {
      return false;
    }
    unsettled_.store(unsettled());
  }
  if (errand.run) errand.run();
  if (errand.then) errand.then();
  handled();
  return true;
}

void Inbox::handled() {
  const std::lock_guard lock(mutex_);
  // Those that nothing has changed for would only take the lock and wait again.
  for (Follower* follower : followers_)
    if (follower->done()) call(*follower);
}

void Inbox::leave(bool attended) {
  {
    std::lock_guard lock(mutex_);
    leader_.store(std::thread::id());
    settled_ = drained_ && next_ == queue_.size() && afterwards_.empty();
    if (attended) ++attendances_;
    call_oldest();
  }
  if (attended) control_.stir();
}

bool Inbox::steps_down(Errand& errand) {
  if (nested_ > 0 || !unsettled_.load(std::memory_order_acquire)) return false;
  const std::lock_guard lock(mutex_);
  if (errands_.empty() || followers_.empty() || oldest() < leader_arrival_) return false;
  errand = take_errand();
  return true;
}

Inbox::Led Inbox::lead(Done done, Errand& errand) {
  spinning_.restart();
  for (;;) {
    if (done()) {
      while (settle_errand()) {
      }
      return Led::Done;
    }
    if (condemned_.load(std::memory_order_acquire)) {
      end();
      return done() ? Led::Done : Led::Ended;
    }
    if (steps_down(errand)) return Led::ForErrand;
    if (step() || settle_errand()) {
      spinning_.restart();
      continue;
    }
    const auto now = Clock::now();
    if (!spinning_.go_on(now, true) && vigil_.over(now)) block(control_.idle());
  }
}

bool Inbox::step() {
  try {
    if (next_ == queue_.size() && !fetch()) return false;
    handle_fetched();
  } catch (const std::exception& error) {
    poisoned_ = true;
    condemn(std::string("the worker sent a message that cannot be understood: ") + error.what());
  }
  handled();
  return true;
}

bool Inbox::fetch() {
  queue_.clear();
  next_ = 0;
  drained_ = !receive();
  if (drained_) return false;
  // The valid messages at the beginning of a batch are handled even if a later one is invalid.
  struct Forget {
    protocol::Incoming& message;
    ~Forget() { message = {}; }
  } forget{message_};
  try {
    if (is_bulk_)
      read(protocol::BulkMessages{});
    else
      read(protocol::WorkerMessages{});
  } catch (...) {
    handle_fetched();
    throw;
  }
  return true;
}

template <typename List>
void Inbox::read(List list) {
  reader_.read(list, message_.records, message_.frames, message_.owner,
               [this](auto&& message) { queue_.emplace_back(std::forward<decltype(message)>(message)); });
}

bool Inbox::receive() {
  using Received = protocol::SharedMemory::Received;
  is_bulk_ = false;
  if (shared_ && !elsewhere_) {
    const Received received = shared_->receive(message_);
    if (received != Received::Elsewhere) return received == Received::Batch;
    elsewhere_ = true;
  }
  if (!reports_->receive(message_)) {
    if (receive_bulk()) return true;
    if (some_broken_.load(std::memory_order_acquire)) reconnect_broken();
    return false;
  }
  elsewhere_ = false;
  return true;
}

bool Inbox::receive_bulk() {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < bulk_.size() && !is_bulk_; ++i) {
    next_bulk_ = (next_bulk_ + 1) % bulk_.size();
    is_bulk_ = bulk_[next_bulk_]->receive(message_);
  }
  return is_bulk_;
}

void Inbox::add(std::shared_ptr<protocol::Line> line) {
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    bulk_.push_back(std::move(line));
  }
  wake();
}

void Inbox::reconnect(std::shared_ptr<protocol::Line> line) {
  {
    const std::lock_guard lock(mutex_);
    if (std::find(broken_.begin(), broken_.end(), line) != broken_.end()) return;
    broken_.push_back(std::move(line));
    some_broken_.store(true, std::memory_order_release);
  }
  wake();
}

void Inbox::reconnect_broken() {
  if (condemned_.load()) return;
  std::vector<std::shared_ptr<protocol::Line>> broken;
  {
    const std::lock_guard lock(mutex_);
    broken.swap(broken_);
    some_broken_.store(false);
  }
  try {
    for (const auto& line : broken) line->reconnect();
  } catch (const zmq::error_t& error) {
    condemn(std::string("a broken connection could not be made again: ") + error.what());
  }
}

void Inbox::handle_fetched() {
  while (next_ < queue_.size()) {
    // Taken out of the queue first, because the handler may call this function again.
    WorkerMessage message = std::move(queue_[next_++]);
    handler_.handle(std::move(message));
  }
}

bool Inbox::rest(std::vector<int>& descriptors) {
  // If the next batch comes through the socket, it is on its way already, and sleeping is not worthwhile.
  if (shared_ && (elsewhere_ || !shared_->arm())) return false;
  descriptors.push_back(shared_ ? shared_->doorbell() : reports_->descriptor());
  const std::lock_guard lock(mutex_);
  for (const auto& line : bulk_) descriptors.push_back(line->descriptor());
  return true;
}

void Inbox::block(std::chrono::milliseconds longest) {
  descriptors_.clear();
  if (!rest(descriptors_)) return;
  polled_.assign({{wake_fd_, POLLIN, 0}});
  for (const int descriptor : descriptors_) polled_.push_back({descriptor, POLLIN, 0});
  if (may_sleep()) ::poll(polled_.data(), polled_.size(), static_cast<int>(longest.count()));
  if (shared_) shared_->hush();
  if (polled_.front().revents != 0) {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(wake_fd_, &count, sizeof count);
  }
}

bool Inbox::may_sleep() {
  const std::lock_guard lock(mutex_);
  sleeping_ = afterwards_.empty();
  return sleeping_;
}

void Inbox::wake() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_fd_, &one, sizeof one);
}

void Inbox::serve() {
  {
    std::lock_guard lock(mutex_);
    // If threads wait, one of them is about to lead.
    if (leader_.load() != std::thread::id() || ended_) return;
    if (!followers_.empty() && !condemned_.load()) return;
    leader_.store(std::this_thread::get_id());
    leader_arrival_ = arrivals_;
  }
  struct Leave {
    Inbox& inbox;
    ~Leave() { inbox.leave(false); }
  } leave{*this};
  if (shared_) shared_->hush();
  for (;;) {
    if (condemned_.load(std::memory_order_acquire)) {
      end();
      return;
    }
    if (!step() && !settle_errand()) return;
    std::lock_guard lock(mutex_);
    if (!followers_.empty()) return;
  }
}

Inbox::View Inbox::view() {
  std::lock_guard lock(mutex_);
  return {ended_, condemned_.load(), leader_.load() != std::thread::id(), settled_, attendances_};
}

bool Inbox::condemn(const std::string& reason) {
  {
    std::lock_guard lock(mutex_);
    if (condemned_.load()) return false;
    reason_ = reason;
    condemned_.store(true, std::memory_order_release);
  }
  wake();
  return true;
}

void Inbox::finish(const std::string& reason) {
  condemn(reason);
  if (leading()) {
    end();
    return;
  }
  const auto never = [] { return false; };
  Follower me{std::numeric_limits<Arrival>::max(), never, {}, false};
  std::unique_lock lock(mutex_);
  while (!ended_) {
    if (leader_.load() == std::thread::id()) {
      leader_.store(std::this_thread::get_id());
      leader_arrival_ = 0;
      lock.unlock();
      end();
      leave(false);
      return;
    }
    followers_.push_back(&me);
    me.called = false;
    me.turn.wait_for(lock, kLookAgain, [&] { return me.called; });
    std::erase(followers_, &me);
  }
}

void Inbox::settle_all() {
  for (;;) {
    while (settle_errand()) {
    }
    std::unique_lock lock(mutex_);
    if (errands_running_ == 0 && !unsettled()) return;
    errands_over_.wait_for(lock, kLookAgain, [this] { return errands_running_ == 0; });
  }
}

void Inbox::end() {
  if (std::exchange(ending_, true)) return;
  const auto give_up = Clock::now() + kLastMessages;
  while (!poisoned_ && Clock::now() < give_up && (step() || settle_errand())) {
  }
  settle_all();
  reports_->close(0);
  {
    const std::lock_guard lock(mutex_);
    for (const auto& line : bulk_) line->close(0);
    bulk_.clear();
  }
  std::string reason;
  {
    std::lock_guard lock(mutex_);
    reason = reason_;
  }
  handler_.ended(reason);
  std::lock_guard lock(mutex_);
  ended_ = true;
  call_all();
}

}  // namespace clique::icd
