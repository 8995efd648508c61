#include "protocol/streams/batch_line.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "protocol/batch.hpp"
#include "protocol/decode_error.hpp"
#include "protocol/security/public_key.hpp"

namespace clique::protocol {

namespace {

BatchLine::Clock::rep now() {
  return BatchLine::Clock::now().time_since_epoch().count();
}

}  // namespace

BatchLine::BatchLine() {
  begin_use();
}

BatchLine::~BatchLine() {
  end_use();
}

void BatchLine::stop_use() {
  ended_.store(true);
  abandon("the process is exiting");
}

void BatchLine::set_resumable(bool yes) {
  resumable_.store(yes);
  if (!yes) poke();
}

void BatchLine::install(Dialled connection, StreamEnd end) {
  const std::uint64_t there = connection.received;
  auto next = std::make_shared<BatchConnection>(std::move(connection), end);
  std::vector<OutgoingRecord> done;
  const std::lock_guard receiving(receiving_);
  Lock sending(sending_);
  if (ended_) return;
  if (there > taken_ || (resumable_ && there < taken_ - kept_.size()))
    throw DecodeError("a line resumes after batch " + std::to_string(there) + ", but batches " +
                      std::to_string(taken_ - kept_.size()) + " to " + std::to_string(taken_) +
                      " are what could follow");
  if (sender_) readiness_.forget(sender_->fd());
  received_there_.store(there);
  drop_received(done, true);
  next_ = 0;
  control_.reset();
  owes_.store(false);
  acknowledgements_ = {};
  why_.clear();
  receiver_ = sender_ = std::move(next);
  socket_.store(sender_->fd());
  heard_.store(now());
  broken_.store(false);
  closed_there_.store(false);
  connected_.store(true, std::memory_order_release);
  writable_watched_ = false;
  readiness_.watch(sender_->fd(), EPOLLIN);
  push(done);
  sending.unlock();
}

void BatchLine::interrupt(const std::string& why) {
  // Without the lock of whoever receives, which may be this thread's.
  const std::lock_guard lock(sending_);
  if (!sender_) return;
  readiness_.forget(sender_->fd());
  // The thread that receives lets go of the connection later.
  ::shutdown(sender_->fd(), SHUT_RDWR);
  sender_.reset();
  socket_.store(-1);
  why_ = why;
  connected_.store(false);
  broken_.store(true, std::memory_order_release);
  behind_.store(false);
}

void BatchLine::abandon(const std::string& why) {
  const std::lock_guard lock(receiving_);
  interrupt(why);
  receiver_.reset();
}

bool BatchLine::accept(Fd socket, const StreamRequest& request, std::span<const std::uint8_t> secret) {
  {
    const std::lock_guard lock(receiving_);
    if (request.attempt <= attempt_) return false;
    attempt_ = request.attempt;
  }
  abandon("the other end made another connection");
  try {
    install(answer_dial(std::move(socket), request, secret, received()), StreamEnd::Accepting);
  } catch (const StreamBroken&) {
    return false;
  }
  return true;
}

void BatchLine::look_for_end() {
  if (!connected() || !hung_up() || has_unread()) return;
  closed_there_.store(true);
  interrupt(StreamClosed().what());
}

bool BatchLine::has_unread() {
  const std::lock_guard lock(sending_);
  char first = 0;
  return sender_ && ::recv(sender_->fd(), &first, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

bool BatchLine::hung_up() {
  const std::lock_guard lock(sending_);
  if (!sender_) return broken();
  pollfd socket{sender_->fd(), POLLRDHUP, 0};
  return ::poll(&socket, 1, 0) > 0;
}

std::string BatchLine::why() {
  const std::lock_guard lock(sending_);
  return why_;
}

void BatchLine::send(Batch& batch) {
  OutgoingRecord record = OutgoingRecord::of(batch);
  Lock lock(sending_);
  if (ended_) return;
  ++taken_;
  kept_.push_back(std::move(record));
  push_and_release(lock);
}

void BatchLine::flush() {
  Lock lock(sending_);
  push_and_release(lock);
}

void BatchLine::pulse() {
  pulse_due_.store(true);
  poke();
}

void BatchLine::push_and_release(Lock& lock) {
  std::vector<OutgoingRecord> done;
  push(done);
  lock.unlock();
  done.clear();
  if (poked_.load()) poke();
}

void BatchLine::poke() {
  poked_.store(true);
  while (poked_.load()) {
    // The thread that has the lock looks at poked_ after it has released the lock.
    Lock lock(sending_, std::try_to_lock);
    if (!lock) return;
    poked_.store(false);
    std::vector<OutgoingRecord> done;
    push(done);
    lock.unlock();
    done.clear();
  }
}

void BatchLine::drop_received(std::vector<OutgoingRecord>& done, bool unsent) {
  const std::uint64_t there = received_there_.load();
  while (!kept_.empty() && taken_ - kept_.size() < there && (unsent || next_ > 0)) {
    done.push_back(std::move(kept_.front()));
    kept_.pop_front();
    if (next_ > 0) --next_;
  }
}

void BatchLine::push(std::vector<OutgoingRecord>& done) {
  if (ended_) return;
  drop_received(done, false);
  if (!sender_) {
    if (broken() && !resumable_) {
      std::move(kept_.begin(), kept_.end(), std::back_inserter(done));
      kept_.clear();
      next_ = 0;
    }
    return;
  }
  try {
    bool taken = true;
    while (taken) {
      if (!control_ && !sender_->sending()) {
        if (owes_.exchange(false))
          control_ = OutgoingRecord::of(RecordHeader::received(received_.load()));
        else if (pulse_due_.exchange(false))
          control_ = OutgoingRecord::of(RecordHeader::pulse());
      }
      if (control_) {
        taken = sender_->send(*control_);
        if (taken) control_.reset();
      } else if (next_ < kept_.size()) {
        taken = sender_->send(kept_[next_]);
        if (!taken) break;
        ++next_;
        if (!resumable_) {
          done.push_back(std::move(kept_.front()));
          kept_.pop_front();
          --next_;
        }
      } else {
        break;
      }
    }
    watch(!taken);
  } catch (const StreamBroken& error) {
    why_ = error.what();
    // The receiving thread reads the bytes that have arrived, and then notices the end.
    ::shutdown(sender_->fd(), SHUT_WR);
    behind_.store(false);
  }
}

void BatchLine::watch(bool writable) {
  behind_.store(writable, std::memory_order_relaxed);
  if (writable == writable_watched_) return;
  writable_watched_ = writable;
  readiness_.watch(sender_->fd(), writable ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

bool BatchLine::receive(Incoming& incoming) {
  const std::lock_guard lock(receiving_);
  if (ready_) {
    incoming = std::move(*ready_);
    ready_.reset();
    return true;
  }
  return receive_next(incoming);
}

void BatchLine::listen() {
  const std::lock_guard lock(receiving_);
  if (ready_) return;
  Incoming incoming;
  if (receive_next(incoming)) ready_ = std::move(incoming);
}

bool BatchLine::receive_next(Incoming& incoming) {
  if (refused_) std::rethrow_exception(refused_);
  if (!receiver_ || ended_) return false;
  if (behind()) poke();
  BatchConnection::Record record;
  try {
    while (receiver_->receive(record)) {
      spoken_.store(true, std::memory_order_relaxed);
      heard_.store(now(), std::memory_order_relaxed);
      if (record.kind == RecordHeader::Kind::Received) {
        if (record.received > taken_.load())
          throw DecodeError("an acknowledgement of " + std::to_string(record.received) +
                            " batches, of which only " + std::to_string(taken_.load()) + " were sent");
        received_there_.store(std::max(received_there_.load(), record.received));
        poke();
      } else if (record.kind == RecordHeader::Kind::Batch) {
        received_.fetch_add(1, std::memory_order_relaxed);
        incoming = std::move(record.batch);
        if (acknowledgements_.due_after(incoming) && resumable_) {
          owes_.store(true);
          poke();
        }
        return true;
      }
    }
    if (receiver_->heard()) heard_.store(now(), std::memory_order_relaxed);
  } catch (const StreamClosed& error) {
    closed_there_.store(true);
    interrupt(error.what());
    receiver_.reset();
  } catch (const StreamBroken& error) {
    const std::string why = this->why();
    interrupt(why.empty() ? error.what() : why);
    receiver_.reset();
  } catch (...) {
    refused_ = std::current_exception();
    throw;
  }
  return false;
}

void BatchLine::close(int linger_ms) {
  const auto deadline = Clock::now() + std::chrono::milliseconds(linger_ms);
  flush();
  while (behind() && Clock::now() < deadline) {
    pollfd writable{socket(), POLLOUT, 0};
    ::poll(&writable, 1, 1);
    flush();
  }
  end_use();
  std::deque<OutgoingRecord> dropped;
  ended_.store(true);
  abandon("this end closed the connection");
  {
    const std::lock_guard receiving(receiving_);
    const std::lock_guard sending(sending_);
    ready_.reset();
    dropped.swap(kept_);
    next_ = 0;
  }
}

}  // namespace clique::protocol
