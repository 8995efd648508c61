#pragma once

#include <pthread.h>

#include <csignal>

namespace clique::protocol {

/// Blocks all signals, except those for faults of the thread itself, in the calling thread and in the threads
/// that it starts, for as long as the object lives. Signals belong to the threads that expect them: those of
/// the application, or the main thread of a process of the node.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    // Handlers still report faults of the thread itself.
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigdelset(&all, fault);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace clique::protocol
