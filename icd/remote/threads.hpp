// Threads that the application does not notice.
#pragma once

#include <pthread.h>

#include <csignal>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace clique::icd {

/// Blocks all signals, except those for faults of the thread itself, in the calling thread and in the threads
/// that it starts, for as long as the object lives. Signals belong to the application's threads.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    // The application's handlers still report faults of the thread itself.
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigdelset(&all, fault);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_;
};

/// Calls task(0) ... task(count - 1), each on a thread of its own, and returns when all calls have returned.
/// task must not throw.
template <typename F>
void in_parallel(std::size_t count, F&& task) {
  if (count == 1) {
    task(std::size_t{0});
    return;
  }
  const NoSignals quiet;
  std::vector<std::jthread> threads;
  threads.reserve(count);
  for (std::size_t i = 0; i < count; ++i) threads.emplace_back([&task, i] { task(i); });
}

}  // namespace clique::icd
