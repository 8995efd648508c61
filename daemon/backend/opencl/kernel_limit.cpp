#include "daemon/backend/opencl/kernel_limit.hpp"

#include "daemon/backend/opencl/event_watcher.hpp"

namespace clique::daemon::opencl {

namespace {
constexpr std::chrono::milliseconds kInterval{100};
}

KernelLimit::KernelLimit(std::chrono::seconds limit, std::function<void(const std::string&)> exceeded)
    : limit_(limit), exceeded_(std::move(exceeded)) {
  if (active()) thread_ = std::thread([this] { run(); });
}

KernelLimit::~KernelLimit() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void KernelLimit::add(cl_event event, const std::string& kernel) {
  clRetainEvent(event);
  const std::lock_guard lock(mutex_);
  kernels_.push_back({Handle(event), kernel, {}});
  if (kernels_.size() == 1) changed_.notify_all();
}

void KernelLimit::run() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (kernels_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const std::string late = look(Clock::now());
    if (!late.empty()) {
      kernels_.clear();
      lock.unlock();
      exceeded_(late);
      return;
    }
    changed_.wait_for(lock, kInterval, [this] { return stop_; });
  }
}

std::string KernelLimit::look(Clock::time_point now) {
  for (auto kernel = kernels_.begin(); kernel != kernels_.end();) {
    const cl_int status = status_of(kernel->event.get());
    if (status <= CL_COMPLETE) {
      kernel = kernels_.erase(kernel);
      continue;
    }
    if (status == CL_RUNNING) {
      if (kernel->since == Clock::time_point()) kernel->since = now;
      if (now - kernel->since > limit_) return kernel->kernel;
    }
    ++kernel;
  }
  return {};
}

}  // namespace clique::daemon::opencl
