#include "daemon/backend/common/build_thread.hpp"

namespace clique::daemon {

BuildThread::BuildThread(std::function<void()> begin)
    : thread_([this, begin = std::move(begin)] {
        if (begin) begin();
        run();
      }) {}

BuildThread::~BuildThread() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void BuildThread::post(std::shared_ptr<Buildable> program, std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    ++program->jobs;
    jobs_.push_back({std::move(program), std::move(job)});
  }
  changed_.notify_all();
}

void BuildThread::wait(const Buildable& program) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return program.jobs == 0; });
}

void BuildThread::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || !jobs_.empty(); });
    if (stop_) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job.work();
    lock.lock();
    --job.program->jobs;
    changed_.notify_all();
  }
}

}  // namespace clique::daemon
