// The background thread of the client.
#pragma once

#include <poll.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <deque>
#include <mutex>
#include <vector>

#include "icd/remote/process.hpp"

namespace clique::icd {

/// One thread per process that serves all links: it sends the contents of outboxes, receives where no
/// application thread does, and notices lost connections. It *ticks* (runs 2 to 10 times a millisecond) while
/// a client stirs, and sleeps otherwise until a descriptor becomes readable. It does not look at clients that
/// rest, so the cost of one busy link does not depend on the number of links. All signals are blocked in the
/// thread; it is never joined.
class Reactor {
 public:
  using Clock = std::chrono::steady_clock;

  /// An object that the reactor serves. It is called on the reactor's thread, one call at a time.
  class Client {
   public:
    virtual ~Client() = default;
    /// Does all outstanding work, without waiting.
    virtual void serve(Clock::time_point now) = 0;
    /// Appends the descriptors that the reactor is to watch.
    /// @returns false if there is work that no descriptor will announce, so that the reactor must not sleep.
    virtual bool watch(Clock::time_point now, std::vector<int>& fds) = 0;

   protected:
    /// Must be called after a change of anything that serve() or watch() read under a lock. Thread-safe.
    /// Costs a system call only if the reactor sleeps.
    void stir() {
      stirs_.fetch_add(1, std::memory_order_relaxed);
      reactor_.wake();
    }
    explicit Client(Reactor& reactor) : reactor_(reactor) {}

   private:
    friend class Reactor;
    Reactor& reactor_;
    std::atomic<unsigned> stirs_{0};
    // Used by the reactor's thread only:
    bool news() const { return stirs_.load(std::memory_order_relaxed) != stirs_seen_; }
    unsigned stirs_seen_ = 0;
    Clock::time_point stirred_at_;
    std::vector<int> fds_;       // from watch()
    std::size_t polled_at_ = 0;  // the index of the first of these in Reactor::polled_; 0: not polled
    bool resting_ = false;       // until the client stirs, or one of fds_ becomes readable
  };

  /// The reactor of this process; a forked child gets one of its own.
  static Reactor& instance();

  /// Serves the client from now on. Starts the thread if it is not running.
  void add(Client& client);
  /// Stops serving the client. Returns when the thread runs none of the client's functions; a call from one
  /// of these functions returns at once.
  void remove(Client& client);
  /// True on the reactor's thread.
  bool here() const;
  /// Serves all clients once. Code that waits on the reactor's thread, such as an application's callback, has
  /// to call this, because the thread cannot serve anybody meanwhile. May call functions of the client from
  /// whose function it is called.
  /// @returns true if the reactor is to tick.
  bool tend();
  /// The number of times that the thread has woken up since the process began; for tests.
  unsigned long wakeups() const { return wakeups_.load(std::memory_order_relaxed); }

 private:
  Reactor();
  void wake();
  void run();
  /// Calls function(client) for all clients that do not rest, each protected from remove().
  template <typename F>
  void with_each(F&& function);
  /// True if the client rests, has not stirred, and none of its descriptors is readable.
  bool rests(const Client& client) const;
  void serve(Clock::time_point now);
  /// Calls watch() of the clients. @returns true if the reactor is to tick.
  bool look(Clock::time_point now);
  /// Sleeps until a descriptor is readable. @param limit the longest time; null: any
  void sleep(const timespec* limit);

  Birthplace birthplace_;
  int event_fd_;
  std::atomic<bool> ticking_{false};
  std::atomic<unsigned long> wakeups_{0};

  std::mutex mutex_;
  std::condition_variable left_;
  std::vector<Client*> clients_;
  std::vector<Client*> inside_;  // clients whose functions are running, each called from the one before
  bool running_ = false;

  // Used by the thread only. They are members so that their memory is reused: a process may fork at any
  // moment, and memory that the thread is allocating then, or that only its stack refers to, would be lost in
  // the child.
  std::deque<std::vector<Client*>> rounds_;  // of with_each(), each nested in the one before
  std::size_t depth_ = 0;
  std::vector<pollfd> polled_;
};

}  // namespace clique::icd
