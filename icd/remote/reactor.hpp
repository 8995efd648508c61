// The background thread of the client's side.
#pragma once

#include <poll.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <vector>

#include "icd/remote/process.hpp"

namespace clique::icd {

/// One thread per process that serves all links: sends what waits in outboxes, receives where no application
/// thread does, notices lost connections. It *ticks* (looks twice a millisecond) while somebody stirs, and
/// else sleeps until a descriptor becomes readable. Links that rest are not looked at meanwhile, so that what
/// others do costs the same however many there are. All signals are blocked in it; it is never joined.
class Reactor {
 public:
  using Clock = std::chrono::steady_clock;

  /// What the reactor serves. The calls come on the reactor's thread, one at a time.
  class Client {
   public:
    virtual ~Client() = default;
    /// Does what there is to do, without waiting.
    virtual void serve(Clock::time_point now) = 0;
    /// Adds the descriptors that the reactor shall watch.
    /// @returns false where there is something to do that no descriptor will tell, so that the reactor must
    /// not sleep.
    virtual bool watch(Clock::time_point now, std::vector<int>& fds) = 0;

   protected:
    /// To be called, from any thread, after something changed that serve() or watch() look at under a lock.
    /// Costs a system call only where the reactor sleeps.
    void stir() {
      stirs_.fetch_add(1, std::memory_order_relaxed);
      reactor_.wake();
    }
    explicit Client(Reactor& reactor) : reactor_(reactor) {}

   private:
    friend class Reactor;
    Reactor& reactor_;
    std::atomic<unsigned> stirs_{0};
    // The reactor's:
    bool news() const { return stirs_.load(std::memory_order_relaxed) != stirs_seen_; }
    unsigned stirs_seen_ = 0;
    Clock::time_point stirred_at_;
    std::vector<int> fds_;       // what watch() gave
    std::size_t polled_at_ = 0;  // where these are in Reactor::polled_; 0: they are not
    bool resting_ = false;       // until there is news, or one of fds_ is readable
  };

  /// The process's reactor; a forked child gets one of its own.
  static Reactor& instance();

  void add(Client& client);
  /// Returns when the reactor is not in, and will not enter, any of the client's functions (except where
  /// called from one of them).
  void remove(Client& client);
  /// Whether this is the reactor's thread.
  bool here() const;
  /// Serves all clients once. Also for what waits on the reactor's thread (an application's callback may),
  /// which else would; may call functions of the client whose function has called this.
  /// @returns whether to tick.
  bool tend();
  /// How often the thread has woken up since the process began; for tests.
  unsigned long wakeups() const { return wakeups_.load(std::memory_order_relaxed); }

 private:
  Reactor();
  void wake();
  void run();
  /// Calls function(client) for all that do not rest, each protected from remove().
  template <typename F>
  void with_each(F&& function);
  /// Whether the client rests, and nothing has happened to it.
  bool rests(const Client& client) const;
  void serve(Clock::time_point now);
  /// Asks for descriptors. @returns whether to tick.
  bool look(Clock::time_point now);
  void sleep(bool ticking);

  Birthplace birthplace_;
  int event_fd_;
  std::atomic<bool> ticking_{false};
  std::atomic<unsigned long> wakeups_{0};

  std::mutex mutex_;
  std::condition_variable left_;
  std::vector<Client*> clients_;
  std::vector<Client*> inside_;  // whose functions are running, one from within the other
  bool running_ = false;

  // The thread's own, kept for their memory: a process may fork at any moment, and what the thread was about
  // to allocate, or held by its stack alone, would trouble the child.
  std::deque<std::vector<Client*>> rounds_;  // of with_each(), one from within the other
  std::size_t depth_ = 0;
  std::vector<pollfd> polled_;
};

}  // namespace clique::icd
