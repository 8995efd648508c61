// The receiving side of a link.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <zmq.hpp>

#include "protocol/codec.hpp"
#include "protocol/transport/zmq.hpp"

namespace clique::icd {

namespace detail {
template <typename List>
struct VariantOf;
template <typename... M>
struct VariantOf<protocol::MessageList<M...>> {
  using Type = std::variant<M...>;
};
}  // namespace detail

/// Any message of a worker.
using Incoming = detail::VariantOf<protocol::WorkerMessages>::Type;

/// Receives from a worker. One thread at a time does (the *leader*): one that waits for something, or the
/// reactor. The others that wait sleep, look again after everything that came, and take over when the leader
/// leaves.
class Inbox {
 public:
  /// Whom the messages are for. Called by the leader, without a lock, in the order of arrival; may call
  /// wait(), which then goes on receiving on this thread.
  class Handler {
   public:
    virtual ~Handler() = default;
    /// Throws DecodeError where the message may not come now; the connection is given up then.
    virtual void handle(Incoming&& message) = 0;
    /// The connection was given up. Called once; the socket is closed.
    virtual void ended(const std::string& reason) = 0;
    /// An application's thread has begun or ceased to lead.
    virtual void attendance_changed() = 0;
  };

  /// How long a leader looks without sleeping, before it sleeps.
  static constexpr std::chrono::microseconds kSpin{20};
  /// After this time at the latest, done() is looked at again.
  static constexpr std::chrono::milliseconds kLookAgain{100};

  /// A predicate of the caller's, without a copy.
  struct Done {
    bool (*function)(void*);
    void* object;
    bool operator()() const { return function(object); }
  };

  Inbox(zmq::socket_t reports, Handler& handler);
  ~Inbox();

  /// Receives until done() or the end. done() is called on this thread only, without a lock.
  /// @returns what done() said last.
  bool wait(Done done);
  /// For the reactor: receives what there is, if nobody leads.
  void serve();

  /// How the inbox looks to the reactor.
  struct View {
    bool led;      ///< a thread receives
    bool settled;  ///< everything that came has been handled, so that what comes next shows at the descriptor
    unsigned attendances;  ///< how often an application's thread has begun or ceased to lead
  };
  View view();
  int descriptor() const { return descriptor_; }

  /// Gives the connection up. The first reason counts. What has arrived is handled before Handler::ended.
  /// Returns at once where another thread leads; that one ends it then.
  void condemn(const std::string& reason);
  /// condemn(), and returns when Handler::ended has returned, or when called within.
  void finish(const std::string& reason);
  /// Has the socket, just before it is closed.
  std::function<void(zmq::socket_ref)> before_close;

 private:
  bool leading() const { return leader_.load(std::memory_order_relaxed) == std::this_thread::get_id(); }
  bool try_lead(std::unique_lock<std::mutex>& lock);
  void leave(bool attended);
  bool lead(Done done);
  bool step();
  bool fetch();
  void block();
  void wake();
  void end();

  Handler& handler_;
  const int wake_fd_;
  int descriptor_ = -1;

  // The leader's.
  zmq::socket_t reports_;
  protocol::BatchReader reader_;
  protocol::Incoming message_;
  std::deque<Incoming> queue_;  // decoded, so that a wait() inside of a handler can go on with it
  bool settled_ = false;        // written by the leader under mutex_

  std::atomic<bool> condemned_{false};
  std::atomic<bool> ending_{false};

  std::mutex mutex_;
  std::condition_variable turn_;
  std::atomic<std::thread::id> leader_{};  // written under mutex_
  unsigned followers_ = 0;
  unsigned attendances_ = 0;
  std::uint64_t batches_ = 0;  // handled so far
  bool ended_ = false;
  std::string reason_;
};

}  // namespace clique::icd
