#include "protocol/streams/stream_line.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "protocol/decode_error.hpp"
#include "protocol/security/public_key.hpp"
#include "protocol/tcp.hpp"

namespace clique::protocol {

namespace {

using Clock = std::chrono::steady_clock;

Fd checked(int fd, const char* what) {
  if (fd < 0) throw std::system_error(errno, std::generic_category(), what);
  return Fd(fd);
}

}  // namespace

StreamLine::StreamLine(StreamTarget target, LineId id, Use use)
    : target_(std::move(target)),
      id_(id),
      use_(use),
      changed_(checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")),
      silence_(checked(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd_create")) {
  arrivals_.watch(line_.descriptor(), EPOLLIN);
  news_.watch(changed_.get(), EPOLLIN);
  news_.watch(silence_.get(), EPOLLIN);
  if (use_.aside) news_.watch(line_.descriptor(), EPOLLIN);
  const std::lock_guard lock(mutex_);
  begin();
}

void StreamLine::begin() {
  StreamRequest request;
  request.content = StreamRequest::Content::Batches;
  request.line = id_;
  request.attempt = ++attempt_;
  request.received = line_.received();
  end_ = ConnectionEnd::None;
  why_.clear();
  try {
    dial_ = begin_dial(target_, request);
  } catch (const StreamBroken& error) {
    note_failure(error);
    return;
  }
  const auto events = static_cast<std::uint32_t>(dial_->events());
  arrivals_.watch(dial_->fd(), events);
  news_.watch(dial_->fd(), events);
  dialling_.store(true);
}

void StreamLine::forget_dial() {
  if (!dial_) return;
  arrivals_.forget(dial_->fd());
  news_.forget(dial_->fd());
  dial_.reset();
  dialling_.store(false);
}

void StreamLine::note_end(ConnectionEnd end, std::string why) {
  forget_dial();
  up_.store(false, std::memory_order_release);
  end_ = end;
  why_ = std::move(why);
  set_timer({});
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(changed_.get(), &one, sizeof one);
}

void StreamLine::note_failure(const StreamBroken& error) {
  const auto* const failed = dynamic_cast<const DialFailed*>(&error);
  const auto kind = failed != nullptr ? failed->kind() : DialFailed::Kind::Other;
  note_end(kind == DialFailed::Kind::Refused ? ConnectionEnd::Refused
           : kind == DialFailed::Kind::Gone  ? ConnectionEnd::Gone
                                             : ConnectionEnd::Closed,
           error.what());
}

void StreamLine::tend() {
  if (!dialling_.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(mutex_);
  if (!dial_) return;
  const int before = dial_->fd();
  try {
    if (!dial_->step()) {
      if (before != dial_->fd()) {
        arrivals_.forget(before);
        news_.forget(before);
      }
      // poll(2) and epoll(7) have the same bits for these.
      const auto events = static_cast<std::uint32_t>(dial_->events());
      arrivals_.watch(dial_->fd(), events);
      news_.watch(dial_->fd(), events);
      return;
    }
  } catch (const StreamBroken& error) {
    note_failure(error);
    return;
  }
  arrivals_.forget(before);
  news_.forget(before);
  Dialled connection = dial_->take();
  dial_.reset();
  dialling_.store(false);
  round_trip_.store(protocol::round_trip(connection.socket.get()));
  line_.install(std::move(connection), StreamEnd::Connecting);
  if (use_.pulses) set_timer(kSilence);
  up_.store(true, std::memory_order_release);
}

void StreamLine::look_at_connection() {
  if (!line_.broken() || !up()) return;
  const std::lock_guard lock(mutex_);
  if (!dial_ && end_ == ConnectionEnd::None)
    // There is nothing to add to what a reader knows of a connection that was closed in order.
    note_end(ConnectionEnd::Closed, line_.closed_there() ? "" : line_.why());
}

void StreamLine::look_for_silence() {
  std::uint64_t expirations = 0;
  if (::read(silence_.get(), &expirations, sizeof expirations) <= 0) return;
  const auto left = line_.heard() + kSilence - Clock::now();
  // A session that opens takes as long as it takes: whoever waits for that has a deadline.
  if (left > std::chrono::nanoseconds(0) || line_.has_unread() || !line_.spoken()) {
    set_timer(std::max<std::chrono::nanoseconds>(left, kPulseInterval));
    return;
  }
  line_.interrupt("nothing came from the node for " + std::to_string(kSilence.count()) + " s");
}

ConnectionEnd StreamLine::end() {
  try {
    if (use_.aside) listen();
    look_for_silence();
    if (!dialling_.load()) line_.look_for_end();
    look_at_connection();
  } catch (const std::exception& error) {
    const std::lock_guard lock(mutex_);
    note_end(ConnectionEnd::Closed, error.what());
  }
  std::uint64_t count = 0;
  [[maybe_unused]] const auto got = ::read(changed_.get(), &count, sizeof count);
  const std::lock_guard lock(mutex_);
  return end_;
}

std::string StreamLine::why() {
  const std::lock_guard lock(mutex_);
  return why_;
}

void StreamLine::await_connection(Clock::time_point deadline) {
  for (tend(); dialling_.load() && Clock::now() < deadline; tend()) {
    // Another thread may bring the attempt to its end, of which the descriptor tells nothing.
    constexpr int kLookAgainMs = 1;
    pollfd ready{arrivals_.fd(), POLLIN, 0};
    ::poll(&ready, 1, kLookAgainMs);
  }
}

void StreamLine::listen() {
  tend();
  line_.listen();
  if (line_.behind()) line_.flush();
  look_at_connection();
}

bool StreamLine::receive(Incoming& incoming) {
  tend();
  if (line_.receive(incoming)) return true;
  look_at_connection();
  return false;
}

void StreamLine::reconnect() {
  line_.abandon("the connection is made again");
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  forget_dial();
  up_.store(false, std::memory_order_release);
  begin();
}

void StreamLine::close(int linger_ms) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(closed_, true)) return;
    forget_dial();
  }
  set_timer({});
  line_.close(linger_ms);
}

void StreamLine::set_timer(std::chrono::nanoseconds time) const {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  itimerspec timer{};
  timer.it_value.tv_sec = seconds.count();
  timer.it_value.tv_nsec = (time - seconds).count();
  ::timerfd_settime(silence_.get(), 0, &timer, nullptr);
}

}  // namespace clique::protocol
