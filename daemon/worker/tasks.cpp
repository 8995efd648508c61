#include "daemon/worker/tasks.hpp"

#include <sys/eventfd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace clique::daemon {

Tasks::Tasks() : wakeup_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (!wakeup_) throw std::system_error(errno, std::generic_category(), "eventfd");
}

void Tasks::post(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  const std::uint64_t one = 1;
  if (tasks_.size() == 1) static_cast<void>(!::write(wakeup_.get(), &one, sizeof one));
}

bool Tasks::run() {
  std::vector<std::function<void()>> tasks;
  {
    const std::lock_guard lock(mutex_);
    if (tasks_.empty()) return false;
    std::uint64_t count = 0;
    static_cast<void>(!::read(wakeup_.get(), &count, sizeof count));
    tasks.swap(tasks_);
  }
  for (const auto& task : tasks) task();
  return true;
}

}  // namespace clique::daemon
