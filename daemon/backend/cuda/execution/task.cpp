#include "daemon/backend/cuda/execution/task.hpp"

#include <algorithm>

namespace clique::daemon::cuda {

void Task::when_ended(std::function<void(cl_int)> action) {
  {
    const std::lock_guard lock(mutex_);
    if (!ended()) {
      actions_.push_back(std::move(action));
      return;
    }
  }
  action(status());
}

void Task::watch(std::function<void(cl_int)> tell) {
  {
    const std::lock_guard lock(mutex_);
    watcher_ = std::move(tell);
    watched_ = true;
  }
  if (!held_ && !ended()) this->tell(CL_SUBMITTED);
}

void Task::tell(cl_int state) {
  const std::lock_guard lock(mutex_);
  // States only go down, and none is reported after the end.
  if (!watcher_ || ended() || told_ <= state) return;
  told_ = state;
  watcher_(state);
}

std::pair<std::int64_t, std::int64_t> Task::measured() const {
  if (!end_) return stopwatch_.times(submitted_);
  const std::int64_t end = end_->seen(host_clock());
  const std::int64_t stamped = stopwatch_.times(submitted_).first;
  const std::int64_t begin = std::max({earliest_, stamped, before_ ? before_->time() : 0});
  return {std::min(begin, end), end};
}

void Task::conclude(cl_int status) {
  if (verdict && status == CL_COMPLETE) status = verdict();
  if (timed && status == CL_COMPLETE) times_ = measured();
  // A client that learns of the end may release objects and reuse their memory, so nothing is kept any
  // longer.
  run = nullptr;
  run_and_mark = nullptr;
  run_as_kernel = nullptr;
  kernel = {};
  keep.clear();
  if (at_end) at_end(*this, status);
  std::vector<std::function<void(cl_int)>> actions;
  {
    const std::lock_guard lock(mutex_);
    status_.store(status, std::memory_order_release);
    actions.swap(actions_);
    watcher_ = nullptr;
  }
  for (const auto& action : actions) action(status);
  at_end = nullptr;
  verdict = nullptr;
  stopwatch_ = {};
  before_ = nullptr;
}

}  // namespace clique::daemon::cuda
