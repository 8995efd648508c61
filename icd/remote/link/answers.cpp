#include "icd/remote/link/answers.hpp"

#include <sys/timerfd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "icd/common/say.hpp"
#include "protocol/decode_error.hpp"
#include "protocol/throw_errno.hpp"

namespace clique::icd {

Answers::Answers(std::string node)
    : node_(std::move(node)), timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
  if (!timer_) throw_errno("timerfd_create");
}

void Answers::look_at(Clock::time_point when) {
  next_look_.store(when, std::memory_order_relaxed);
  itimerspec timer{};
  if (when != Clock::time_point::max()) {
    const auto since_boot = when.time_since_epoch();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since_boot);
    timer.it_value = {seconds.count(), std::chrono::nanoseconds(since_boot - seconds).count()};
  }
  ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &timer, nullptr);
}

protocol::RequestId Answers::expect(protocol::Op reply, Answer answer, AnswerLimit limit) {
  std::unique_lock lock(mutex_);
  if (failed_) {
    const std::string failure = failure_;
    lock.unlock();
    answer(nullptr, failure);
    return 0;
  }
  const auto now = limit.time.count() > 0 ? Clock::now() : Clock::time_point();
  const Expected& added =
      expected_.emplace(++last_, Expected{reply, std::move(answer), std::move(limit), now}).first->second;
  if (added.limited() && now + added.limit.time < next_look_.load()) look_at(now + added.limit.time);
  return last_;
}

void Answers::deliver(protocol::RequestId request, protocol::Op op, void* reply) {
  Answer answer;
  {
    std::lock_guard lock(mutex_);
    const auto found = expected_.find(request);
    if (found == expected_.end() && given_up_.erase(request) > 0) return;
    if (found == expected_.end())
      throw protocol::DecodeError("a reply to request " + std::to_string(request) +
                                  ", which is not outstanding");
    if (found->second.reply != op)
      throw protocol::DecodeError("message type " + std::to_string(static_cast<int>(op)) +
                                  " as reply to request " + std::to_string(request) +
                                  ", which expects type " +
                                  std::to_string(static_cast<int>(found->second.reply)));
    if (found->second.limited()) answered_ = Clock::now();
    answer = std::move(found->second.answer);
    expected_.erase(found);
  }
  answer(reply, {});
}

void Answers::fail_all(const std::string& reason) {
  std::unordered_map<protocol::RequestId, Expected> failing;
  {
    std::lock_guard lock(mutex_);
    failed_ = true;
    failure_ = reason;
    failing.swap(expected_);
  }
  for (auto& [request, expected] : failing) expected.answer(nullptr, reason);
}

void Answers::expire(Clock::time_point now) {
  if (now < next_look_.load(std::memory_order_relaxed)) return;
  std::vector<Expected> over;
  {
    const std::lock_guard lock(mutex_);
    auto next = Clock::time_point::max();
    for (auto each = expected_.begin(); each != expected_.end();) {
      const Expected& expected = each->second;
      const auto end = std::max(expected.since, answered_) + expected.limit.time;
      if (!expected.limited() || now < end) {
        if (expected.limited()) next = std::min(next, end);
        ++each;
        continue;
      }
      given_up_.insert(each->first);
      over.push_back(std::move(each->second));
      each = expected_.erase(each);
    }
    look_at(next);
  }
  for (const Expected& expected : over) {
    say_once("node " + node_ + ": " + expected.limit.failure);
    expected.answer(nullptr, expected.limit.failure);
  }
}

}  // namespace clique::icd
