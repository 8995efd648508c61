#include "daemon/backend/cuda/execution/task.hpp"

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

void Task::conclude(cl_int status) {
  if (verdict && status == CL_COMPLETE) status = verdict();
  if (timed && status == CL_COMPLETE) times_ = stopwatch_.times(submitted_);
  // A client that learns of the end may release objects and reuse their memory, so nothing is kept any
  // longer.
  run = nullptr;
  run_and_mark = nullptr;
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
}

}  // namespace clique::daemon::cuda
